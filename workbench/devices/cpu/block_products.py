"""Products with N x s block vectors, row-major: each row of the matrix is read once for all s columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from workbench.devices.traffic import product_flops
from workbench.jit import generated
from workbench.jit.threads import chunks_of, launch, prepare
from workbench.jit.tiles import widths

NUMBERS = 32
"""Numbers of a row of the result that are summed at once, in registers."""
MOST_SUMS = 8
"""Sums of a tile, at most: enough to hide the latency of additions."""


class BlockCsrProduct:
    """out = A x for a CSR matrix, or out + A x if `added`. bounds: first rows of the chunks, and N."""

    offers: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self,
        data: np.ndarray,
        indices: np.ndarray,
        indptr: np.ndarray,
        bounds: np.ndarray,
        columns: int,
        *,
        added: bool = False,
    ) -> None:
        self._matrix, self._bounds, self._columns = (data, indices, indptr), bounds, columns
        block = np.empty((0, columns), data.dtype)
        self._kernel = generated.kernel(csr_text(columns, data.dtype, added=added))
        prepare(self._kernel, *self._matrix, block, block, bounds)

    def apply(self, x: np.ndarray, out: np.ndarray) -> None:
        launch(self._matrix[0].size, self._kernel, *self._matrix, x, out, self._bounds)

    @property
    def traffic(self) -> int:
        data, _, indptr = self._matrix
        blocks = 2 * (indptr.size - 1) * self._columns * data.itemsize
        return sum(array.nbytes for array in self._matrix) + blocks

    @property
    def flops(self) -> int:
        data = self._matrix[0]
        return product_flops(data.size * self._columns, data.dtype)


def csr_text(columns: int, dtype: np.dtype, *, added: bool = False) -> str:
    """The kernel of the product, row by row. A tile has several sums, to which the entries of a row go in turn."""
    body = ["for row in range(bounds[chunk], bounds[chunk + 1]):", "    first, end = indptr[row], indptr[row + 1]"]
    if added:
        body += ["    if first == end:", "        continue"]
    for column, width in widths(columns, dtype):
        sums = max(1, min(MOST_SUMS, NUMBERS // width))
        body += [f"    t{k} = zeros(y, {width})" for k in range(sums)]
        body += [f"    t0 = take(y, row, {column}, {width})"] if added else []
        body += [f"    even = first + (end - first)//{sums}*{sums}", f"    for j in range(first, even, {sums}):"]
        entries = [f"t{k}, data[j + {k}], take(x, indices[j + {k}], {column}, {width})" for k in range(sums)]
        body += [f"        t{k} = add_scaled({entry})" for k, entry in enumerate(entries)]
        body += ["    for j in range(even, end):"]
        body += [f"        t0 = add_scaled(t0, data[j], take(x, indices[j], {column}, {width}))"]
        body += [f"    t0 = add_scaled(t0, 1, t{k})" for k in range(1, sums)]
        body += [f"    put(y, row, {column}, t0)"]
    text = ["def kernel(taken, data, indices, indptr, x, y, bounds):"]
    text += [f"    {line}" for line in generated.over("bounds.size - 1", body)]
    return "\n".join(text) + "\n"


class BlockStencilProduct:
    """out = A x for a symmetric stencil. main: the diagonal, or one number where it is constant."""

    offers: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self, size: int, main: np.ndarray, lower: Sequence[np.ndarray], strides: np.ndarray, columns: int
    ) -> None:
        chunks = chunks_of(size * columns)
        bounds = size * np.arange(chunks + 1, dtype=np.int64) // chunks
        self._size, self._columns, self._bands = size, columns, len(lower)
        self._kernel = generated.kernel(stencil_text(len(lower), columns, main.dtype, constant=main.size == 1 < size))
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


def stencil_text(bands: int, columns: int, dtype: np.dtype, *, constant: bool) -> str:
    """The kernel of the product, row by row: tests at the boundary of the grid are made once per tile of columns."""
    lows = ", ".join(f"low{k}" for k in range(bands))
    text = [f"def kernel(taken, x, y, main, {lows}, strides, bounds):", "    n = x.shape[0]"]
    text += [f"    d{k} = strides[{k}]" for k in range(bands)]
    body = ["for i in range(bounds[chunk], bounds[chunk + 1]):"]
    for column, width in widths(columns, dtype):
        tile = f"zeros(y, {width}), main[{0 if constant else 'i'}], take(x, i, {column}, {width})"
        body += [f"    t = add_scaled({tile})"]
        for k in range(bands):
            above = f"low{k}[i + d{k}]"
            above = f"np.conj({above})" if dtype.kind == "c" else above
            for test, entry, row in (
                (f"i >= d{k}", f"low{k}[i]", f"i - d{k}"),
                (f"i + d{k} < n", above, f"i + d{k}"),
            ):
                body += [f"    if {test}:", f"        t = add_scaled(t, {entry}, take(x, {row}, {column}, {width}))"]
        body += [f"    put(y, i, {column}, t)"]
    text += [f"    {line}" for line in generated.over("bounds.size - 1", body)]
    return "\n".join(text) + "\n"
