"""Whole solves with a dense kernel matrix, as of a Gaussian process: pivoted Cholesky next to Jacobi and others.

    python -m benchmarks rbf [--output FOLDER] [--quick]

A is exp(-|p - q|^2 / (2 l^2)) between random places of the unit cube, plus a small diagonal, the variance of the noise;
b is random. Every call of ours makes A's storage, M and all iterations anew, to a relative residual of 1e-8. NumPy's
solve is LAPACK's, SciPy's cg has Jacobi as M. Seconds are wall-clock, rounds are interleaved, figures are medians.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import linalg

from benchmarks.common import attempts, interleaved
from workbench.run import solve

SIZES = (1500, 3000)
NOISES = (1e-2, 1e-4)
LENGTH = 0.3
"""The length l of the kernel, in sides of the cube."""
RTOL = 1e-8
OURS: dict[str, dict[str, Any]] = {
    "jacobi": {},
    "largest eigenvectors": {"deflation": "eigenvectors:50,end=largest"},
    **{f"pivoted Cholesky {rank}": {"M": f"pivoted-cholesky:{rank}"} for rank in (50, 100, 200)},
}


def figures(*, quick: bool = False) -> dict[str, Any]:
    """What `python -m benchmarks` prints."""
    sizes = (300,) if quick else SIZES
    cases = {
        f"N = {size}, noise {noise:g}": partial(of_kernel, size, noise, 1 if quick else 3)
        for size in sizes
        for noise in NOISES
    }
    return attempts(cases)


def kernel_matrix(size: int, noise: float) -> np.ndarray:
    """The matrix, shape (N, N)."""
    places = np.random.default_rng(0).random((size, 3))
    squares = (places**2).sum(axis=1)
    distances = squares[:, None] + squares - 2 * places @ places.T
    return np.exp(-distances.clip(0) / (2 * LENGTH**2)) + noise * np.eye(size)


def of_kernel(size: int, noise: float, rounds: int) -> dict[str, Any]:
    """Iterations, seconds and the error of x of every contestant."""
    A, b = kernel_matrix(size, noise), np.random.default_rng(1).standard_normal(size)
    exact = np.linalg.solve(A, b)
    found: dict[str, dict[str, Any]] = {}

    def ours(name: str) -> None:
        result = solve(A, b, rtol=RTOL, **OURS[name])
        error = float(np.linalg.norm(result.x - exact) / np.linalg.norm(exact))
        found[name] = {"iterations": result.iterations, "converged": result.converged, "error": error}

    def scipys() -> None:
        inverse, steps = 1 / A.diagonal(), list[int]()
        M = linalg.LinearOperator(A.shape, lambda r: inverse * r, dtype=A.dtype)
        _, info = linalg.cg(A, b, rtol=RTOL, M=M, maxiter=10 * size, callback=lambda _x: steps.append(0))
        found["SciPy, jacobi"] = {"iterations": len(steps), "converged": info == 0}

    contestants: dict[str, Callable[[], Any]] = {name: partial(ours, name) for name in OURS}
    contestants |= {"SciPy, jacobi": scipys, "NumPy solve": partial(np.linalg.solve, A, b)}
    seconds = interleaved(contestants, rounds)
    return {name: {**found.get(name, {}), "seconds": statistics.median(seconds[name])} for name in contestants}
