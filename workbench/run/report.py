"""What is said of a run: the summary beside its solution, and where it comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import workbench
from workbench.machine.describe import describe_machine
from workbench.run.stopping import Reason

if TYPE_CHECKING:
    from workbench.run.driver import Run


def summary_of(run: Run, relative: float, true_relative: float) -> dict[str, Any]:
    """Problem, blocks and outcome as plain data; the residuals are those of the recurrence and afresh, over ||b||."""
    blocks, operator = run.configuration, run.setup.operator
    reason = run.reason or Reason.CANCELLED
    return {
        "problem": blocks.problem.to_dict(),
        "N": operator.shape[0],
        "nnz": run.entries,
        "solver": run.setup.solver.spec,
        "preconditioner": blocks.preconditioner.spec,
        "deflation": blocks.deflation.spec,
        "coarse": blocks.coarse.name if run.deflation_vectors else None,
        "variant": blocks.variant.name if run.deflation_vectors else None,
        "deflation_vectors": run.deflation_vectors,
        "device": run.setup.device.name,
        "iterations": run.iterations,
        "converged": reason.converged,
        "reason": f"{reason.sentence} ({run.detail})" if run.detail else reason.sentence,
        "norm": blocks.stopping.norm,
        "relative_residual": relative,
        "true_relative_residual": true_relative,
        "residual_gap_at": run.history.residual_gap_at,
        "drift": _largest_drift(run),
        "setup_seconds": run.setup_seconds,
        "iteration_seconds": run.iteration_seconds,
    }


def provenance_of(run: Run) -> dict[str, Any]:
    """Everything that it takes to make the run again, and where it was made."""
    return {
        "configuration": run.configuration.to_dict(),
        "notes": list(run.setup.notes),
        "started": run.started,
        "workbench": workbench.__version__,
        "machine": describe_machine(),
    }


def _largest_drift(run: Run) -> float | None:
    """The largest ||Z^H r||/||b|| that was measured, None where none was."""
    measured = run.history["drift"]
    measured = measured[np.isfinite(measured)]
    return run.relative(float(measured.max())) if measured.size else None
