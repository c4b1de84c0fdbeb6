"""Reduction of a plane of values for drawing: the value farthest from zero of each block of cells."""

from __future__ import annotations

import numpy as np

from workbench.jit.compiled import kernel, njit
from workbench.jit.threads import cores, launch
from workbench.jit.work_stealing import shared, threads


def block_peaks(plane: np.ndarray, step: int) -> np.ndarray:
    """The value of largest magnitude of each step x step block of a real plane of shape (rows, columns), with its sign.

    Of a and -a the positive one; NaN where the block has one. Blocks at the last row and column may be smaller.

    Returns a new array of shape (ceil(rows / step), ceil(columns / step)). Cost: one read of the plane, with the
    GIL released; a plane that is not contiguous is copied first.
    """
    rows, columns = plane.shape
    made = np.empty((-(-rows // step), -(-columns // step)), plane.dtype)
    launch(plane.size, _block_peaks, np.ascontiguousarray(plane), step, np.empty((cores(), columns), plane.dtype), made)
    return made


@kernel()
def _block_peaks(taken, plane, step, room, made):  # pragma: no cover
    rows, columns = plane.shape
    for thread in threads(taken):
        for i in shared(taken, thread, made.shape[0]):
            # First along the rows of the block, vectorized over the columns.
            far = room[thread]
            for c in range(columns):
                far[c] = plane[i * step, c]
            for k in range(i * step + 1, min(rows, (i + 1) * step)):
                for c in range(columns):
                    far[c] = farther(far[c], plane[k, c])
            for j in range(made.shape[1]):
                best = far[j * step]
                for c in range(j * step + 1, min(columns, (j + 1) * step)):
                    best = farther(best, far[c])
                made[i, j] = best


@njit(nogil=True)
def farther(a, b):  # pragma: no cover
    """The one of larger magnitude."""
    # NaN counts as larger than everything and is never replaced.
    taken = (abs(b) > abs(a)) | ((abs(b) == abs(a)) & (b > a)) | (b != b)
    return b if taken else a
