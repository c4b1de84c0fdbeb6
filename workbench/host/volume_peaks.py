"""Reduction of a 3D grid of values for drawing: the value of largest magnitude of each block of cells."""

from __future__ import annotations

import numpy as np

from workbench.host.block_peaks import farther
from workbench.jit.compiled import kernel
from workbench.jit.threads import cores, launch
from workbench.jit.work_stealing import shared, threads


def volume_peaks(values: np.ndarray, step: int) -> np.ndarray:
    """The value of largest magnitude of each block of step^3 cells of a real array (nz, ny, nx), with its sign.

    Of a and -a the positive one; NaN where the block has one. Blocks at the end of a side may be smaller.

    Returns a new array of shape (ceil(nz / step), ceil(ny / step), ceil(nx / step)). Cost: one read of the values, with
    the GIL released; an array that is not contiguous is copied first.
    """
    made = np.empty([-(-cells // step) for cells in values.shape], values.dtype)
    room = np.empty((cores(), values.shape[2]), values.dtype)
    launch(values.size, _volume_peaks, np.ascontiguousarray(values), step, room, made)
    return made


@kernel()
def _volume_peaks(taken, values, step, room, made):  # pragma: no cover
    layers, rows, columns = values.shape
    high = made.shape[1]
    for thread in threads(taken):
        for i in shared(taken, thread, made.shape[0] * high):
            top, left = i // high * step, i % high * step
            # First along the rows of the block, vectorized over the columns.
            far = room[thread]
            for c in range(columns):
                far[c] = values[top, left, c]
            for z in range(top, min(layers, top + step)):
                for y in range(left, min(rows, left + step)):
                    for c in range(columns):
                        far[c] = farther(far[c], values[z, y, c])
            for j in range(made.shape[2]):
                best = far[j * step]
                for c in range(j * step + 1, min(columns, (j + 1) * step)):
                    best = farther(best, far[c])
                made[i // high, i % high, j] = best
