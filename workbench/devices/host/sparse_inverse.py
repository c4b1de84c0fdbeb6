"""The factor of a factorized sparse approximate inverse: a small dense solve per row."""

from __future__ import annotations

import numpy as np

from workbench.compiler.words import shared, threads
from workbench.jit.compiled import kernel
from workbench.jit.threads import chunks_of, cores, launch
from workbench.lazy import sparse


def inverse_factor(matrix: sparse.csr_array) -> tuple[sparse.csr_array, int]:
    """G on the pattern of the lower triangle of a Hermitian matrix with sorted indices and a whole diagonal.

    diag(G A G^H) = 1. Returns G and the first row whose small matrix is not positive definite, or -1. Cost: the number
    of entries in a row of the lower triangle, cubed, summed over rows; rows in parallel.
    """
    lower = sparse.csr_array(sparse.tril(matrix, format="csr"))
    lower.sort_indices()
    dtype = np.complex128 if matrix.dtype.kind == "c" else np.float64
    size = lower.shape[0]
    values, chunks = np.zeros(lower.nnz, dtype), chunks_of(16 * size)
    failed = np.full(chunks, -1, np.int64)
    longest = int(np.diff(lower.indptr).max())
    places = (lower.indices.astype(np.int64), lower.indptr.astype(np.int64))
    room = np.empty((cores(), longest + 1, longest), dtype)
    launch(16 * size, _factor, lower.data.astype(dtype), *places, values, room, failed)
    broken = failed[failed >= 0]
    factor = sparse.csr_array((values.astype(matrix.dtype), lower.indices, lower.indptr), shape=lower.shape)
    return factor, int(broken[0]) if broken.size else -1


@kernel()
def _factor(taken, lower, indices, indptr, values, room, failed):  # pragma: no cover
    rows, chunks = indptr.size - 1, failed.size
    for thread in threads(taken):
        small, g = room[thread], room[thread, room.shape[1] - 1]
        for chunk in shared(taken, thread, chunks):
            for row in range(rows * chunk // chunks, rows * (chunk + 1) // chunks):
                begin = indptr[row]
                count = indptr[row + 1] - begin
                for i in range(count):
                    line = indices[begin + i]
                    # Both lists ascend: entries of A in row `line` and in the columns of the pattern.
                    j = indptr[line]
                    for k in range(i + 1):
                        column = indices[begin + k]
                        while j < indptr[line + 1] and indices[j] < column:
                            j += 1
                        small[i, k] = lower[j] if j < indptr[line + 1] and indices[j] == column else 0
                # small = K K^H in place; the row of G is the last one of K^-1, so that (G A G^H) = 1 there.
                usable = True
                for i in range(count):
                    for k in range(i + 1):
                        value = small[i, k]
                        for m in range(k):
                            value -= small[i, m] * np.conj(small[k, m])
                        if k < i:
                            small[i, k] = value / small[k, k]
                        else:
                            usable &= value.real > 1e-13 * abs(small[i, i])
                            small[i, i] = np.sqrt(value.real)
                if not usable:
                    failed[chunk] = row
                    break
                for i in range(count - 1, -1, -1):
                    value = lower.dtype.type(1 if i == count - 1 else 0)
                    for m in range(i + 1, count):
                        value -= small[m, i] * g[m]
                    g[i] = value / small[i, i]
                for i in range(count):
                    values[begin + i] = g[i]
