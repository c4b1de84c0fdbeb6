"""Near-null vectors in parts: Galerkin sums and the vectors of the next level, against dense algebra."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from workbench.devices.host.aggregation import grouped
from workbench.devices.host.modes import matrix_of_nodes, modes_below, orthonormal_modes, summed_modes


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize(("size", "parts", "columns"), [(9, 2, 1), (61, 7, 3), (3001, 97, 2)])
def test_sums_over_parts_with_several_vectors(size, parts, columns, dtype):
    rng = np.random.default_rng(size)
    A = sparse.random_array((size, size), density=min(0.4, 20 / size), rng=rng).tocsr()
    A = sparse.csr_array(A + A.T + 5 * sparse.eye_array(size), dtype=dtype)
    if dtype is complex:
        A.data = A.data * np.exp(1j * rng.random(A.nnz))
    labels = np.sort(rng.integers(0, parts, size))[rng.permutation(size)].astype(np.int32)
    vectors = rng.standard_normal((size, columns)) + (
        1j * rng.standard_normal((size, columns)) if dtype is complex else 0
    )
    modes, kept = orthonormal_modes(vectors, labels, parts)
    assert kept.all()
    Z = np.zeros((size, parts, columns), dtype)
    Z[np.arange(size), labels] = modes
    Z = Z.reshape(size, -1)
    order, starts = grouped(labels, np.arange(parts))
    (data, indices, indptr), nodes = summed_modes((A.data, A.indices, A.indptr), modes, order, starts, labels)
    shape = (parts * columns, parts * columns)
    expected = Z.conj().T @ A.toarray() @ Z
    found = sparse.csr_array((data, indices, indptr), shape=shape)
    np.testing.assert_allclose(found.toarray(), expected, atol=1e-12 * np.abs(expected).max())
    below = modes_below(vectors, modes, order, starts)
    np.testing.assert_allclose(Z @ below, vectors, atol=1e-12)
    of_nodes = matrix_of_nodes(sparse.csr_array(expected), columns)
    for each, other in zip(nodes, of_nodes, strict=True):
        assert each.shape == other.shape
    np.testing.assert_allclose(
        sparse.csr_array(nodes, shape=(parts, parts)).toarray(),
        sparse.csr_array(of_nodes, shape=(parts, parts)).toarray(),
        rtol=1e-10,
    )


def test_norms_of_blocks_neither_under_nor_overflow():
    blocks = sparse.csr_array(np.kron([[2, -1], [-1, 2]], np.ones((2, 2))))
    for scale in (1e-200, 1e200):
        data, _, _ = matrix_of_nodes(blocks * scale, 2)
        np.testing.assert_allclose(data, [1, -2 * scale, -2 * scale, 1])
