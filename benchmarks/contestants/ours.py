"""Our pipelined CG and CG on the CPU, on the stencil and on the same matrix in CSR form."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from job import Solve, play
from poisson import poisson7_rows
from scipy import sparse

import workbench
from workbench.operators import Matrix
from workbench.problems import LinearSystem
from workbench.run import Run, Stopping, configure, run_through
from workbench.run.choices.in_memory import InMemoryProblem


def set_up(n: int, b: np.ndarray) -> dict[str, Solve]:
    """Both methods on both forms of the matrix."""
    starts, columns, values = poisson7_rows(n, 0, b.size)
    forms = {
        "stencil": configure("poisson7", n=n).problem.assemble().operator,
        "CSR": Matrix(sparse.csr_array((values, columns, starts))),
    }
    return {
        f"{method}, {form}": solver(method, LinearSystem(operator, b))
        for form, operator in forms.items()
        for method in ("pipecg", "cg")
    }


def solver(method: str, system: LinearSystem) -> Solve:
    def solve(rtol: float, most: int) -> tuple[float, int, Callable[[], np.ndarray]]:
        stopping = Stopping(rtol=rtol, maxiter=most)
        run = Run(configure(InMemoryProblem(), solver=method, stopping=stopping), system)
        begun = time.perf_counter()
        result = run_through(run)
        return time.perf_counter() - begun, result.iterations, lambda: result.x

    return solve


if __name__ == "__main__":
    play({"version": workbench.__version__}, set_up)
