"""Box operators on an accelerator."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from workbench.devices.accelerator.dots import Dots
from workbench.devices.accelerator.launcher import Launcher
from workbench.devices.accelerator.runtime import Vector
from workbench.devices.kernels import box_stencil as texts
from workbench.devices.operator_protocols import OperatorTraits
from workbench.devices.traffic import box_flops

SLAB = 8
"""Planes of a slab in units of the reach, at least; a group reads `reach` more planes on either side."""


def box_product(
    device: Launcher, grid: tuple[int, int, int], reach: int, diagonal: float, coupling: float, dtype: np.dtype
) -> BoxLines | BoxColumns:
    """The product on a grid (nz, ny, nx): tiles on GPUs, one pass along each axis on processors."""
    wide_enough = not device.layout.chunked and device.layout.group >= texts.TILE_WIDTH
    return (BoxColumns if wide_enough else BoxLines)(device, grid, reach, (diagonal - coupling, coupling), dtype)


class _BoxProduct(OperatorTraits):
    """out = own x + coupling S x, with (x, out), (out, out) and (x, x)."""

    def __init__(
        self, device: Launcher, grid: tuple[int, int, int], reach: int, weights: tuple[float, float], dtype: np.dtype
    ) -> None:
        self._device, self._grid, self._reach = device, grid, reach
        self._size, self._dtype = math.prod(grid), np.dtype(dtype)
        self._weights = [device.number(weight, self._dtype) for weight in weights]

    @property
    def flops(self) -> int:
        return box_flops(self._size, self._reach, self._dtype)


class BoxColumns(_BoxProduct):
    """One pass of tiles through the planes."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        device, (planes, rows, width) = self._device, self._grid
        tall = device.layout.group // texts.TILE_WIDTH
        tiles = -(-width // texts.TILE_WIDTH) * -(-rows // tall)
        slabs = max(1, min(planes // (SLAB * self._reach), -(-device.layout.groups // tiles)))
        self._groups = min(device.layout.groups, tiles * slabs)
        self._kernel = device.kernel(texts.columns(self._reach), "columns", self._dtype)
        self._sides = [np.int64(number) for number in (*self._grid, slabs)]
        self._dots = Dots(device, self._dtype, self._groups)

    def apply(self, x: Vector, out: Vector, *_: str) -> Dots:
        self._device.launch(self._kernel, self._groups, x, out, *self._weights, *self._sides, self._dots.partial)
        return self._dots

    @property
    def traffic(self) -> int:
        return 2 * self._size * self._dtype.itemsize


class BoxLines(_BoxProduct):
    """A pass along each axis. Work space: two vectors."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        device = self._device
        self._axis_sums = device.function(texts.axis_sums, self._dtype)
        self._rows = device.function(texts.rows, self._dtype, reach=self._reach)
        self._work = [device.zeros(self._size, self._dtype) for _ in range(2)]
        self._groups = device.layout.groups_for(self._size)
        self._dots = Dots(device, self._dtype, self._groups)

    def apply(self, x: Vector, out: Vector, *_: str) -> Dots:
        planes, rows, width = self._grid
        first, second = self._work
        self._sum(x, first, rows * width, planes, planes)
        self._sum(first, second, width, rows, planes * rows)
        numbers = (*self._weights, np.int64(width), self._dots.partial, np.int64(planes * rows))
        self._rows.launch(self._groups, second, x, out, *numbers)
        return self._dots

    def _sum(self, x: Vector, y: Vector, inner: int, side: int, lines: int) -> None:
        numbers = [np.int64(number) for number in (inner, side, self._reach, lines)]
        self._axis_sums.launch(self._groups, x, y, *numbers)

    @property
    def traffic(self) -> int:
        return 7 * self._size * self._dtype.itemsize
