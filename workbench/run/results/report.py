"""The report of a run: summary, provenance, and the result that holds both."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

import workbench
from workbench.machines.describe import describe_machine
from workbench.records import History, Trace
from workbench.records.film import Film
from workbench.run.choices.configuration import Configuration
from workbench.run.choices.stopping import Reason
from workbench.run.loop.iteration_state import Termination
from workbench.run.loop.iterations import Found, RunState
from workbench.run.loop.result import Column, Result
from workbench.run.machine_use import sharing
from workbench.run.setup.solve_setup import SolveSetup
from workbench.settings import MIXED
from workbench.words.names import code
from workbench.words.numbers import relative

SUMMARY = (
    "problem", "N", "nnz", "solver", "preconditioner", "deflation", "coarse", "coarse_solver", "variant",
    "deflation_vectors", "device", "ranks", "precision", "iterations", "converged", "reason", "norm",
    "relative_residual", "true_relative_residual", "residual_gap_at", "drift", "setup_seconds", "compile_seconds",
    "memory_needed", "setup_phases", "iteration_seconds", "runs_at_once",
)  # fmt: skip
"""The fields of a summary; a run that failed has None where nothing is known."""


def result_of(state: RunState, found: Found, trace: Trace | None, film: Film | None = None) -> Result:
    """The result of a run, as cancelled where it has not ended."""
    x, true_relative, columns = found
    reason, detail = _ending(state, true_relative)
    history = state.history
    relative = state.relative(float(history["residual"][-1]) if history.count else math.nan)
    return Result(
        x=x,
        converged=reason.converged,
        reason=reason,
        detail=detail,
        iterations=state.iterations,
        relative_residual=relative,
        true_relative_residual=true_relative,
        setup_seconds=state.setup.phases.seconds,
        iteration_seconds=state.iteration_seconds,
        history=history,
        summary=summary_of(state, relative, true_relative) | _plain(columns),
        provenance=provenance_of(state),
        trace=trace,
        columns=columns,
        film=film,
    )


def _plain(columns: tuple[Column, ...]) -> dict[str, Any]:
    """The entries of a summary on many right-hand sides; none for one."""
    plain = [{**dataclasses.asdict(column), "reason": column.reason.sentence} for column in columns]
    return {"right_hand_sides": len(columns), "columns": plain} if columns else {}


def result_of_failure(
    configuration: Configuration, reason: Reason, detail: str, history: History, setup_seconds: float
) -> Result:
    """The result of a run that has no solution. detail: the sentence of the error; setup_seconds: NaN where unknown."""
    blocks = {kind: code(configuration.blocks[kind]) for kind in ("solver", "preconditioner", "deflation")}
    summary = {
        **dict.fromkeys(SUMMARY),
        "problem": configuration.problem.to_dict(),
        **blocks,
        "device": configuration.device,
        "iterations": max(0, history.count - 1),
        "converged": False,
        "reason": f"{reason.sentence} ({detail})",
        "norm": configuration.stopping.norm,
    }
    return Result(
        x=np.empty(0),
        converged=False,
        reason=reason,
        detail=detail,
        iterations=max(0, history.count - 1),
        relative_residual=math.nan,
        true_relative_residual=math.nan,
        setup_seconds=setup_seconds,
        iteration_seconds=float(history["seconds"][-1]) if history.count else 0.0,
        history=history,
        summary=summary,
        provenance=_provenance(configuration, []),
    )


def summary_of(state: RunState, relative: float, true_relative: float) -> dict[str, Any]:
    """Problem, blocks, ending, residuals over ||b|| and times as plain data."""
    blocks, setup = state.configuration, state.setup
    reason, detail = _ending(state, true_relative)
    deflated = setup.deflation_vectors > 0
    return {
        "problem": blocks.problem.to_dict(),
        "N": setup.unknowns,
        "nnz": setup.entries,
        "solver": code(setup.solver),
        "preconditioner": code(blocks.preconditioner),
        "deflation": code(blocks.deflation),
        "coarse": blocks.coarse.name if deflated else None,
        "coarse_solver": setup.projection.coarse_name if setup.projection else None,
        "variant": setup.variant.name if deflated else None,
        "deflation_vectors": setup.deflation_vectors,
        "device": setup.device.name,
        "ranks": blocks.ranks if blocks.ranks > 1 else None,
        "precision": blocks.precision if blocks.precision == MIXED else str(setup.operator.dtype),
        "iterations": state.iterations,
        "converged": reason.converged,
        "reason": f"{reason.sentence} ({detail})" if detail else reason.sentence,
        "norm": blocks.stopping.norm,
        "relative_residual": relative,
        "true_relative_residual": true_relative,
        "residual_gap_at": state.history.residual_gap_at,
        "drift": _largest_drift(state),
        "setup_seconds": setup.phases.seconds,
        "compile_seconds": setup.phases.compile_seconds,
        "memory_needed": setup.need.plain() if setup.need else None,
        "setup_phases": setup.phases.plain(),
        "iteration_seconds": state.iteration_seconds,
        "runs_at_once": state.runs_at_once if state.runs_at_once > 1 else None,
    }


def _ending(state: RunState, true_relative: float) -> Termination:
    """The end of a run, with what was changed in b or x."""
    reason, detail = state.ending or Termination(Reason.CANCELLED, "")
    return Termination(reason, explained(state.setup, detail, true_relative))


def explained(setup: SolveSetup, detail: str, true_relative: float) -> str:
    """The detail of an end, with what was changed in b or x. true_relative: ||b - A x||/||b|| for the b given."""
    clauses = [*([detail] if detail else []), *setup.changes]
    if setup.removed and math.isfinite(true_relative):
        clauses.append(f"||b - A x|| is {relative(true_relative)} of ||b|| for the b that was given")
    return "; ".join(clauses)


def provenance_of(state: RunState) -> dict[str, Any]:
    """Everything that is needed to repeat the run, and the machine and time of this one."""
    notes = [*state.setup.all_notes, *state.vectors.notes]
    if shared := sharing(state.runs_at_once):
        notes.append(shared)
    return _provenance(state.configuration, notes, started=state.started)


def _provenance(configuration: Configuration, notes: list[str], **more: object) -> dict[str, Any]:
    return {
        "configuration": configuration.to_dict(),
        "notes": notes,
        **more,
        "workbench": workbench.__version__,
        "machine": describe_machine(),
    }


def _largest_drift(state: RunState) -> float | None:
    """The largest measured ||Z^H r||/||b||, None without a measurement."""
    measured = state.history["drift"]
    measured = measured[np.isfinite(measured)]
    return state.relative(float(measured.max())) if measured.size else None
