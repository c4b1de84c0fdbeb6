"""Near-null vectors of a sparse matrix in parts of its unknowns: nodes, orthonormal modes, and Galerkin sums."""

from __future__ import annotations

import numpy as np

from workbench.compiler.words import shared, threads
from workbench.devices.host.aggregation import GROUPS_PER_CHUNK, Csr
from workbench.jit.compiled import kernel
from workbench.jit.threads import cores, launch
from workbench.lazy import sparse

NODES = (6, 3, 2)
"""Unknowns of a node that are tried."""
INDEPENDENT = 1e-8
"""The part of a mode that is left next to the modes before it, at least; else it depends on them."""


def node_size(near_null: np.ndarray) -> int:
    """Unknowns of a node: the largest b of `NODES` whose translations are the first b vectors of shape (N, m), as those
    of rigid bodies are; 1 without one."""
    rows, vectors = near_null.shape
    for b in NODES:
        if rows % b == 0 and vectors >= b:
            translations = near_null[:, :b].reshape(-1, b, b)
            if np.array_equal(translations, np.broadcast_to(np.eye(b), translations.shape)):
                return b
    return 1


def matrix_of_nodes(matrix: sparse.csr_array, node: int) -> Csr:
    """A matrix with a row for each node, whose couplings are minus the Frobenius norms of those of A, and 1 on the
    diagonal. Cost: a copy of A."""
    blocks = sparse.bsr_array(matrix, blocksize=(node, node))
    # Squares of entries over the largest one do not underflow together.
    largest = float(np.abs(blocks.data).max(initial=0)) or 1.0
    data = -largest * np.sqrt(np.sum((np.abs(blocks.data) / largest) ** 2, axis=(1, 2)))
    rows = np.repeat(np.arange(blocks.indptr.size - 1), np.diff(blocks.indptr))
    data[blocks.indices == rows] = 1
    return data, blocks.indices, blocks.indptr.astype(np.int64)


def orthonormal_modes(vectors: np.ndarray, labels: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows of `vectors`, shape (N, m), such that those of each part have orthonormal columns with the same span,
    and which columns of each part are kept, shape (count, m); others are zero.

    labels: the part of each row, in 0..count-1. Cost: two passes of Gram-Schmidt, 4 N m^2 operations, parts in
    parallel.

    Source: QR of the near null space in each aggregate, Vaněk, Mandel and Brezina 1996.
    """
    made = np.ascontiguousarray(vectors, np.result_type(vectors.dtype, np.float64)).copy()
    order = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[order], np.arange(count + 1))
    kept = np.zeros((count, vectors.shape[1]), bool)
    launch(made.size, _orthonormalize, made, order, starts, INDEPENDENT, kept)
    return made, kept


@kernel()
def _orthonormalize(taken, vectors, order, starts, least, kept):  # pragma: no cover
    columns = vectors.shape[1]
    for thread in threads(taken):
        for part in shared(taken, thread, starts.size - 1):
            first, end = starts[part], starts[part + 1]
            for k in range(columns):
                before = _length(vectors, order, first, end, k)
                # Twice is enough for orthogonality to rounding.
                for _ in range(2):
                    for other in range(k):
                        if kept[part, other]:
                            share = vectors.dtype.type(0)
                            for at in range(first, end):
                                share += np.conj(vectors[order[at], other]) * vectors[order[at], k]
                            for at in range(first, end):
                                vectors[order[at], k] -= share * vectors[order[at], other]
                length = _length(vectors, order, first, end, k)
                kept[part, k] = length > least * before
                scale = 1 / length if length > least * before else 0.0
                for at in range(first, end):
                    vectors[order[at], k] *= scale


def _length(vectors, order, first, end, k):  # pragma: no cover
    """The norm of column k of the rows of a part."""
    total = 0.0
    for at in range(first, end):
        total += abs(vectors[order[at], k]) ** 2
    return np.sqrt(total)


def modes_below(vectors: np.ndarray, modes: np.ndarray, order: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """The near-null vectors of the sums over parts, Q^H B of each part, shape (parts m, m): row m g + k is that of mode
    k of part g. vectors: B, shape (N, m); modes: Q. Part g has the rows order[starts[g]] to order[starts[g + 1] - 1].

    Cost: 2 N m^2 operations, parts in parallel.
    """
    count, columns = starts.size - 1, vectors.shape[1]
    vectors = np.ascontiguousarray(vectors)
    made = np.zeros((count, columns, columns), np.result_type(vectors, modes))
    launch(modes.size, _project, vectors, modes, order, starts, made)
    return made.reshape(-1, columns)


def summed_modes(
    matrix: Csr, modes: np.ndarray, order: np.ndarray, starts: np.ndarray, parents: np.ndarray
) -> tuple[Csr, Csr]:
    """Q^H A Q for modes Q of parts, and the matrix of its nodes, which are parts, as `matrix_of_nodes`.

    modes: shape (N, m); order, starts: as in `modes_below`; parents: the part of each row. Row m g + k is that of mode
    k of part g, and each coupling of two parts a full block, that of a part with itself first. A mode that is zero in
    its part has a row of zeros. Cost: reads the matrix twice, and 2 nnz m^2 operations.
    """
    data, indices, indptr = matrix
    groups, columns = starts.size - 1, modes.shape[1]
    chunks, ends = max(1, groups // GROUPS_PER_CHUNK), np.zeros(groups + 1, np.int64)
    room = np.full((cores(), 2, groups), -1, np.int64)
    dtype = np.result_type(data, modes)
    given = (data, indices, indptr, modes, order, starts, parents, chunks)
    nothing = np.empty((0, columns, columns), dtype), np.empty(0, np.int32)
    launch(data.size, _sum_modes, *given, room, False, *nothing, ends)
    np.cumsum(ends, out=ends)
    blocks, names = np.zeros((ends[-1], columns, columns), dtype), np.empty(ends[-1], np.int32)
    room.fill(-1)
    launch(data.size, _sum_modes, *given, room, True, blocks, names, ends)
    made = np.empty(blocks.size, dtype), np.empty(blocks.size, np.int32), np.full(groups * columns + 1, blocks.size)
    # Squares of entries over the largest one do not underflow together.
    norms, largest = np.empty(names.size), float(np.abs(blocks).max(initial=0)) or 1.0
    launch(blocks.size, _by_rows, blocks, names, ends, chunks, largest, *made, norms)
    return made, (norms, names, ends)


@kernel()
def _project(taken, vectors, modes, order, starts, made):  # pragma: no cover
    columns = modes.shape[1]
    for thread in threads(taken):
        for part in shared(taken, thread, starts.size - 1):
            for at in range(starts[part], starts[part + 1]):
                i = order[at]
                for k in range(columns):
                    for other in range(columns):
                        made[part, k, other] += np.conj(modes[i, k]) * vectors[i, other]


@kernel()
def _sum_modes(
    taken, data, indices, indptr, modes, order, starts, parents, chunks, room, fill, blocks, names, ends
):  # pragma: no cover
    groups, columns = starts.size - 1, modes.shape[1]
    for thread in threads(taken):
        # Where the block of this group with that one is, and the last group that has one.
        places, owners = room[thread, 0], room[thread, 1]
        for chunk in shared(taken, thread, chunks):
            for group in range(groups * chunk // chunks, groups * (chunk + 1) // chunks):
                at = ends[group] if fill else 0
                owners[group], places[group] = group, at
                if fill:
                    names[at] = group
                at += 1
                for row in range(starts[group], starts[group + 1]):
                    i = order[row]
                    for j in range(indptr[i], indptr[i + 1]):
                        other = parents[indices[j]]
                        if owners[other] != group:
                            owners[other], places[other] = group, at
                            if fill:
                                names[at] = other
                            at += 1
                        if fill:
                            for k in range(columns):
                                left = np.conj(modes[i, k]) * data[j]
                                for m in range(columns):
                                    blocks[places[other], k, m] += left * modes[indices[j], m]
                if not fill:
                    ends[group + 1] = at


@kernel()
def _by_rows(taken, blocks, names, ends, chunks, largest, data, indices, indptr, norms):  # pragma: no cover
    groups, columns = ends.size - 1, blocks.shape[1]
    for thread in threads(taken):
        for chunk in shared(taken, thread, chunks):
            for group in range(groups * chunk // chunks, groups * (chunk + 1) // chunks):
                first, width = ends[group], (ends[group + 1] - ends[group]) * columns
                for at in range(first, ends[group + 1]):
                    total = 0.0
                    for k in range(columns):
                        begin = first * columns * columns + k * width + (at - first) * columns
                        for m in range(columns):
                            data[begin + m], indices[begin + m] = blocks[at, k, m], names[at] * columns + m
                            total += (abs(blocks[at, k, m]) / largest) ** 2
                    norms[at] = 1.0 if names[at] == group else -largest * np.sqrt(total)
                for k in range(columns):
                    indptr[group * columns + k] = first * columns * columns + k * width
