"""Sparsity patterns: entries per pixel."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from workbench.plots.figures import pattern_counts


@given(st.integers(1, 40), st.integers(1, 50), st.integers(0, 2**31))
def test_every_entry_is_counted_in_its_pixel(size, pixels, seed):
    matrix = sparse.csr_array(sparse.random_array((size, size), density=0.2, rng=np.random.default_rng(seed)))
    counts = pattern_counts(matrix, pixels)
    side = min(size, pixels)
    expected = np.zeros((side, side), dtype=int)
    entries = matrix.tocoo()
    np.add.at(expected, (entries.coords[0] * side // size, entries.coords[1] * side // size), 1)
    np.testing.assert_array_equal(counts, expected)


def test_empty_rows_do_not_shift_those_below():
    matrix = sparse.csr_array((np.ones(1), ([3], [0])), shape=(4, 4))
    assert pattern_counts(matrix)[3, 0] == 1
