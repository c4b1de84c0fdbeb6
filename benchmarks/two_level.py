"""Two-level preconditioners compared with PyAMG on four problems: whole solves to the same true residual.

    python -m benchmarks two_level [--output FOLDER]

All get the assembled problem (PyAMG its CSR matrix) and end at ||b - A x|| <= 1e-6 ||b||, recomputed for all. Seconds
are setup and iterations, together and separately; rounds are interleaved, figures are medians. PyAMG runs its own CG
with one cycle, with a symmetric smoother so that CG may use it. Also: the cost of an iteration of Neumann(2) with the
paper's 2n stripes relative to Jacobi-CG, the share of setup, and peak memory in vectors.
"""

from __future__ import annotations

import statistics
import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pyamg

from benchmarks.common import attempts, interleaved, median_ratio
from workbench.problems import LinearSystem
from workbench.run import Configuration, Run, Stopping, configure, run_through

PAPERS_2D = (("neumann:2", "none", "cholesky"), ("neumann:2", "stripes", "cholesky"))
PAPERS_3D = (
    ("neumann:2", "none", "cholesky"),
    ("neumann:2", "planes", "cholesky"),
    ("neumann:2", "stripes", "cholesky"),
)
BEST_2D = (("neumann:3", "blocks:64", "cholesky"), ("block-ic:8", "blocks:64", "cholesky"))
BEST_3D = (("neumann:1", "levelset:16", "sparse"), ("neumann:2", "levelset:16", "sparse"))
CASES: dict[str, tuple[str, dict[str, Any], tuple[tuple[str, str, str], ...]]] = {
    "two-layer 1024^2": ("two-layer", {"n": 1024}, PAPERS_2D + BEST_2D),
    "8 bubbles 128^3": ("bubbles-3d", {"n": 128, "count": 8}, PAPERS_3D + BEST_3D),
    "50 random bubbles 128^3": (
        "bubbles-3d",
        {"n": 128, "count": 50, "layout": "random", "radius": 0.05},
        PAPERS_3D + BEST_3D,
    ),
    "slabs 128^3": ("slabs-3d", {"n": 128}, PAPERS_3D + BEST_3D),
}
RTOL = 1e-6
ROUNDS = 3
MOST_OF_THEIRS = 200
"""Iterations after which PyAMG counts as not converged."""
EXACT = {"coarse": "cholesky", "variant": "def1"}
"""The paper's second level."""


def figures() -> dict[str, Any]:
    """What `python -m benchmarks` prints."""
    cases = {label: partial(solves, *case) for label, case in CASES.items()}
    return attempts({**cases, "per iteration and memory": details})


def solves(name: str, parameters: dict[str, Any], pairs: tuple[tuple[str, str, str], ...]) -> dict[str, Any]:
    """Iterations, seconds and true residual of every pair and of PyAMG, and the ratio of PyAMG to the best pair."""
    system = configure(name, parameters).problem.assemble()
    kept: dict[str, list[dict[str, float]]] = {}

    def entered(label: str, solve: Callable[[], dict[str, float]]) -> Callable[[], None]:
        return lambda: kept.setdefault(label, []).append(solve())

    contestants = {}
    for first, second, coarse in pairs:
        configuration = configure(name, parameters, preconditioner=first, deflation=second, coarse=coarse)
        label = f"{first} + {second}"
        contestants[label] = entered(label, lambda chosen=configuration: ours(chosen, system))
    theirs = Theirs(system)
    for label, build in theirs.builders.items():
        contestants[label] = entered(label, lambda make=build: theirs.solve(make))
    interleaved(contestants, ROUNDS)
    # The first call of each warmed up.
    table = {label: _medians(rows[1:]) for label, rows in kept.items()}
    own = [label for label in table if not label.startswith("PyAMG")]
    best = min(own, key=lambda label: table[label]["seconds"])
    for label in theirs.builders:
        table[label]["times slower than the best pair"] = median_ratio(
            [row["seconds"] for row in kept[label][1:]], [row["seconds"] for row in kept[best][1:]]
        )
    return {"unknowns": system.operator.shape[0], "best pair": best, "rows": table}


def ours(configuration: Configuration, system: LinearSystem) -> dict[str, float]:
    """One solve of a pair; the driver has confirmed the true residual of a converged run."""
    result = run_through(Run(configuration, system))
    assert result.converged, result.reason
    return _row(result.iterations, result.setup_seconds, result.iteration_seconds, result.true_relative_residual)


class Theirs:
    """PyAMG on the same system; a singular one gets the same consistent right-hand side."""

    def __init__(self, system: LinearSystem) -> None:
        self._matrix = system.operator.to_csr()
        self._b = system.b - system.b.mean() if system.null_space is not None else system.b
        smoother = ("gauss_seidel", {"sweep": "symmetric"})
        settings = {"presmoother": smoother, "postsmoother": smoother, "coarse_solver": "pinv"}
        self.builders: dict[str, Callable[[], Any]] = {
            "PyAMG smoothed aggregation": lambda: pyamg.smoothed_aggregation_solver(self._matrix, **settings),
            "PyAMG Ruge-Stuben": lambda: pyamg.ruge_stuben_solver(self._matrix, **settings),
        }

    def solve(self, make: Callable[[], Any]) -> dict[str, float]:
        begun = time.perf_counter()
        cycle = make().aspreconditioner(cycle="V")
        built = time.perf_counter()
        residuals: list[float] = []
        x, info = pyamg.krylov.cg(
            self._matrix, self._b, tol=RTOL, M=cycle, maxiter=MOST_OF_THEIRS, residuals=residuals, criteria="rr"
        )
        done = time.perf_counter()
        true = float(np.linalg.norm(self._b - self._matrix @ x) / np.linalg.norm(self._b))
        # Its CG stops if M or A seems indefinite, which rounding can cause on a singular system.
        row = _row(len(residuals) - 1, built - begun, done - built, true)
        return {**row, "converged": float(info == 0 and true <= 1.01 * RTOL)}


def details() -> dict[str, Any]:
    """The paper's 1024^2 with Neumann(2) and 2n stripes, compared with fused Jacobi-CG, and peak memory of both
    sizes."""
    system = configure("two-layer", n=1024).problem.assemble()
    endless = Stopping(rtol=1e-300, maxiter=10**6, stagnation=10**9)
    layers = partial(configure, "two-layer", n=1024, **EXACT)
    runs = {
        label: Run(layers(preconditioner=first, deflation=second, stopping=endless), system)
        for label, first, second in (("jacobi", "jacobi", "none"), ("stripes", "neumann:2", "stripes"))
    }
    clocks: dict[str, list[float]] = {label: [] for label in runs}

    def some(label: str) -> None:
        run = runs[label]
        before = run.iteration_seconds
        for _ in range(10):
            run.step()
        clocks[label].append((run.iteration_seconds - before) / 10)

    interleaved({label: lambda label=label: some(label) for label in runs}, 25)
    solved = layers(preconditioner="neumann:2", deflation="stripes")
    whole = [ours(solved, system) for _ in range(ROUNDS + 1)]
    return {
        "jacobi_ms": 1e3 * statistics.median(clocks["jacobi"][1:]),
        "neumann2_stripes_ms": 1e3 * statistics.median(clocks["stripes"][1:]),
        "iteration_of_neumann2_stripes_over_jacobi": median_ratio(clocks["stripes"][1:], clocks["jacobi"][1:]),
        "setup_share": statistics.median(row["setup_s"] / row["seconds"] for row in whole[1:]),
        "peak_vectors_two_layer_1024": peak_vectors("two-layer", 1024, "stripes"),
        "peak_vectors_slabs_128_planes": peak_vectors("slabs-3d", 128, "planes"),
        "peak_vectors_slabs_128_stripes": peak_vectors("slabs-3d", 128, "stripes"),
    }


def peak_vectors(name: str, n: int, second: str) -> float:
    """Peak memory of a solve with Neumann(2), assembly included, over that of one vector."""
    levels = {"preconditioner": "neumann:2", "deflation": second, **EXACT}
    configuration = configure(name, n=n, stopping=Stopping(maxiter=5), **levels)
    run_through(Run(configuration))
    tracemalloc.start()
    size = run_through(Run(configuration)).x.nbytes
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / size


def _row(iterations: int, setup: float, iterating: float, true: float) -> dict[str, float]:
    return {
        "iterations": iterations,
        "setup_s": setup,
        "iteration_s": iterating,
        "seconds": setup + iterating,
        "true_relative_residual": true,
    }


def _medians(rows: list[dict[str, float]]) -> dict[str, float]:
    return {name: statistics.median(row[name] for row in rows) for name in rows[0]}
