"""The two products with the factor of a factorized sparse approximate inverse."""

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
