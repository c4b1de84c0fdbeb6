"""Deflated against plain iterations, and against PyAMG, on the two-layer problem and on bubbles, in one run.

    python -m benchmarks two_level [--output FOLDER]

Seconds are whole solves to 1e-6 of ||b||, setup and iterations apart; rounds are interleaved, figures are medians.
"""

from __future__ import annotations

import statistics
from typing import Any

import pyamg

from benchmarks.common import interleaved
from workbench.run import Run, configure, run_through

CASES: tuple[tuple[str, dict[str, Any]], ...] = (("two-layer", {"n": 1024}), ("bubbles-3d", {"n": 128, "count": 8}))
PAIRS = (("jacobi", "none"), ("neumann:2", "none"), ("neumann:2", "stripes"), ("neumann:2", "blocks:8"))
ROUNDS = 3


def figures() -> dict[str, Any]:
    """What `python -m benchmarks` prints."""
    return {f"{name} {parameters}": measure(name, parameters) for name, parameters in CASES}


def measure(name: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """Iterations, setup and iteration seconds of each pair of levels and of PyAMG's smoothed aggregation."""
    system = configure(name, parameters).problem.assemble()
    matrix = system.operator.to_csr()
    kept: dict[str, list[tuple[int, float, float]]] = {}

    def pair(first: str, second: str):
        def run() -> None:
            configuration = configure(name, parameters, preconditioner=first, deflation=second)
            result = run_through(Run(configuration, system))
            assert result.converged
            kept.setdefault(f"{first} + {second}", []).append(
                (result.iterations, result.setup_seconds, result.iteration_seconds)
            )

        return run

    def amg() -> None:
        residuals: list[float] = []
        hierarchy = pyamg.smoothed_aggregation_solver(matrix)
        hierarchy.solve(system.b, tol=1e-6, accel="cg", residuals=residuals, maxiter=500)
        counts.append(len(residuals) - 1)

    counts: list[int] = []
    contestants = {f"{first} + {second}": pair(first, second) for first, second in PAIRS}
    seconds = interleaved({**contestants, "PyAMG": amg}, ROUNDS)
    table: dict[str, Any] = {}
    for label, rows in kept.items():
        columns = list(zip(*rows[1:], strict=True))
        names = ("iterations", "setup_s", "iteration_s")
        table[label] = {name: statistics.median(column) for name, column in zip(names, columns, strict=True)}
    table["PyAMG smoothed aggregation + CG"] = {
        "iterations": counts[-1],
        "total_s": statistics.median(seconds["PyAMG"]),
    }
    return table
