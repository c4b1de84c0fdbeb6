"""Operators on N x s block vectors, row-major, on an accelerator."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from workbench.devices.accelerator.runtime import Vector
from workbench.devices.kernels import block_products as texts
from workbench.devices.traffic import product_flops

SHARED_ENTRIES = 16
"""Columns times work-items that share a column of a row, at most; by the measurement in docs/benchmarks.md."""


def width_for(columns: int, entries: float, *, chunked: bool) -> int:
    """Work-items that share a column of a row with so many entries: a power of two.

    One where a core runs the work-items of a group one after another.
    """
    width = 1
    while not chunked and 2 * width * columns <= SHARED_ENTRIES and 2 * width <= entries:
        width *= 2
    return width


class BlockCsrProduct:
    """out = A x for a CSR matrix on the device; the matrix is read once for all columns. added: out = out + A x."""

    offers: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self,
        device: Any,
        data: Vector,
        indices: Vector,
        indptr: Vector,
        columns: int,
        width: int | None = None,
        *,
        added: bool = False,
    ) -> None:
        self._device, self._matrix, self._columns = device, (data, indices, indptr), columns
        self._rows = indptr.size - 1
        width = width or width_for(columns, data.size / max(1, self._rows), chunked=device.layout.chunked)
        self._groups = -(-self._rows // texts.rows_per_group(columns, width))
        text = texts.csr(columns, width, added=added)
        self._kernel = device.kernel(text, "csr_block", data.dtype, indices.dtype, group=texts.GROUP)

    def apply(self, x: Vector, out: Vector) -> None:
        rows = np.int64(self._rows)
        self._device.launch(self._kernel, self._groups, *self._matrix, x, out, rows, group=texts.GROUP, spread=True)

    @property
    def traffic(self) -> int:
        blocks = 2 * self._rows * self._columns * self._matrix[0].itemsize
        return sum(array.nbytes for array in self._matrix) + blocks

    @property
    def flops(self) -> int:
        data = self._matrix[0]
        return product_flops(data.size * self._columns, data.dtype)


class BlockStencilProduct:
    """out = A x for a symmetric stencil. diagonal: a vector, or one number where it is constant."""

    offers: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self, device: Any, size: int, diagonal: Vector, lower: list[Vector], strides: list[np.int64], columns: int
    ) -> None:
        self._device, self._size, self._columns = device, size, columns
        self._arrays, self._strides = [diagonal, *lower], strides
        text = texts.stencil(len(lower), columns, constant=diagonal.size == 1 < size)
        self._kernel = device.kernel(text, "stencil_block", diagonal.dtype)

    def apply(self, x: Vector, out: Vector) -> None:
        self._device.launch_over(self._kernel, self._size * self._columns, x, out, *self._arrays, *self._strides)

    @property
    def traffic(self) -> int:
        blocks = 2 * self._size * self._columns * self._arrays[0].itemsize
        return sum(array.nbytes for array in self._arrays if array.size == self._size) + blocks

    @property
    def flops(self) -> int:
        entries = (2 * len(self._arrays) - 1) * self._size
        return product_flops(entries * self._columns, self._arrays[0].dtype)
