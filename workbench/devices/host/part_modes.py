"""Modes of parts: the rows of some near-null vectors, made orthonormal within each part; and matrices of nodes."""

from __future__ import annotations

import numpy as np

from workbench.compiler.words import shared, threads
from workbench.devices.host.aggregation import Csr
from workbench.jit.compiled import kernel
from workbench.jit.threads import launch
from workbench.lazy import sparse

NODES = (6, 3, 2)
"""Unknowns of a node that are tried."""
LEAST = 1e-8
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
    data = -np.sqrt(np.sum(np.abs(blocks.data) ** 2, axis=(1, 2)))
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
    launch(made.size, _orthonormalize, made, order, starts, LEAST, kept)
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
