"""GFLOP/s of the iterations of block methods, by two counts of their operations."""

from __future__ import annotations

import numpy as np

from workbench.run import Run

REAL, COMPLEX = (2, 10, 2), (8, 40, 28)
"""Multiples of the non-zeros, of N and of 1 in an iteration of CG with one right-hand side: a product with A, two dot
products, three vector updates and two divisions, by Table II of Tali and Vainikko, "Block Conjugate Gradient solver in
OpenCL"."""


def flops_of_one(n: int, nnz: int, *, is_complex: bool) -> int:
    """Operations of an iteration of CG with one right-hand side and no preconditioner.

    Examples:
        >>> from workbench.costs.block_rates import flops_of_one
        >>> flops_of_one(100, 460, is_complex=False)
        1922
    """
    return int(np.dot(COMPLEX if is_complex else REAL, (nnz, n, 1)))


def gflops(run: Run) -> tuple[float, float]:
    """GFLOP/s of the iterations of a run: as if each right-hand side had a recurrence of its own, and counted from the
    lines of the method."""
    operator = run.setup.operator
    (n, _), is_complex = operator.shape, operator.dtype.kind == "c"
    separate = run.iterations * run.history.columns.shape[1] * flops_of_one(n, operator.nnz or 0, is_complex=is_complex)
    counted = sum(program.calls * program.flops for program in run.workspace.programs)
    seconds = 1e9 * max(run.iteration_seconds, 1e-9)
    return separate / seconds, counted / seconds
