"""Chen: solves of the Poisson problem by MPCG, by CG with the sum of the same boxes, and by CG."""

from __future__ import annotations

from workbench.lines.schedule import operator_of
from workbench.papers.timing import medians, repeated
from workbench.recording import kernel_table
from workbench.run import Configuration, Result, Run, Stopping, configure, run_through

STOPPING = Stopping(rtol=1e-6)
"""As in Table 3."""


def solved(n: int, solver: str, boxes: str = "", *, trace: bool = False) -> Result:
    """A solve of `poisson-fd` with f = 1 and exact solves in boxes with an overlap of one point; without boxes none."""
    return run_through(Run(in_boxes(n, solver, boxes), trace=trace))


def in_boxes(n: int, solver: str, boxes: str, overlap: int = 1) -> Configuration:
    """Such a solve, as it is configured. overlap: in points."""
    first = f"schwarz:{boxes},overlap={overlap}" if boxes else "none"
    return configure("poisson-fd", n=n, solver=solver, preconditioner=first, stopping=STOPPING)


def measured(n: int, solver: str, boxes: str = "") -> tuple[int, float]:
    """Iterations of such a solve, and the median of their seconds in several."""
    results = repeated(lambda: solved(n, solver, boxes))
    return results[0].iterations, medians(results)[1]


def seconds_in_boxes(result: Result) -> float:
    """Seconds of the solves in boxes of a traced run."""
    assert result.trace is not None
    return sum(row["seconds"] for row in kernel_table(result.trace) if operator_of(row["kernel"]) == "M")
