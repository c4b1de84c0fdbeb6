"""A plane of values made smaller for the eye: of each block of cells the value farthest from zero."""

from __future__ import annotations

import numpy as np
from numba import njit

from workbench.devices.cpu.compiled import kernel
from workbench.devices.cpu.threads import launch
from workbench.devices.cpu.work_stealing import lanes, shared


def block_peaks(plane: np.ndarray, step: int) -> np.ndarray:
    """Of each block of step x step cells of a real plane, shape (rows, columns), the value farthest from zero with its
    sign, the positive one of two; NaN where the block has one. Blocks at the far sides may be smaller.

    Returns a new array of shape (ceil(rows / step), ceil(columns / step)). Cost: one read of the plane, without
    Python's lock; a plane that is not contiguous is copied before.
    """
    rows, columns = plane.shape
    made = np.empty((-(-rows // step), -(-columns // step)), plane.dtype)
    launch(plane.size, _block_peaks, np.ascontiguousarray(plane), step, made)
    return made


@kernel()
def _block_peaks(turns, plane, step, made):  # pragma: no cover
    rows, columns = plane.shape
    for lane in lanes(turns):
        for i in shared(turns, lane, made.shape[0]):
            # Row by row first, which processors do several columns at a time.
            far = plane[i * step].copy()
            for k in range(i * step + 1, min(rows, (i + 1) * step)):
                for c in range(columns):
                    far[c] = _farther(far[c], plane[k, c])
            for j in range(made.shape[1]):
                best = far[j * step]
                for c in range(j * step + 1, min(columns, (j + 1) * step)):
                    best = _farther(best, far[c])
                made[i, j] = best


@njit(nogil=True)
def _farther(a, b):  # pragma: no cover
    # Nothing is larger than NaN, and nothing takes its place.
    taken = (abs(b) > abs(a)) | ((abs(b) == abs(a)) & (b > a)) | (b != b)
    return b if taken else a
