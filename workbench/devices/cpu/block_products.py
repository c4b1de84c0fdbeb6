"""Products with N x s block vectors, row-major: each row of the matrix is read once for all s columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from workbench.devices.cpu import generated
from workbench.devices.cpu.compiled import REORDERED, kernel
from workbench.devices.cpu.threads import chunks_of, launch, prepare
from workbench.devices.cpu.work_stealing import shared, threads
from workbench.devices.traffic import product_flops


class BlockCsrProduct:
    """out = A x for a CSR matrix. bounds: first rows of the chunks, and N."""

    offers: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self, data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, bounds: np.ndarray, columns: int
    ) -> None:
        self._matrix, self._bounds, self._columns = (data, indices, indptr), bounds, columns
        block = np.empty((0, columns), data.dtype)
        prepare(_csr, *self._matrix, block, block, bounds)

    def apply(self, x: np.ndarray, out: np.ndarray) -> None:
        launch(self._matrix[0].size, _csr, *self._matrix, x, out, self._bounds)

    @property
    def traffic(self) -> int:
        data, _, indptr = self._matrix
        blocks = 2 * (indptr.size - 1) * self._columns * data.itemsize
        return sum(array.nbytes for array in self._matrix) + blocks

    @property
    def flops(self) -> int:
        data = self._matrix[0]
        return product_flops(data.size * self._columns, data.dtype)


@kernel(error_model="numpy", fastmath=REORDERED)
def _csr(taken, data, indices, indptr, x, y, bounds):  # pragma: no cover
    for thread in threads(taken):
        for chunk in shared(taken, thread, bounds.size - 1):
            for row in range(bounds[chunk], bounds[chunk + 1]):
                for k in range(y.shape[1]):
                    y[row, k] = 0
                for j in range(indptr[row], indptr[row + 1]):
                    value, column = data[j], indices[j]
                    for k in range(y.shape[1]):
                        y[row, k] += value * x[column, k]


class BlockStencilProduct:
    """out = A x for a symmetric stencil. main: the diagonal, or one number where it is constant."""

    offers: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self, size: int, main: np.ndarray, lower: Sequence[np.ndarray], strides: np.ndarray, columns: int
    ) -> None:
        chunks = chunks_of(size * columns)
        bounds = size * np.arange(chunks + 1, dtype=np.int64) // chunks
        self._size, self._columns, self._bands = size, columns, len(lower)
        self._kernel = generated.kernel(stencil_text(len(lower), main.dtype, constant=main.size == 1 < size))
        self._fixed = (main, *lower, strides, bounds)
        block = np.empty((0, columns), main.dtype)
        prepare(self._kernel, block, block, *self._fixed)

    def apply(self, x: np.ndarray, out: np.ndarray) -> None:
        launch(x.size, self._kernel, x, out, *self._fixed)

    @property
    def traffic(self) -> int:
        words = (self._bands + 2 * self._columns) * self._size
        return words * self._fixed[0].itemsize + (self._fixed[0].nbytes if self._fixed[0].size > 1 else 0)

    @property
    def flops(self) -> int:
        entries = (2 * self._bands + 1) * self._size
        return product_flops(entries * self._columns, self._fixed[0].dtype)


def stencil_text(bands: int, dtype: np.dtype, *, constant: bool) -> str:
    """The kernel of the product, row by row: tests at the boundary of the grid are made once for all columns."""
    lows = ", ".join(f"low{k}" for k in range(bands))
    text = [f"def kernel(taken, x, y, main, {lows}, strides, bounds):", "    n, columns = x.shape"]
    text += [f"    d{k} = strides[{k}]" for k in range(bands)]
    body = ["for i in range(bounds[chunk], bounds[chunk + 1]):"]
    body += ["    for k in range(columns):", f"        y[i, k] = main[{0 if constant else 'i'}]*x[i, k]"]
    for k in range(bands):
        above = f"low{k}[i + d{k}]"
        above = f"np.conj({above})" if dtype.kind == "c" else above
        for test, entry, row in (
            (f"i >= d{k}", f"low{k}[i]", f"i - d{k}"),
            (f"i + d{k} < n", above, f"i + d{k}"),
        ):
            body += [f"    if {test}:", f"        entry = {entry}", "        for k in range(columns):"]
            body += [f"            y[i, k] += entry*x[{row}, k]"]
    text += [f"    {line}" for line in generated.over("bounds.size - 1", body)]
    return "\n".join(text) + "\n"
