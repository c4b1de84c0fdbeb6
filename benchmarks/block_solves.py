"""Whole solves of A X = B with Jacobi, against single columns, SciPy, PETSc's KSPMatSolve and CuPy, on the same B.

    python -m benchmarks block_solves [--output FOLDER] [--quick]

Seconds are those of the iterations, without setup, to ||b_j - A x_j|| <= 1e-8 ||b_j||, which is recomputed for all.
Rounds are interleaved, but for PETSc, which runs in processes of its own on all cores, see `pipelined`. bcsstk16 is
taken from WORKBENCH_MATRICES or the cache.
"""

from __future__ import annotations

import dataclasses
import importlib
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import linalg

from benchmarks.block import found
from benchmarks.common import attempts, median_ratio
from benchmarks.pipelined import Library
from workbench.extensions.papers.hybrid_pipecg import real_file, spec_of
from workbench.jit.threads import cores
from workbench.problems import LinearSystem
from workbench.run import Run, Stopping, configure, run_through

RTOL = 1e-8
SLACK = 10
"""How far above RTOL a true residual may be before a contestant counts as wrong."""
PETSC = Library(
    "PETSc",
    "petsc_block.py",
    "WORKBENCH_PETSC_PYTHON",
    "make petsc, or on Debian: apt-get install python3-petsc4py libopenblas0",
    ranks=True,
)


def figures(*, quick: bool = False) -> dict[str, Any]:
    """What `python -m benchmarks` prints."""
    rounds = 1 if quick else 3
    n = 12 if quick else 64
    cases: dict[str, tuple[str, dict[str, Any], int]] = {
        "two-layer, s = 16": ("two-layer", {"n": 32 if quick else 128}, 16),
        "poisson27, s = 16": ("poisson27", {"n": n}, 16),
        "poisson7, s = 16": ("poisson7", {"n": n}, 16),
        "stand-in for m_t1, s = 16": ("stand-in", {"of": "m_t1", "scale": 0.05 if quick else 1.0}, 16),
    }
    if real_file("bcsstk16"):
        cases["bcsstk16, s = 32"] = (spec_of("bcsstk16"), {}, 32)
    places = [name for name in ("cpu", "cuda") if found(name)]
    return attempts(
        {f"{place}: {case}": partial(solves, place, *what, rounds) for case, what in cases.items() for place in places}
    )


def solves(place: str, problem: str, parameters: dict[str, Any], s: int, rounds: int) -> dict[str, Any]:
    """Iterations, seconds, the largest true residual, and the seconds of each contestant over those of block CG."""
    system = dataclasses.replace(configure(problem, parameters).problem.assemble(0), random_start=False)
    csr = system.operator.to_csr()
    B = np.random.default_rng(0).standard_normal((csr.shape[0], s))
    contestants: dict[str, Callable[[], tuple[Any, float, Any]]] = {
        name: partial(ours, place, name, system, B) for name in ("block-cg", "pseudo-block-cg", "cg")
    }
    if place == "cpu":
        contestants["SciPy"] = partial(scipy_columns, csr, B)
    else:
        contestants["CuPy"] = partial(cupy_columns, csr, B)
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    made: dict[str, dict[str, Any]] = {}
    for count in range(rounds + 1):
        for name, run in contestants.items():
            iterations, taken, X = run()
            # The first round compiles.
            seconds[name] += [taken] if count else []
            made[name] = {"iterations": iterations, "largest_true_residual": residual(csr, B, X)}
    if place == "cpu" and (python := PETSC.python()):
        seconds["PETSc"], made["PETSc"] = petsc(python, csr, B, rounds)
    for name, taken in seconds.items():
        made[name] |= {"seconds": statistics.median(taken), "over_block_cg": median_ratio(taken, seconds["block-cg"])}
    return made


def ours(place: str, solver: str, system: LinearSystem, B: np.ndarray) -> tuple[Any, float, np.ndarray]:
    """All columns at once, or by `cg` one after another."""
    stopping = Stopping(rtol=RTOL)
    chosen = configure("poisson5", n=8, solver=solver, device=place, x0="zero", stopping=stopping)
    if solver != "cg":
        result = run_through(Run(chosen, dataclasses.replace(system, given_b=B)))
        return result.iterations, result.iteration_seconds, result.x
    results = [run_through(Run(chosen, dataclasses.replace(system, given_b=b.copy()))) for b in B.T]
    counts = [result.iterations for result in results]
    total = sum(result.iteration_seconds for result in results)
    return [min(counts), max(counts)], total, np.stack([result.x for result in results], axis=1)


def scipy_columns(csr: sparse.csr_array, B: np.ndarray) -> tuple[None, float, np.ndarray]:
    jacobi = sparse.diags_array(1 / csr.diagonal(), format="csr")
    begun = time.perf_counter()
    X = np.stack([linalg.cg(csr, b, rtol=RTOL, atol=0, maxiter=100_000, M=jacobi)[0] for b in B.T], axis=1)
    return None, time.perf_counter() - begun, X


def cupy_columns(csr: sparse.csr_array, B: np.ndarray) -> tuple[None, float, np.ndarray]:
    cupy = importlib.import_module("cupy")
    library = importlib.import_module("cupyx.scipy.sparse.linalg")
    A = importlib.import_module("cupyx.scipy.sparse").csr_matrix(csr)
    inverse, right = 1 / A.diagonal(), cupy.asarray(B)
    jacobi = library.LinearOperator(A.shape, matvec=lambda r: inverse * r, dtype=A.dtype)
    cupy.cuda.Device().synchronize()
    begun = time.perf_counter()
    X = [library.cg(A, right[:, j].copy(), rtol=RTOL, maxiter=100_000, M=jacobi)[0] for j in range(B.shape[1])]
    cupy.cuda.Device().synchronize()
    return None, time.perf_counter() - begun, cupy.asnumpy(cupy.stack(X, axis=1))


def petsc(python: str, csr: sparse.csr_array, B: np.ndarray, rounds: int) -> tuple[list[float], dict[str, Any]]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.savez(folder / "A.npz", data=csr.data, indices=csr.indices, indptr=csr.indptr)
        np.save(folder / "B.npy", B)
        job = {"matrix": str(folder / "A.npz"), "B": str(folder / "B.npy"), "answer": str(folder / "X")}
        reply = PETSC.play(python, cores(), {**job, "rtol": RTOL, "rounds": rounds + 1})
        X = np.concatenate([np.load(folder / f"X{rank}.npy") for rank in range(reply["about"]["ranks"])])
    about = {"iterations": None, "largest_true_residual": residual(csr, B, X), **reply["about"]}
    return reply["seconds"][1:], about


def residual(csr: sparse.csr_array, B: np.ndarray, X: np.ndarray) -> float:
    """The largest ||b_j - A x_j||/||b_j||. Raises RuntimeError where a contestant did not solve the system."""
    largest = float((np.linalg.norm(B - csr @ X, axis=0) / np.linalg.norm(B, axis=0)).max())
    if not largest <= SLACK * RTOL:
        raise RuntimeError(f"a contestant ended with a true residual of {largest:.1e}")
    return largest
