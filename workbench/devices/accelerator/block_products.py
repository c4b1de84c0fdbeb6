"""Operators on N x s block vectors, row-major, on an accelerator."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from workbench.devices.accelerator.runtime import Vector
from workbench.devices.kernels import block_products as texts
from workbench.devices.traffic import product_flops


class BlockCsrProduct:
    """out = A x for a CSR matrix on the device; the matrix is read once for all columns."""

    offers: ClassVar[tuple[str, ...]] = ()

    def __init__(self, device: Any, data: Vector, indices: Vector, indptr: Vector, columns: int) -> None:
        self._device, self._matrix, self._columns = device, (data, indices, indptr), columns
        self._rows = indptr.size - 1
        self._kernel = device.kernel(texts.csr(columns), "csr_block", data.dtype, indices.dtype)

    def apply(self, x: Vector, out: Vector) -> None:
        self._device.launch_over(self._kernel, self._rows, *self._matrix, x, out)

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
        self._device.launch_over(self._kernel, self._size, x, out, *self._arrays, *self._strides)

    @property
    def traffic(self) -> int:
        blocks = 2 * self._size * self._columns * self._arrays[0].itemsize
        return sum(array.nbytes for array in self._arrays if array.size == self._size) + blocks

    @property
    def flops(self) -> int:
        entries = (2 * len(self._arrays) - 1) * self._size
        return product_flops(entries * self._columns, self._arrays[0].dtype)
