"""Dense inverses and factors by LAPACK, small ones on one thread."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import LinAlgError
from threadpoolctl import threadpool_info

from workbench.deflation import lapack


@pytest.mark.parametrize("size", [1, 40, lapack.SMALL + 1])
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_the_inverse_and_the_factor_of_a_definite_matrix(size, dtype):
    rng = np.random.default_rng(size)
    half = rng.standard_normal((size, size)).astype(dtype)
    if np.dtype(dtype).kind == "c":
        half = half + 1j * rng.standard_normal((size, size))
    matrix = half @ half.conj().T + size * np.eye(size)
    np.testing.assert_allclose(lapack.inverse(matrix.copy()) @ matrix, np.eye(size), atol=1e-11)
    np.testing.assert_allclose(np.tril(lapack.cholesky(matrix.copy())), np.linalg.cholesky(matrix), atol=1e-11)


def test_threads_of_BLAS_are_as_before_also_after_an_error():
    before = [library["num_threads"] for library in threadpool_info()]
    with pytest.raises(LinAlgError, match="2-th leading minor"):
        lapack.inverse(np.array([[1.0, 0.0], [0.0, -1.0]]))
    assert [library["num_threads"] for library in threadpool_info()] == before
