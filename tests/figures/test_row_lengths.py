"""Row lengths: the histogram and its labels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import InputError
from workbench.figures import row_lengths
from workbench.figures.row_lengths import MAX_BARS, binned


@given(st.lists(st.integers(0, 3000), min_size=1, max_size=80))
def test_every_row_is_counted_in_its_bar(given):
    lengths = np.array(given)
    counts, edges = binned(lengths)
    assert len(counts) <= MAX_BARS
    assert edges.size == counts.size + 1
    np.testing.assert_array_equal(counts, np.histogram(lengths, edges)[0])
    assert counts.sum() == lengths.size


def test_few_lengths_have_one_bar_each():
    counts, edges = binned(np.array([3, 5, 5, 7]))
    assert counts.tolist() == [1, 0, 2, 0, 1]
    assert edges.tolist() == [2.5, 3.5, 4.5, 5.5, 6.5, 7.5]


def test_the_figure_names_its_axes_and_the_mean():
    axes = row_lengths(np.array([3, 5, 5, 7]), title="small").axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel(), axes.get_title()) == ("entries per row", "rows", "small")
    assert axes.get_legend().get_texts()[0].get_text() == "mean 5"
    assert axes.get_yscale() == "linear"
    axes = row_lengths(np.concatenate([np.full(1000, 2), [700]])).axes[0]
    assert axes.get_xlabel() == "entries per row, 12 per bar"
    assert axes.get_yscale() == "log"


def test_no_rows_are_refused():
    with pytest.raises(InputError, match="without rows"):
        row_lengths(np.array([], dtype=int))
