"""Factorized sparse approximate inverses: a small dense solve per row, and the two products with the factor."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from workbench.devices.cpu.csr import CsrProduct
from workbench.devices.operator_protocols import OperatorTraits
from workbench.jit.compiled import REORDERED, kernel
from workbench.jit.dot_sums import total
from workbench.jit.indices import as_unsigned
from workbench.jit.threads import chunks_of, launch, prepare
from workbench.jit.work_stealing import shared, threads
from workbench.lines.types import accumulator


class FactorizedInverse(OperatorTraits):
    """u = G^H (G r) for a lower triangular G in CSR form, with (r, u), (u, u) and (r, r) in the second product.

    G^H is stored as a separate CSR matrix; work space is one vector.
    """

    def __init__(self, factor: sparse.csr_array) -> None:
        self._lower = CsrProduct(factor.data, factor.indices, factor.indptr)
        upper = sparse.csr_array(factor.conj().T.tocsr())
        self._upper = (upper.data, as_unsigned(upper.indices), as_unsigned(upper.indptr))
        self._middle = np.zeros(upper.shape[0], upper.dtype)
        self._dots = np.zeros(3, accumulator(upper.dtype))
        partial = np.zeros((chunks_of(self._middle.size), 3), self._dots.dtype)
        self._fixed = (self._middle, partial, self._dots)
        prepare(_paired_product, *self._upper, self._middle, self._middle, *self._fixed)

    def apply(self, r: np.ndarray, u: np.ndarray, *_: str) -> np.ndarray:
        """u = G^H G r; computes all three dot products. The two may not be the same vector."""
        self._lower.apply(r, self._middle)
        launch(self._upper[0].size, _paired_product, *self._upper, r, u, *self._fixed)
        return self._dots

    @property
    def traffic(self) -> int:
        return 2 * self._lower.traffic + self._middle.nbytes

    @property
    def flops(self) -> int:
        return 2 * self._lower.flops


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
    launch(16 * size, _factor, lower.data.astype(dtype), *places, values, longest, failed)
    broken = failed[failed >= 0]
    factor = sparse.csr_array((values.astype(matrix.dtype), lower.indices, lower.indptr), shape=lower.shape)
    return factor, int(broken[0]) if broken.size else -1


@kernel(error_model="numpy")
def _factor(taken, lower, indices, indptr, values, longest, failed):  # pragma: no cover
    rows, chunks = indptr.size - 1, failed.size
    for thread in threads(taken):
        for chunk in shared(taken, thread, chunks):
            small = np.empty((longest, longest), lower.dtype)
            g = np.empty(longest, lower.dtype)
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


@kernel(error_model="numpy", fastmath=REORDERED)
def _paired_product(taken, data, indices, indptr, r, u, x, partial, dots):  # pragma: no cover
    wide = dots.dtype.type
    rows, chunks = u.size, partial.shape[0]
    for thread in threads(taken):
        for chunk in shared(taken, thread, chunks):
            ru, uu, rr = wide(0), wide(0), wide(0)
            for row in range(rows * chunk // chunks, rows * (chunk + 1) // chunks):
                value = data.dtype.type(0)
                for j in range(indptr[row], indptr[row + 1]):
                    value += data[j] * x[indices[j]]
                u[row] = value
                left, right = wide(r[row]), wide(value)
                ru += np.conj(left) * right
                uu += np.conj(right) * right
                rr += np.conj(left) * left
            partial[chunk, 0], partial[chunk, 1], partial[chunk, 2] = ru, uu, rr
    total(partial, dots)
