"""Time of an iteration of every solver for one right-hand side, with Jacobi, relative to CG in the same round.

    python -m benchmarks family [--output FOLDER]

Bytes are counted by the planner. Rounds are interleaved, figures are medians.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.common import attempts, interleaved, median_ratio
from workbench.costs.solver_costs import solver_costs
from workbench.registry import blocks as registry
from workbench.run import Run, Stopping, configure, run_through

CASES = (("poisson7", 128), ("slabs-3d", 128))
ITERATIONS = 20
ROUNDS = 9


def figures() -> dict[str, Any]:
    """What `python -m benchmarks` prints."""
    return attempts({f"{name} n={n}": partial(measure, name, n) for name, n in CASES})


def measure(problem: str, n: int) -> dict[str, dict[str, float]]:
    """Milliseconds per iteration, the ratio to CG, and bytes per unknown."""
    stopping = Stopping(rtol=1e-30, maxiter=ITERATIONS)
    system = configure(problem, n=n).problem.assemble()
    bytes_of = {cost.solver: cost.bytes_per_unknown for cost in solver_costs(problem)}
    names = [name for name in sorted(bytes_of) if not registry.registered("solver")[name].needs_accelerator]
    inside: dict[str, list[float]] = {name: [] for name in names}

    def contestant(name: str) -> Callable[[], None]:
        configuration = configure(problem, n=n, solver=name, rhs="random", stopping=stopping)

        def run() -> None:
            result = run_through(Run(configuration, system))
            inside[name].append(statistics.median(np.diff(result.history["seconds"])))

        return run

    interleaved({name: contestant(name) for name in names}, ROUNDS)
    # The first call of each compiles.
    seconds = {name: values[1:] for name, values in inside.items()}
    return {
        name: {
            "ms": 1e3 * statistics.median(seconds[name]),
            "times_cg": median_ratio(seconds[name], seconds["cg"]),
            "bytes_per_unknown": bytes_of[name],
            "bytes_times_cg": bytes_of[name] / bytes_of["cg"],
        }
        for name in names
    }
