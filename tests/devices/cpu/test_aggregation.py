"""Passes over the matrices of a hierarchy against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from workbench.devices.cpu.aggregation import diagonal_of


@pytest.mark.parametrize("size", [1, 7, 5000])
@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
def test_diagonals_with_missing_entries(size, dtype):
    rng = np.random.default_rng(1)
    matrix = sparse.random_array((size, size), density=min(0.5, 40 / size), rng=rng, dtype=np.float64).tocsr()
    matrix = sparse.csr_array(matrix + sparse.diags_array(rng.integers(0, 2, size).astype(float)), dtype=dtype)
    found = diagonal_of((matrix.data, matrix.indices, matrix.indptr.astype(np.int64)))
    assert found.dtype == dtype
    assert np.array_equal(found, matrix.diagonal())
