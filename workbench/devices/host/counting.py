"""Counts of nonzero entries of an array, on all cores."""

from __future__ import annotations

import numpy as np

from workbench.compiler.words import shared, threads
from workbench.jit.compiled import kernel
from workbench.jit.threads import chunks_of, launch


def nonzeros(values: np.ndarray) -> int:
    """The count of `numpy.count_nonzero`, for contiguous arrays of shape (N,)."""
    counts = np.zeros(chunks_of(values.size), np.int64)
    launch(values.size, _count, values, counts)
    return int(counts.sum())


@kernel()
def _count(taken, values, counts):  # pragma: no cover
    chunks = counts.size
    for thread in threads(taken):
        for chunk in shared(taken, thread, chunks):
            found = 0
            for i in range(values.size * chunk // chunks, values.size * (chunk + 1) // chunks):
                found += values[i] != 0
            counts[chunk] = found
