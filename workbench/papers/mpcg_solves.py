"""Chen: solves of the Poisson problem by MPCG, by CG with the sum of the same boxes, and by CG."""

from __future__ import annotations

from workbench.lines.schedule import operator_of
from workbench.recording import kernel_table
from workbench.run import Configuration, Result, Stopping, configure

STOPPING = Stopping(rtol=1e-6)
"""As in Table 3."""


def in_boxes(n: int, solver: str, boxes: str = "", overlap: int = 1) -> Configuration:
    """A solve of `poisson-fd` with f = 1 and exact solves in boxes, by default with an overlap of one point; without
    boxes without a preconditioner."""
    first = f"schwarz:{boxes},overlap={overlap}" if boxes else "none"
    return configure("poisson-fd", n=n, solver=solver, preconditioner=first, stopping=STOPPING)


def seconds_in_boxes(result: Result) -> float:
    """Seconds of the solves in boxes of a traced run."""
    assert result.trace is not None
    return sum(row["seconds"] for row in kernel_table(result.trace) if operator_of(row["kernel"]) == "M")
