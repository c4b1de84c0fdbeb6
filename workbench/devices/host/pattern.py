"""Patterns of incomplete factorizations: entries by their level of fill, and unknowns by colours."""

from __future__ import annotations

import numpy as np

from workbench.jit.compiled import kernel
from workbench.jit.threads import launch
from workbench.lazy import sparse


def with_fill(matrix: sparse.csr_array, fill: int) -> sparse.csr_array:
    """A Hermitian matrix with zeros stored where its factors have entries of a level of fill from 1 to `fill`.

    The level of (i, j) is the least level(i, k) + level(j, k) + 1 over k below i and j, that of an entry of the matrix
    being 0. Rows are sorted. Cost: sparse products of the entries of a level, fill (fill + 1)/2 of them.

    Source: Saad 2003, section 10.3.3.
    """
    by_level = [_ones(sparse.csr_array(sparse.tril(matrix, k=-1, format="csr")))]
    known = by_level[0]
    for level in range(1, fill + 1):
        pairs = [by_level[k] @ by_level[level - 1 - k].T for k in range(level)]
        reached = _ones(sparse.csr_array(sparse.tril(sum(pairs[1:], start=pairs[0]), k=-1, format="csr")))
        fresh = sparse.csr_array(reached - reached.multiply(known))
        fresh.eliminate_zeros()
        by_level.append(fresh)
        known = sparse.csr_array(known + fresh)
    entries, below = matrix.tocoo(), [each.tocoo().coords for each in by_level[1:]]
    both = [entries.coords, *below, *((column, row) for row, column in below)]
    rows, columns = (np.concatenate([each[k] for each in both]) for k in (0, 1))
    values = np.concatenate([entries.data, np.zeros(rows.size - entries.data.size, matrix.dtype)])
    made = sparse.csr_array(sparse.coo_array((values, (rows, columns)), shape=matrix.shape))
    made.sort_indices()
    return made


def colours_of(matrix: sparse.csr_array, distance: int) -> np.ndarray:
    """The colour 0, 1, .. of each unknown, int64 of shape (N,): no two within `distance` couplings have the same one.

    Greedy in the order of the unknowns, so that a grid with couplings to its nearest neighbours gets two, red and
    black. Cost: one read of the pattern of the matrix to the power `distance`, on one core.

    Source: Lukarski 2012, the power(q)-pattern of ILU(p, q).
    """
    near = pattern = _ones(matrix)
    for _ in range(distance - 1):
        near = _ones(sparse.csr_array(near @ pattern))
    rows = np.diff(near.indptr)
    colours, marks = np.full(rows.size, -1, np.int64), np.full(int(rows.max(initial=0)) + 1, -1, np.int64)
    launch(0, _greedy, near.indices.astype(np.int64), near.indptr.astype(np.int64), marks, colours)
    return colours


@kernel()
def _greedy(taken, indices, indptr, marks, colours):  # pragma: no cover
    # marks[colour] is the last row with a neighbour of that colour.
    for i in range(colours.size):
        for j in range(indptr[i], indptr[i + 1]):
            used = colours[indices[j]]
            if used >= 0:
                marks[used] = i
        colour = 0
        while marks[colour] == i:
            colour += 1
        colours[i] = colour


def _ones(matrix: sparse.csr_array) -> sparse.csr_array:
    """The pattern of a matrix, its stored zeros included, as ones."""
    return sparse.csr_array((np.ones(matrix.nnz, np.int64), matrix.indices, matrix.indptr), shape=matrix.shape)
