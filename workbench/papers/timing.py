"""Solves that are timed: the median of several, after one that loads and compiles kernels."""

from __future__ import annotations

from collections.abc import Callable

from workbench.run import Result

ROUNDS = 3
ENOUGH = 2.0
"""Seconds of iterations after which a solve is not repeated."""
MEDIANS = f"Times are medians of up to {ROUNDS} solves, after one that is not timed."


def repeated(solve: Callable[[], Result]) -> list[Result]:
    """The results of up to `ROUNDS` solves, the last one being that which reaches `ENOUGH` seconds."""
    results: list[Result] = []
    while len(results) < ROUNDS and sum(result.iteration_seconds for result in results) < ENOUGH:
        results.append(solve())
    return results
