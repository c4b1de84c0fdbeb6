"""Windows onto vectors: what NumPy cuts out, on the host and on an accelerator."""

from __future__ import annotations

import numpy as np

from tests.all_pairs import on_accelerators, pairwise
from tests.conftest import DTYPES, random_values
from workbench.devices.plane_slice import PlaneSlice

GRID = (5, 9, 7)
SECTIONS = {
    "z": (2 * 63, (7, 1), (9, 7), np.s_[2]),
    "y": (3 * 7, (63, 1), (5, 7), np.s_[:, 3]),
    "x": (4, (63, 7), (5, 9), np.s_[:, :, 4]),
}


def expected(plane, step, *, peaks):
    if not peaks:
        return plane[step // 2 :: step, step // 2 :: step]
    rows, columns = (range(0, cells, step) for cells in plane.shape)
    blocks = [[plane[row : row + step, column : column + step].ravel() for column in columns] for row in rows]
    return np.array([[block[np.argmax(np.abs(block))] for block in line] for line in blocks])


@pairwise(normal=list(SECTIONS), step=[1, 2, 4, 9], peaks=[True, False], dtype=["float32", "float64", "complex128"])
def test_a_plane_slice_shows_what_numpy_cuts_out(case):
    normal, step, peaks, dtype = case.values()
    first, apart, shape, where = SECTIONS[normal]
    part = PlaneSlice(first, apart, shape, step, peaks)
    values = random_values(np.prod(GRID), dtype)
    seen = part(values)
    np.testing.assert_array_equal(seen, expected(values.real.reshape(GRID)[where], step, peaks=peaks))
    assert seen.shape == part.seen
    assert not np.shares_memory(seen, values)


@on_accelerators(normal=list(SECTIONS), step=[1, 3], peaks=[True, False], dtype=DTYPES)
def test_an_accelerator_sees_the_same_through_it(accelerator, case):
    normal, step, peaks, dtype = case.values()
    part = PlaneSlice(*SECTIONS[normal][:3], step, peaks)
    values = random_values(np.prod(GRID), dtype)
    seen = accelerator.plane(accelerator.array(values, values.dtype), part)
    assert seen.dtype == values.real.dtype
    np.testing.assert_array_equal(seen, part(values))


def test_a_block_with_nan_is_nan_on_an_accelerator_too(accelerator):
    values = np.arange(-12.0, 13.0)
    values[7] = np.nan
    values[24] = np.inf
    part = PlaneSlice(0, (5, 1), (5, 5), 2, peaks=True)
    np.testing.assert_array_equal(accelerator.plane(accelerator.array(values, values.dtype), part), part(values))
