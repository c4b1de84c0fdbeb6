"""The figures that explain hold what the papers print in words and arrays."""

from __future__ import annotations

import numpy as np
import pytest

from tests.extensions.papers.conftest import small
from workbench.extensions.papers import two_level_schematics
from workbench.extensions.papers.mpcg_schematics import sweeps_of
from workbench.plots.scenes.scene import CurveOf


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


def test_listing_2_as_printed_loses_numbers_and_without_the_increment_adds_all():
    rows = small("block-cg", "listing2").rows
    assert [row["sum"] for row in rows] == [1, 3, 7, 15, 1, 3, 10, 36]
    assert [row["offset"] for row in rows] == [0, 1, 3, 7, 0, 1, 2, 4]
    assert [row["position_0"] for row in rows[2:4]] == ["1 + 2 + 4", "1 + 2 + 4 + 8"]
    first, sums, _ = small("block-cg", "listing2").notes
    assert "3, 5, 6, 7 are never added" in first
    assert "31 and 136 for n = 16" in sums


def test_algorithm_2_as_printed_solves_another_system():
    """The errors after two sweeps by hand: v = r/4, then r/4 minus or plus the sum of up to four neighbours over 16."""
    first, second = (sweeps_of(sign, 2, np.ones((3, 3)))[2] for sign in (-1, 1))
    np.testing.assert_allclose(first, (4 - np.array([[2, 3, 2], [3, 4, 3], [2, 3, 2]])) / 16)
    np.testing.assert_allclose(second, (4 + np.array([[2, 3, 2], [3, 4, 3], [2, 3, 2]])) / 16)
    printed, right = small("mpcg", "algorithm2").rows
    assert printed["error_after_1"] == right["error_after_1"]
    assert printed["error_after_2000"] == pytest.approx(0.994, abs=5e-4)
    assert max(right["error_after_2000"], printed["from_the_other_system"]) < 1e-9


def test_the_square_has_a_wall_with_a_value_and_three_without():
    walls = [layer.name for layer in two_level_schematics.domain().layers if isinstance(layer, CurveOf)]
    assert walls == ["u = 0", "∂u/∂n = 0"]


def test_az_of_stripes_has_five_entries_in_a_row_at_most():
    Z, AZ, _ = two_level_schematics._stripes()
    assert Z.shape == AZ.shape == (64, 16)
    assert np.diff(AZ.indptr).max() <= 5
    (row,) = small("two-level", "fig6").rows
    assert (row["words_5N"], row["d"]) == (320, 16)


def test_planes_and_stripes_of_a_cube():
    rows = small("two-level", "fig8").rows
    assert [(row["vectors"], row["cells_of_a_vector"]) for row in rows] == [(8, 64), (64, 8)]
