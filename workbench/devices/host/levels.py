"""Level sets of triangular solves: rows of one level do not depend on one another."""

from __future__ import annotations

import numpy as np

from workbench.jit.compiled import kernel
from workbench.jit.threads import launch


def levels_of_blocks(indices: np.ndarray, indptr: np.ndarray, block: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of a strictly lower triangle, without couplings between blocks of `block` rows, block by block in levels.

    Returns the rows in that order, shape (N,), where each level begins in it, and which is the first level of each
    block, both with one more entry at the end. O(nnz), one core.
    """
    size = indptr.size - 1
    level = np.zeros(size, np.int64)
    launch(0, _levels, indices.astype(np.int64), indptr.astype(np.int64), level)
    part = np.arange(size) // block
    order = np.lexsort((level, part))
    begins = np.diff(level[order], prepend=-1) != 0
    begins |= np.diff(part[order], prepend=-1) != 0
    bounds = np.flatnonzero(begins)
    firsts = np.searchsorted(part[order][bounds], np.arange(part[-1] + 2))
    return order, np.append(bounds, size), firsts


@kernel()
def _levels(taken, indices, indptr, level):  # pragma: no cover
    for i in range(level.size):
        for j in range(indptr[i], indptr[i + 1]):
            level[i] = max(level[i], level[indices[j]] + 1)
