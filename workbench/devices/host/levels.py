"""Level sets of triangular solves: rows of one level do not depend on one another."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.jit.compiled import kernel
from workbench.jit.threads import launch


class LevelsOfBlocks(NamedTuple):
    """The rows of a triangle block by block, those of a block level by level.

    rows: shape (N,). level_starts: the place in `rows` of the first row of each level, then N, shape (levels + 1,).
    block_starts: the number of the first level of each block, then that of all levels, shape (blocks + 1,).
    """

    rows: np.ndarray
    level_starts: np.ndarray
    block_starts: np.ndarray


def levels_of_blocks(indices: np.ndarray, indptr: np.ndarray, block: int | np.ndarray) -> LevelsOfBlocks:
    """The levels of a strictly lower triangle in CSR form, which must not couple different blocks of `block` rows.

    block: also the block of each row, shape (N,).

    Cost: O(nnz + N log N) on one core.
    """
    size = indptr.size - 1
    level = np.zeros(size, np.int64)
    launch(0, _levels, indices.astype(np.int64), indptr.astype(np.int64), level)
    block_of_row = block if isinstance(block, np.ndarray) else np.arange(size) // block
    rows = np.lexsort((level, block_of_row))
    sorted_blocks = block_of_row[rows]
    starts_level = (np.diff(level[rows], prepend=-1) != 0) | (np.diff(sorted_blocks, prepend=-1) != 0)
    level_starts = np.flatnonzero(starts_level)
    block_starts = np.searchsorted(sorted_blocks[level_starts], np.arange(block_of_row.max() + 2))
    return LevelsOfBlocks(rows, np.append(level_starts, size), block_starts)


@kernel()
def _levels(taken, indices, indptr, level):  # pragma: no cover
    # The level of a row is one more than the highest of the rows that it needs.
    for i in range(level.size):
        for j in range(indptr[i], indptr[i + 1]):
            level[i] = max(level[i], level[indices[j]] + 1)
