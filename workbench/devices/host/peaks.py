"""Reduction of a plane or a 3D grid of values for drawing: the value farthest from zero of each block of cells."""

from __future__ import annotations

import numpy as np

from workbench.compiler.words import shared, threads
from workbench.jit.compiled import kernel
from workbench.jit.threads import cores, launch


def peaks(values: np.ndarray, step: int) -> np.ndarray:
    """The value of largest magnitude of each block of `step` cells per side of a real array, with its sign.

    values: shape (rows, columns) or (layers, rows, columns). Of a and -a the positive one; NaN where the block has one.
    Blocks at the end of a side may be smaller.

    Returns a new array with ceil(cells / step) entries per side. Cost: one read of the values, with the GIL released;
    an array that is not contiguous is copied first.
    """
    shape = [-(-cells // step) for cells in values.shape]
    # A plane is a grid of one layer.
    values = np.ascontiguousarray(values).reshape(-1, *values.shape[-2:])
    made = np.empty([*[1] * (3 - len(shape)), *shape], values.dtype)
    room = np.empty((cores(), values.shape[2]), values.dtype)
    launch(values.size, _peaks, values, step, room, made)
    return made.reshape(shape)


@kernel()
def _peaks(taken, values, step, room, made):  # pragma: no cover
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
                        far[c] = _farther(far[c], values[z, y, c])
            for j in range(made.shape[2]):
                best = far[j * step]
                for c in range(j * step + 1, min(columns, (j + 1) * step)):
                    best = _farther(best, far[c])
                made[i // high, i % high, j] = best


def _farther(a, b):  # pragma: no cover
    """The one of larger magnitude."""
    # NaN counts as larger than everything and is never replaced.
    taken = (abs(b) > abs(a)) | ((abs(b) == abs(a)) & (b > a)) | (b != b)
    return b if taken else a
