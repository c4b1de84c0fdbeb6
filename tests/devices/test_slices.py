"""Slices of a grid for drawing, of a plane and of the volume: what NumPy cuts out, on the host and on accelerators."""

from __future__ import annotations

import itertools

import numpy as np

from tests.all_pairs import on_accelerators, pairwise
from tests.conftest import DTYPES, random_values
from workbench.devices.slices import PlaneSlice, VolumeSlice

GRID = (5, 9, 7)
NORMALS = {
    "z": (2 * 63, (7, 1), (9, 7), np.s_[2]),
    "y": (3 * 7, (63, 1), (5, 7), np.s_[:, 3]),
    "x": (4, (63, 7), (5, 9), np.s_[:, :, 4]),
}
"""Of planes: the first cell, strides, shape, and the same as an index of the grid."""
FORMS = [*NORMALS, "volume"]


def slice_of(form, step, *, peaks):
    return VolumeSlice(GRID, step, peaks) if form == "volume" else PlaneSlice(*NORMALS[form][:3], step, peaks)


def expected(values, step, *, peaks):
    """Of every block of `step` cells a side, the one of largest modulus, or that in its middle.

    A block at the edge of a plane that has no middle is left out.
    """
    if not peaks and values.ndim == 2:
        return values[step // 2 :: step, step // 2 :: step]
    starts = [range(0, cells, step) for cells in values.shape]
    made = np.empty([len(begins) for begins in starts], values.dtype)
    for place in itertools.product(*(range(len(begins)) for begins in starts)):
        block = values[tuple(np.s_[step * k : step * (k + 1)] for k in place)]
        middle = block[tuple(min(step // 2, cells - 1) for cells in block.shape)]
        made[place] = block.ravel()[np.argmax(np.abs(block))] if peaks else middle
    return made


@pairwise(form=FORMS, step=[1, 2, 4, 9], peaks=[True, False], dtype=["float32", "float64", "complex128"])
def test_a_slice_shows_what_numpy_cuts_out(case):
    form, step, peaks, dtype = case.values()
    part, values = slice_of(form, step, peaks=peaks), random_values(np.prod(GRID), dtype)
    whole = values.real.reshape(GRID)
    seen = part(values)
    wanted = expected(whole if form == "volume" else whole[NORMALS[form][3]], step, peaks=peaks)
    np.testing.assert_array_equal(seen, wanted)
    assert seen.shape == part.result_shape
    assert not np.shares_memory(seen, values)


def on_device(accelerator, part, values):
    look = accelerator.volume if isinstance(part, VolumeSlice) else accelerator.plane
    return look(accelerator.array(values, values.dtype), part)


@on_accelerators(form=FORMS, step=[1, 3], peaks=[True, False], dtype=DTYPES)
def test_an_accelerator_sees_the_same_through_it(accelerator, case):
    form, step, peaks, dtype = case.values()
    part, values = slice_of(form, step, peaks=peaks), random_values(np.prod(GRID), dtype)
    seen = on_device(accelerator, part, values)
    assert seen.dtype == values.real.dtype
    np.testing.assert_array_equal(seen, part(values))


def test_a_block_with_nan_is_nan_on_an_accelerator_too(accelerator):
    for part in (PlaneSlice(0, (5, 1), (5, 5), 2, peaks=True), VolumeSlice((5, 5, 5), 2, peaks=True)):
        values = np.arange(-62.0, 63.0)
        values[7], values[24] = np.nan, np.inf
        seen = part(values)
        assert np.isnan(seen).sum() == 1
        np.testing.assert_array_equal(on_device(accelerator, part, values), seen)
