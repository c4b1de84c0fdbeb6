"""Block methods where a block has about as many columns as A has rows, so that residuals soon span everything."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from tests.all_pairs import pairwise
from tests.contracts import cases
from workbench.registry import registered
from workbench.run import solve

METHODS = [name for name in cases.ON_CORES if registered("solver")[name].takes_blocks]
RTOL = {"float32": 1e-4, "float64": 1e-9, "complex64": 1e-4, "complex128": 1e-9}
COLUMNS = 5
"""Kernels depend on them, and on the unknowns not."""
UNKNOWNS = (2, 3, 4, 5, 6, 7, 8, 12, 20)


def tridiagonal(unknowns, dtype, *, symmetric):
    """A Hermitian positive definite matrix, or a complex symmetric one, with a condition number below 20."""
    side = np.full(unknowns - 1, -1 - 0.5j if np.dtype(dtype).kind == "c" else -1.0)
    diagonals = side if symmetric else np.conj(side), np.full(unknowns, 2.5), side
    return sparse.csr_array(sparse.diags_array(diagonals, offsets=[-1, 0, 1]).astype(dtype))


def columns_of(kind, unknowns, dtype, seed):
    rng = np.random.default_rng([unknowns, seed])
    B = rng.standard_normal((unknowns, COLUMNS)).astype(dtype)
    if np.dtype(dtype).kind == "c":
        B += (1j * rng.standard_normal(B.shape)).astype(dtype)
    if kind == "dependent":
        B[:, -1] = B[:, :-1].sum(axis=1)
    if kind == "zero":
        B[:, 0] = 0
    return B


@pairwise(method=METHODS, dtype=list(RTOL), kind=["random", "dependent", "zero"])
def test_columns_are_solved_whatever_they_span(case):
    method, dtype, kind = case["method"], case["dtype"], case["kind"]
    rtol, symmetric = RTOL[dtype], registered("solver")[method].complex_symmetric
    for seed, unknowns in enumerate(UNKNOWNS):
        A, B = tridiagonal(unknowns, dtype, symmetric=symmetric), columns_of(kind, unknowns, dtype, seed)
        found = solve(A, B, solver=method, rtol=rtol)
        if method == "block-cg-oleary" and not found.converged:
            assert "take block-cg" in found.detail, (unknowns, found.reason, found.detail)
            continue
        assert found.converged, (unknowns, found.reason, found.detail)
        residuals = np.linalg.norm(B - A.astype(np.complex128) @ found.x, axis=0)
        assert (residuals <= 1.01 * rtol * np.linalg.norm(B, axis=0)).all(), unknowns
