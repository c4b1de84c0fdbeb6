"""Pipelined CG and CG of Ginkgo by pyGinkgo, on the OpenMP executor if the build has one, else on the reference
executor."""

from __future__ import annotations

import importlib.metadata
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pyGinkgo
from job import Solve, play
from poisson import poisson7_rows
from pyGinkgo import pyGinkgoBindings as B


def executor() -> tuple[str, Any]:
    """The wheels on PyPI have the reference executor only: one core, not optimized."""
    try:
        openmp = pyGinkgo.device("omp")
        B.matrix.dense_double(openmp, (1, 1)).fill(0.0)
        return "omp", openmp
    except RuntimeError:
        return "reference", pyGinkgo.device("cpu")


NAME, EXECUTOR = executor()


def set_up(n: int, b: np.ndarray) -> dict[str, Solve]:
    """Both methods on one CSR matrix."""
    starts, columns, values = poisson7_rows(n, 0, b.size)
    matrix = B.matrix.Csr_double_int32(EXECUTOR, (b.size, b.size), values, columns, starts)
    right = B.matrix.dense_double(EXECUTOR, b[:, None])
    x = B.matrix.dense_double(EXECUTOR, right.shape)
    return {method: solver(kind, matrix, right, x) for method, kind in (("pipecg", "PipeCg"), ("cg", "Cg"))}


def solver(kind: str, matrix: Any, b: Any, x: Any) -> Solve:
    def solve(rtol: float, most: int) -> tuple[float, int, Callable[[], np.ndarray]]:
        x.fill(0.0)
        asked = {
            "type": f"solver::{kind}",
            "preconditioner": {"type": "preconditioner::Jacobi", "max_block_size": 1},
            "criteria": [
                {"type": "Iteration", "max_iters": most},
                {"type": "ResidualNorm", "baseline": "rhs_norm", "reduction_factor": rtol},
            ],
        }
        begun = time.perf_counter()
        logger, _ = pyGinkgo.config_solve(matrix, b, x, asked)
        return time.perf_counter() - begun, logger.get_num_iterations(), lambda: np.array(x).ravel()

    return solve


if __name__ == "__main__":
    play({"version": importlib.metadata.version("pyginkgo"), "executor": NAME}, set_up)
