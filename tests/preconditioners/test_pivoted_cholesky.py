"""Pivoted Cholesky of low rank, next to dense elimination by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import aslinearoperator

from workbench.devices import device, names
from workbench.errors import InputError
from workbench.operators import as_operator
from workbench.preconditioners.pivoted_cholesky import pivoted_cholesky
from workbench.registry import find
from workbench.run import solve

EPS = float(np.finfo(float).eps)


def spd(size: int, dtype: type = float) -> np.ndarray:
    """A random Hermitian positive definite matrix with diagonal entries of very different sizes."""
    rng = np.random.default_rng(size)
    root = rng.standard_normal((size, size)).astype(dtype)
    if dtype is complex:
        root = root + 1j * rng.standard_normal((size, size))
    scale = 10.0 ** rng.uniform(-3, 3, size)
    return scale[:, None] * (root @ root.conj().T + 0.1 * np.eye(size)) * scale


def kernel(size: int, noise: float) -> np.ndarray:
    """A Gaussian kernel between random places of the unit square, plus a small diagonal."""
    places = np.random.default_rng(0).random((size, 2))
    return np.exp(-10 * ((places[:, None] - places) ** 2).sum(axis=2)) + noise * np.eye(size)


def dense_inverse(A: np.ndarray, rank: int, on: str = "cpu") -> np.ndarray:
    operator, machine = as_operator(sparse.csr_array(A)), device(on)
    M = find("preconditioner", f"pivoted-cholesky:{rank}").setup(operator, machine)
    columns, size = [], len(A)
    for unit in np.eye(size, dtype=A.dtype):
        u = machine.zeros(size, A.dtype)
        M.apply(machine.array(unit, A.dtype), u)
        columns.append(machine.to_host(u))
    return np.column_stack(columns)


def by_elimination(A: np.ndarray, rank: int) -> tuple[np.ndarray, list[int]]:
    """M, and the pivots, by steps of dense elimination: the largest share of a diagonal entry that is left is next."""
    rest, pivots = A.copy(), []
    for _ in range(rank):
        share = np.real(rest.diagonal()) / np.real(A.diagonal())
        share[pivots] = -1
        pivot = int(share.argmax())
        pivots.append(pivot)
        rest = rest - np.outer(rest[:, pivot], rest[pivot]) / rest[pivot, pivot]
    others = np.setdiff1d(np.arange(len(A)), pivots)
    dropped = rest - np.diag(rest.diagonal())
    M = A.copy()
    M[np.ix_(others, others)] -= dropped[np.ix_(others, others)]
    return M, pivots


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("rank", [1, 4, 9])
def test_m_is_A_at_the_pivots_and_diagonal_in_what_is_left(rank, dtype):
    A = spd(9, dtype)
    M, pivots = by_elimination(A, rank)
    assert pivoted_cholesky(sparse.csr_array(A), rank, EPS).pivots.tolist() == pivots
    roots = np.sqrt(np.real(A.diagonal()))
    np.testing.assert_allclose(M[pivots], A[pivots], atol=1e-12 * roots.max() ** 2)
    scaled = dense_inverse(A, rank) * np.outer(roots, roots)
    np.testing.assert_allclose(scaled, np.linalg.inv(M / np.outer(roots, roots)), rtol=1e-8, atol=1e-10)


def test_every_device_applies_it_alike():
    A = spd(33)
    for name in names():
        expected = dense_inverse(A, 7)
        np.testing.assert_allclose(dense_inverse(A, 7, name), expected, rtol=1e-9, atol=1e-12 * np.abs(expected).max())


def test_few_columns_are_worth_hundreds_of_iterations_on_a_kernel():
    A, b = kernel(300, 1e-3), np.random.default_rng(1).standard_normal(300)
    alone = solve(A, b, rtol=1e-8)
    found = solve(A, b, M="pivoted-cholesky:80", rtol=1e-8)
    np.testing.assert_allclose(found.x, np.linalg.solve(A, b), rtol=1e-4, atol=1e-4 * np.abs(found.x).max())
    assert found.converged
    assert 8 * found.iterations < alone.iterations
    (note,) = (note for note in found.provenance["notes"] if "pivoted-cholesky" in note)
    assert note.startswith("pivoted-cholesky: 80 columns, which leave 0.")
    assert note.endswith("% of the trace of A")


def test_units_of_the_unknowns_change_nothing():
    A, b = kernel(120, 1e-2), np.random.default_rng(2).standard_normal(120)
    scale = 2.0 ** np.random.default_rng(3).integers(-20, 20, 120)
    pivots = [
        pivoted_cholesky(sparse.csr_array(matrix), 30, EPS).pivots.tolist()
        for matrix in (A, scale[:, None] * A * scale)
    ]
    assert pivots[0] == pivots[1]
    assert solve(A, b, M="pivoted-cholesky:30").converged


def test_a_matrix_of_low_rank_ends_it_early():
    root = np.random.default_rng(4).standard_normal((40, 5))
    A = root @ root.T
    factor = pivoted_cholesky(sparse.csr_array(A), 40, EPS)
    assert factor.pivots.size == 5
    np.testing.assert_allclose(factor.columns.T @ factor.columns, A, atol=1e-12 * A.max())
    others = np.setdiff1d(np.arange(40), factor.pivots)
    np.testing.assert_array_equal(factor.diagonal[others], A.diagonal()[others])
    null = np.linalg.svd(A)[0][:, 5:]
    found = solve(A, A @ np.ones(40), M="pivoted-cholesky", nullspace=null)
    assert found.converged
    assert found.iterations <= 3


def test_all_columns_are_a_direct_solve():
    A = spd(25)
    assert solve(A, np.ones(25), M="pivoted-cholesky:25", rtol=1e-6).iterations <= 2


def test_an_operator_without_entries_is_refused():
    with pytest.raises(InputError, match="of a LinearOperator (is|are) not available"):
        find("preconditioner", "pivoted-cholesky").setup(as_operator(aslinearoperator(np.eye(3))), device())
