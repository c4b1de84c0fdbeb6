"""The sparsity pattern of a matrix in pixels."""

from __future__ import annotations

import numpy as np

from workbench.lazy import sparse

CHUNK = 1 << 22


def pattern_counts(matrix: sparse.csr_array, pixels: int = 256, every: int = 1) -> np.ndarray:
    """Entries per pixel of an image of at most pixels x pixels, row 0 at the top.

    every: count only every such row, as a sample of a large matrix; those rows are copied. Cost: one pass over the
    indices of the rows counted.

    Examples:
        >>> from scipy import sparse
        >>> from workbench.plots.figures import pattern_counts
        >>> pattern_counts(sparse.csr_array(sparse.eye_array(8)), pixels=2).tolist()
        [[4, 0], [0, 4]]
    """
    size = matrix.shape[0]
    side = min(size, pixels)
    counts = np.zeros(side * side, dtype=np.int64)
    counted = matrix if every == 1 else matrix[::every]
    # In chunks, to avoid 64-bit copies of all indices of a large matrix.
    for first in range(0, counted.nnz, CHUNK):
        columns = counted.indices[first : first + CHUNK].astype(np.int64)
        rows = np.searchsorted(counted.indptr, np.arange(first, first + columns.size), side="right") - 1
        places = rows * every * side // size * side + columns * side // size
        counts += np.bincount(places, minlength=side * side)
    return counts.reshape(side, side)
