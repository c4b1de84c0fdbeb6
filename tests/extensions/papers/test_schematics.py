"""The figures that explain hold what the papers print in words and arrays."""

from __future__ import annotations

import numpy as np
import pytest

from tests.extensions.papers.conftest import small
from workbench.extensions.papers import two_level_schematics


@pytest.mark.parametrize(
    ("figure", "arrays"),
    [
        ("fig2", [[2, 5, 1, 8, 9, 5, 3, 4], [0, 1, 2, 2, 1, 2, 3, 2], [1, 0, 0, 1, 3, 2, 1, 3]]),
        ("fig3", [[5, 1, 2, 8, 3, 5, 9, 4], [1, 2, 0, 2, 3, 2, 1, 2], [0, 2, 5, 6, 8]]),
    ],
)
def test_arrays_of_the_formats_are_those_printed(figure, arrays):
    assert [row["values"] for row in small("block-cg", figure).rows] == arrays


def test_the_decomposition_has_the_printed_sizes():
    parts = {row["part"]: row["entries"] for row in small("hybrid-pipecg", "fig3").rows}
    assert parts["nnz1 cpu"] == 4
    assert sum(parts.values()) == 15


def test_the_reduction_adds_all_in_three_steps():
    assert [row["sum"] for row in small("block-cg", "fig4").rows] == [1, 3, 10, 36]


def test_az_of_stripes_has_five_entries_in_a_row_at_most():
    Z, AZ, _ = two_level_schematics._stripes()
    assert Z.shape == AZ.shape == (64, 16)
    assert np.diff(AZ.indptr).max() <= 5
    (row,) = small("two-level", "fig6").rows
    assert (row["words_5N"], row["d"]) == (320, 16)


def test_planes_and_stripes_of_a_cube():
    rows = small("two-level", "fig8").rows
    assert [(row["vectors"], row["cells_of_a_vector"]) for row in rows] == [(8, 64), (64, 8)]
