"""Counts of nonzero entries of an array, on all cores, and rows of a CSR matrix counted into tiles."""

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


def tiles_of(indptr: np.ndarray, most: int) -> np.ndarray:
    """First rows of the tiles, and N. A tile has at most `most` entries, or is one row. Cost: a read on one core."""
    bounds, count = np.zeros(indptr.size, np.int64), np.zeros(1, np.int64)
    launch(0, _bound_tiles, indptr, most, bounds, count)
    return bounds[: int(count[0]) + 1].copy()


@kernel()
def _bound_tiles(taken, indptr, most, bounds, count):  # pragma: no cover
    first, tiles = 0, 0
    for row in range(1, indptr.size):
        # The row before ends the tile where this one does not fit.
        if indptr[row] - indptr[first] > most and row - first > 1:
            first = row - 1
            tiles += 1
            bounds[tiles] = first
    if indptr.size > 1:
        tiles += 1
        bounds[tiles] = indptr.size - 1
    count[0] = tiles
