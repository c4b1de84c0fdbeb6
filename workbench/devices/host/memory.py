"""Aligned vectors with margins, so that results do not depend on addresses."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

LINE = 64
"""Bytes of a cache line, and of the longest vector register."""
MARGIN = 1024


def vector(size: int, dtype: np.dtype | type, room: Callable[[int], np.ndarray] | None = None) -> np.ndarray:
    """Zeros of shape (size,) that start on a cache line, with 1 KiB of no use before and after.

    Vectorized loops test at run time whether arrays that they write and read overlap, and then sum in another order.
    With a margin around every written vector they never do, so dot products do not depend on addresses.

    room: allocator of bytes, shape (nbytes,), dtype uint8, for example of pinned memory; by default the heap.
    """
    dtype = np.dtype(dtype)
    nbytes = size * dtype.itemsize
    whole = (room or _heap)(nbytes + 2 * MARGIN + LINE)
    start = MARGIN + -(whole.ctypes.data + MARGIN) % LINE
    made = whole[start : start + nbytes].view(dtype)
    if room:
        made[:] = 0
    return made


def _heap(nbytes: int) -> np.ndarray:
    return np.zeros(nbytes, np.uint8)
