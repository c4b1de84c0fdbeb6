"""AmgX's own PCG, our CG around the same AmgX cycle, and our two-level methods, on an NVIDIA GPU in one run.

    python -m benchmarks amgx [--output FOLDER]

Whole solves to ||b - A x|| <= 1e-6 ||b||, computed afresh for all; rounds are interleaved, figures are medians. Copies
of b and x are part of AmgX's time, setup is told apart.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.common import interleaved
from workbench import devices
from workbench.devices import amgx
from workbench.errors import InputError
from workbench.preconditioners.amgx import Amgx
from workbench.problems import LinearSystem
from workbench.run import Run, Stopping, configure, run_through

CASES = (("two-layer", 1024), ("bubbles-3d", 128))
OURS = (("amgx", "none"), ("neumann:2", "stripes"), ("neumann:3", "blocks:64"), ("neumann:1", "levelset:16"))
RTOL, ROUNDS, MOST = 1e-6, 3, 1000


def figures() -> dict[str, Any]:
    """What `python -m benchmarks` prints."""
    if not amgx.installed():
        return {"not run": amgx.HOW_TO_INSTALL}
    try:
        devices.device("cuda")
    except InputError as sentence:
        return {"not run": str(sentence)}
    return {f"{name} {n}": table(name, n) for name, n in CASES}


def table(name: str, n: int) -> dict[str, dict[str, float]]:
    """Iterations, seconds of setup and of iterating, and the true relative residual of every contestant."""
    system = configure(name, {"n": n}).problem.assemble()
    kept: dict[str, list[dict[str, float]]] = {}

    def entered(label: str, solve: Callable[[], dict[str, float]]) -> Callable[[], None]:
        return lambda: kept.setdefault(label, []).append(solve())

    contestants = {"AmgX PCG": entered("AmgX PCG", lambda: theirs(system))}
    for first, second in OURS:
        label = f"ours, {first} + {second}"
        contestants[label] = entered(label, lambda levels=(first, second): ours(name, n, system, *levels))
    interleaved(contestants, ROUNDS)
    # The first call of each warmed up.
    return {
        label: {figure: statistics.median(row[figure] for row in rows[1:]) for figure in rows[0]}
        for label, rows in kept.items()
    }


def theirs(system: LinearSystem) -> dict[str, float]:
    """AmgX's own PCG around the cycle that our preconditioner takes."""
    matrix = sparse.csr_array(system.operator.to_csr())
    begun = time.perf_counter()
    solver = amgx.AmgxSolver(amgx.own_pcg(Amgx().configuration(), RTOL, MOST), matrix)
    ready = time.perf_counter()
    x = solver.solve(system.b)
    done = time.perf_counter()
    residual = float(np.linalg.norm(system.b - matrix @ x) / np.linalg.norm(system.b))
    iterations = solver.iterations
    solver.close()
    return {"iterations": iterations, "setup_s": ready - begun, "solve_s": done - ready, "residual": residual}


def ours(name: str, n: int, system: LinearSystem, first: str, second: str) -> dict[str, float]:
    """Our CG with a pair of levels on the GPU."""
    choices = {"preconditioner": first, "deflation": second, "device": "cuda", "stopping": Stopping(rtol=RTOL)}
    result = run_through(Run(configure(name, {"n": n}, **choices), system))
    return {
        "iterations": result.iterations,
        "setup_s": result.setup_seconds,
        "solve_s": result.iteration_seconds,
        "residual": result.true_relative_residual,
    }
