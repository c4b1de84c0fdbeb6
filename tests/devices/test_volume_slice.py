"""A 3D grid for drawing: every block of cells against NumPy, on odd sizes, on the cores and on accelerators."""

import itertools

import numpy as np

from tests.all_pairs import on_accelerators, pairwise
from tests.conftest import DTYPES, random_values
from workbench.devices.volume_slice import VolumeSlice

GRID = (5, 9, 7)


def expected(values, step, *, peaks):
    starts = [range(0, cells, step) for cells in values.shape]
    made = np.empty([len(begins) for begins in starts], values.dtype)
    for place in itertools.product(*(range(len(begins)) for begins in starts)):
        block = values[tuple(np.s_[step * k : step * (k + 1)] for k in place)]
        middle = block[tuple(min(step // 2, cells - 1) for cells in block.shape)]
        made[place] = block.ravel()[np.argmax(np.abs(block))] if peaks else middle
    return made


@pairwise(step=[1, 2, 4, 9], peaks=[True, False], dtype=["float32", "float64", "complex128"])
def test_a_volume_slice_shows_what_numpy_cuts_out(case):
    step, peaks, dtype = case.values()
    part = VolumeSlice(GRID, step, peaks)
    values = random_values(np.prod(GRID), dtype)
    seen = part(values)
    np.testing.assert_array_equal(seen, expected(values.real.reshape(GRID), step, peaks=peaks))
    assert seen.shape == part.seen
    assert not np.shares_memory(seen, values)


@on_accelerators(step=[1, 3], peaks=[True, False], dtype=DTYPES)
def test_an_accelerator_sees_the_same_through_it(accelerator, case):
    step, peaks, dtype = case.values()
    part = VolumeSlice(GRID, step, peaks)
    values = random_values(np.prod(GRID), dtype)
    seen = accelerator.volume(accelerator.array(values, values.dtype), part)
    assert seen.dtype == values.real.dtype
    np.testing.assert_array_equal(seen, part(values))


def test_a_block_with_nan_is_nan_on_an_accelerator_too(accelerator):
    values = np.arange(-62.0, 63.0)
    values[7], values[24] = np.nan, np.inf
    part = VolumeSlice((5, 5, 5), 2, peaks=True)
    seen = part(values)
    assert np.isnan(seen).sum() == 1
    np.testing.assert_array_equal(accelerator.volume(accelerator.array(values, values.dtype), part), seen)
