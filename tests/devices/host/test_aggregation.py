"""Matrices of a hierarchy in another order, and Galerkin sums, against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from workbench.devices.host.aggregation import grouped, reordered, summed


def matrix_of(size, dtype, *, whole_diagonal):
    """Random entries, with all diagonal entries or with some."""
    rng = np.random.default_rng(size)
    matrix = sparse.random_array((size, size), density=min(0.5, 40 / size), rng=rng).tocsr()
    diagonal = rng.integers(1 if whole_diagonal else 0, 3, size).astype(float)
    return sparse.csr_array(matrix + sparse.diags_array(diagonal), dtype=dtype), rng


def as_sparse(csr):
    size = csr[2].size - 1
    return sparse.csr_array(csr, shape=(size, size))


@pytest.mark.parametrize("size", [1, 7, 5000])
@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
def test_rows_and_columns_in_another_order(size, dtype):
    matrix, rng = matrix_of(size, dtype, whole_diagonal=False)
    order = rng.permutation(size)
    csr, diagonal = reordered((matrix.data, matrix.indices, matrix.indptr.astype(np.int64)), order)
    expected = matrix[order][:, order]
    assert diagonal.dtype == dtype
    assert np.array_equal(diagonal, expected.diagonal())
    assert abs(as_sparse(csr) - expected).nnz == 0


@pytest.mark.parametrize("size", [1, 7, 5000])
def test_sums_over_groups_of_rows(size):
    matrix, rng = matrix_of(size, np.float64, whole_diagonal=True)
    cuts = np.unique(np.append(rng.integers(0, size, size // 3), [0, size]))
    parents = np.repeat(np.arange(cuts.size - 1, dtype=np.int32), np.diff(cuts))
    csr, diagonal = summed((matrix.data, matrix.indices, matrix.indptr.astype(np.int64)), cuts, parents)
    P = sparse.csr_array((np.ones(size), (np.arange(size), parents)), shape=(size, cuts.size - 1))
    expected = P.T @ matrix @ P
    np.testing.assert_allclose(diagonal, expected.diagonal(), rtol=1e-12)
    np.testing.assert_allclose(abs(as_sparse(csr) - expected).max(), 0, atol=1e-12 * expected.max())


@pytest.mark.parametrize(("size", "count"), [(1, 1), (40, 9), (5000, 700)])
def test_numbers_are_grouped_by_the_order_of_their_parents(size, count):
    rng = np.random.default_rng(size)
    parents, order = rng.integers(0, count, size), rng.permutation(count)
    found, starts = grouped(parents, order)
    where = np.argsort(order)[parents]
    assert np.array_equal(found, np.argsort(where, kind="stable"))
    assert np.array_equal(starts, np.searchsorted(where[found], np.arange(count + 1)))


@pytest.mark.parametrize("size", [1, 9, 5000])
def test_groups_of_any_rows_are_summed_as_those_of_consecutive_ones(size):
    matrix, rng = matrix_of(size, np.complex128, whole_diagonal=False)
    labels = rng.integers(0, 1 + size // 4, size)
    labels = np.unique(labels, return_inverse=True)[1].astype(np.int32)
    count = int(labels.max()) + 1
    order, starts = grouped(labels, np.arange(count))
    csr, diagonal = summed((matrix.data, matrix.indices, matrix.indptr.astype(np.int64)), starts, labels, order)
    P = sparse.csr_array((np.ones(size), (np.arange(size), labels)), shape=(size, count))
    expected = P.T @ matrix @ P
    np.testing.assert_allclose(diagonal, expected.diagonal(), rtol=1e-12)
    np.testing.assert_allclose(abs(as_sparse(csr) - expected).max(), 0, atol=1e-12 * max(1, abs(expected).max()))
