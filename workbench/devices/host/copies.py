"""Copies in host memory on all cores."""

from __future__ import annotations

import numpy as np

from workbench.compiler.words import shared, threads
from workbench.jit.compiled import kernel
from workbench.jit.threads import launch

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
