"""Products with CSR matrices, rows in parallel.

Indices are viewed as unsigned, which spares numba the test for negative ones in the gather loop.
"""

from __future__ import annotations

import numpy as np

from workbench.devices.cpu.block_products import BlockCsrProduct
from workbench.devices.operator_protocols import OperatorTraits
from workbench.devices.traffic import csr_bytes, product_bytes, product_flops, term_bytes, term_flops
from workbench.jit.compiled import REORDERED, kernel
from workbench.jit.dot_sums import total
from workbench.jit.indices import as_unsigned
from workbench.jit.threads import launch, prepare
from workbench.jit.work_stealing import shared, threads
from workbench.lines.types import accumulator

ENTRIES_PER_CHUNK = 65536


class CsrProduct(OperatorTraits):
    """out = A x, with (x, out), (out, out) and (x, x) in the same pass.

    data (nnz,), indices (nnz,), indptr (N + 1,) as in scipy.sparse.csr_array.
    """

    def __init__(self, data: np.ndarray, indices: np.ndarray, indptr: np.ndarray) -> None:
        self._data = data
        self._indices, self._indptr = as_unsigned(indices), as_unsigned(indptr)
        self._dots = np.zeros(3, accumulator(data.dtype))
        bounds = _even_chunks(indptr)
        self._sums = (bounds, np.zeros((bounds.size - 1, 3), self._dots.dtype), self._dots)
        vector = np.empty(0, data.dtype)
        prepare(_product, data, self._indices, self._indptr, vector, vector, *self._sums)

    def apply(self, x: np.ndarray, out: np.ndarray, *_: str) -> np.ndarray:
        launch(self._data.size, _product, self._data, self._indices, self._indptr, x, out, *self._sums)
        return self._dots

    def block(self, columns: int, *, added: bool = False) -> BlockCsrProduct:
        """The product with N x columns block vectors; added: out = out + A x."""
        return BlockCsrProduct(self._data, self._indices, self._indptr, self._sums[0], columns, added=added)

    @property
    def traffic(self) -> int:
        rows = self._indptr.size - 1
        matrix = csr_bytes(rows, self._data.size, self._data.itemsize, self._indices.itemsize)
        return product_bytes(matrix, rows, self._data.itemsize)

    @property
    def flops(self) -> int:
        return product_flops(self._data.size, self._data.dtype)


class CsrTerm:
    """One term of a truncated Neumann series: out = (base - L x)*scale, with L in CSR form and scale optional.

    summed: the dot products are asked for, with another vector than base.
    """

    def __init__(
        self,
        data: np.ndarray,
        indices: np.ndarray,
        indptr: np.ndarray,
        scale: np.ndarray | None = None,
        *,
        summed: bool = False,
    ) -> None:
        self._data, self._summed = data, summed
        self._indices, self._indptr = as_unsigned(indices), as_unsigned(indptr)
        self._scale = np.empty(0, data.dtype) if scale is None else scale
        self._dots = np.zeros(3, accumulator(data.dtype))
        bounds = _even_chunks(indptr)
        self._sums = (bounds, np.zeros((bounds.size - 1, 3), self._dots.dtype), self._dots)
        vector = np.empty(0, data.dtype)
        prepare(_term, data, self._indices, self._indptr, *[vector] * 4, self._scale, *self._sums)

    def apply(self, base: np.ndarray, x: np.ndarray, out: np.ndarray, paired: np.ndarray) -> np.ndarray:
        """out = (base - L x)*scale; the dot products are those of `paired` and out. `out` must not be x."""
        launch(
            self._data.size,
            _term,
            self._data,
            self._indices,
            self._indptr,
            base,
            x,
            out,
            paired,
            self._scale,
            *self._sums,
        )
        return self._dots

    @property
    def traffic(self) -> int:
        rows, item = self._indptr.size - 1, self._data.itemsize
        matrix = csr_bytes(rows, self._data.size, item, self._indices.itemsize)
        return term_bytes(matrix, rows, item, scaled=self._scale.size > 0, summed=self._summed)

    @property
    def flops(self) -> int:
        rows = self._indptr.size - 1
        return term_flops(self._data.size, rows, self._data.dtype, scaled=self._scale.size > 0)


def _even_chunks(indptr: np.ndarray) -> np.ndarray:
    """Row bounds of chunks with about equally many entries; their number depends on the matrix alone."""
    rows, entries = indptr.size - 1, int(indptr[-1])
    chunks = max(1, min(rows, entries // ENTRIES_PER_CHUNK))
    bounds = np.searchsorted(indptr, np.linspace(0, entries, chunks + 1))
    bounds[0], bounds[-1] = 0, rows
    return np.unique(bounds).astype(np.uint64)


@kernel(error_model="numpy", fastmath=REORDERED)
def _product(taken, data, indices, indptr, x, y, bounds, partial, dots):  # pragma: no cover
    wide = dots.dtype.type
    for thread in threads(taken):
        for chunk in shared(taken, thread, partial.shape[0]):
            xy, yy, xx = wide(0), wide(0), wide(0)
            for row in range(bounds[chunk], bounds[chunk + 1]):
                value = data.dtype.type(0)
                for j in range(indptr[row], indptr[row + 1]):
                    value += data[j] * x[indices[j]]
                y[row] = value
                left, right = wide(x[row]), wide(value)
                xy += np.conj(left) * right
                yy += np.conj(right) * right
                xx += np.conj(left) * left
            partial[chunk, 0], partial[chunk, 1], partial[chunk, 2] = xy, yy, xx
    total(partial, dots)


@kernel(error_model="numpy", fastmath=REORDERED)
def _term(taken, data, indices, indptr, base, x, y, paired, scale, bounds, partial, dots):  # pragma: no cover
    wide = dots.dtype.type
    for thread in threads(taken):
        for chunk in shared(taken, thread, partial.shape[0]):
            xy, yy, xx = wide(0), wide(0), wide(0)
            for row in range(bounds[chunk], bounds[chunk + 1]):
                value = base[row]
                for j in range(indptr[row], indptr[row + 1]):
                    value -= data[j] * x[indices[j]]
                if scale.size > 0:
                    value *= scale[row]
                y[row] = value
                left, right = wide(paired[row]), wide(value)
                xy += np.conj(left) * right
                yy += np.conj(right) * right
                xx += np.conj(left) * left
            partial[chunk, 0], partial[chunk, 1], partial[chunk, 2] = xy, yy, xx
    total(partial, dots)
