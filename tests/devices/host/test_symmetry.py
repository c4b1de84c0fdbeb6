"""The asymmetry of a matrix against SciPy's difference with the transpose."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from workbench.devices.host.symmetry import asymmetry


@settings(max_examples=80)
@given(
    size=st.integers(1, 12),
    density=st.floats(0, 1),
    mirrored=st.booleans(),
    dtype=st.sampled_from(["float32", "float64", "complex64", "complex128"]),
    index=st.sampled_from(["int32", "int64"]),
    seed=st.integers(0, 10**6),
)
def test_it_is_that_of_the_difference_with_the_transpose(size, density, mirrored, dtype, index, seed):
    rng = np.random.default_rng(seed)
    dense = rng.uniform(-1, 1, (size, size)) * (rng.random((size, size)) < density)
    if np.dtype(dtype).kind == "c":
        dense = dense * np.exp(1j * rng.uniform(0, 6, (size, size)))
    if mirrored:
        # Hermitian but for one entry, which may stand on one side only.
        dense = dense + dense.conj().T
        dense[rng.integers(size), rng.integers(size)] += rng.choice([0, 1e-3])
    csr = sparse.csr_array(dense.astype(dtype))
    dense = csr.toarray()
    found = asymmetry(csr.data, csr.indices.astype(index), csr.indptr.astype(index))
    close = {"rtol": 10 * np.finfo(dtype).eps, "atol": 0}
    assert np.array_equal(found.diagonal, np.diagonal(dense))
    difference = np.abs(dense - dense.conj().T)
    np.testing.assert_allclose(found.largest, np.abs(dense).max(), **close)
    np.testing.assert_allclose(found.hermitian, difference.max(), **close)
    np.testing.assert_allclose(found.plain, np.abs(dense - dense.T).max(), **close)
    np.testing.assert_allclose(difference[found.row, found.column], difference.max(), **close)


@pytest.mark.parametrize("places", [((0, 3),), ((3, 0),), ((1, 2), (4, 0)), ((2, 1), (4, 3))])
def test_entries_without_a_partner_are_found_wherever_they_stand(places):
    dense = np.diag(np.arange(1.0, 6.0))
    for size, (row, column) in enumerate(places, 10):
        dense[row, column] = size
    csr = sparse.csr_array(dense)
    found = asymmetry(csr.data, csr.indices, csr.indptr)
    assert found.hermitian == found.plain == found.largest == 9 + len(places)
    assert {found.row, found.column} == set(places[-1])


@pytest.mark.parametrize("odd", [None, (70_001, 12), (12, 70_001), (99_999, 99_999)])
def test_many_rows_are_compared_in_parallel(odd):
    """Chunks of rows find one entry that differs, or is missing, wherever it is."""
    size = 100_000
    off = np.arange(1.0, size)
    matrix = sparse.diags_array([off, np.full(size, 5.0), off], offsets=[-1, 0, 1]).tolil()
    if odd:
        matrix[odd] = 1e6
    csr = sparse.csr_array(matrix)
    found = asymmetry(csr.data, csr.indices, csr.indptr)
    assert np.array_equal(found.diagonal, csr.diagonal())
    one_sided = odd and odd[0] != odd[1]
    assert found.hermitian == (1e6 if one_sided else 0)
    assert found.largest == (1e6 if odd else size - 1)
    if one_sided:
        assert {found.row, found.column} == set(odd)
