"""The value farthest from zero of every block, as NumPy finds it block by block."""

from __future__ import annotations

import hypothesis.extra.numpy as arrays
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.devices.host.peaks import peaks


def blockwise(plane, step):
    rows, columns = (range(0, cells, step) for cells in plane.shape)
    blocks = [[plane[row : row + step, column : column + step].ravel() for column in columns] for row in rows]
    return np.array([[_farthest(block) for block in line] for line in blocks])


def _farthest(block):
    return block.max() if block.max() >= -block.min() else block.min()


PLANES = arrays.arrays(
    st.sampled_from([np.float64, np.float32]),
    arrays.array_shapes(min_dims=2, max_dims=2, max_side=40),
    elements=st.floats(-(2.0**100), 2.0**100, width=32),
)


@given(PLANES, st.integers(1, 7))
def test_every_block_has_its_peak(plane, step):
    made = peaks(plane, step)
    assert made.dtype == plane.dtype
    np.testing.assert_array_equal(made, blockwise(plane, step))


@pytest.mark.parametrize("place", [(0, 0), (1, 1), (2, 3), (4, 4)])
def test_a_block_with_nan_is_nan(place):
    plane = np.arange(25.0).reshape(5, 5)
    plane[place] = np.nan
    bad = np.isnan(peaks(plane, 2))
    assert bad.sum() == 1
    assert bad[place[0] // 2, place[1] // 2]


def test_infinity_is_farthest_and_of_two_the_positive_one():
    assert peaks(np.array([[1.0, -np.inf], [2.0, -3.0]]), 2) == -np.inf
    assert peaks(np.array([[-2.0, 1.0], [2.0, -2.0]]), 2) == 2.0


def test_planes_that_are_not_contiguous():
    cube = np.random.default_rng(0).standard_normal((9, 8, 7))
    for plane in (cube[:, 3], cube[:, :, 2], cube[4].T, (cube + 1j).real[:, 1]):
        np.testing.assert_array_equal(peaks(plane, 3), blockwise(plane, 3))
