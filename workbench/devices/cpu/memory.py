"""Vectors laid out so that kernels treat all of them alike."""

from __future__ import annotations

import numpy as np

LINE = 64
"""Bytes of a cache line, and of the longest vector register."""
MARGIN = 1024


def vector(size: int, dtype: np.dtype | type) -> np.ndarray:
    """Zeros of shape (size,) that start on a cache line, with 1 KiB of no use before and after.

    Compiled loops test whether what they write comes near what they read and then sum in another order. With a margin
    around every written vector they never do, so dot products do not depend on where the heap put the vectors.
    """
    dtype = np.dtype(dtype)
    room = np.zeros(size * dtype.itemsize + 2 * MARGIN + LINE, np.uint8)
    start = MARGIN + -(room.ctypes.data + MARGIN) % LINE
    return room[start : start + size * dtype.itemsize].view(dtype)
