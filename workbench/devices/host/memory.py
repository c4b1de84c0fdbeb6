"""Aligned vectors with margins, so that results do not depend on addresses, and copies in host memory on all cores."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from workbench.compiler.words import shared, threads
from workbench.jit.compiled import kernel
from workbench.jit.threads import launch

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


BYTES_PER_CHUNK = 1 << 18


def copy_bytes(source: np.ndarray, target: np.ndarray) -> None:
    """target = source, two contiguous arrays of bytes of one size. Cost: one read and one write."""
    # One compiled kernel serves sources that may be written and those that may not.
    source = source.view()
    source.flags.writeable = False
    launch(source.size, _copy, source, target, max(1, source.size // BYTES_PER_CHUNK))


@kernel()
def _copy(taken, source, target, chunks):  # pragma: no cover
    size = source.size
    for thread in threads(taken):
        for chunk in shared(taken, thread, chunks):
            low, high = size * chunk // chunks, size * (chunk + 1) // chunks
            # A loop from zero over slices is vectorized.
            read, written = source[low:high], target[low:high]
            for i in range(high - low):
                written[i] = read[i]
