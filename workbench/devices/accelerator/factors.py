"""Block triangular solves on an accelerator: level by level where many work-items share a block, and by wavefronts for
stencils.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from workbench.devices.accelerator.bound import OnAccelerator
from workbench.devices.accelerator.dots import Dots
from workbench.devices.accelerator.launcher import Launcher
from workbench.devices.accelerator.runtime import Vector
from workbench.devices.bound import Request, override
from workbench.devices.host.levels import levels_of_blocks
from workbench.devices.kernels.products import LEVELS
from workbench.devices.kernels.wavefront import Wavefront
from workbench.devices.operator_protocols import OperatorTraits
from workbench.devices.ops.triangular import block_solve
from workbench.devices.traffic import product_flops
from workbench.lazy import sparse

SOLVING_GROUP = 32
"""Work-items per block: few rows of a block are independent."""


NOT_OF_A_FACTOR = ("size", "block", "members", "bounds")
"""Arguments that say which rows a block has."""


class LevelByLevel(OnAccelerator):
    """A group solves a block: rows of a level need only rows of the levels before it.

    So 8 grid rows of n unknowns take n + 7 steps and not 8 n.
    """

    def __init__(self, device: Launcher, request: Request) -> None:
        super().__init__(device, request)
        of, index = request.fixed, self.fixed["low_columns"].dtype
        levels = levels_of_blocks(of["low_columns"], of["low_starts"], of["block"] if "block" in of else _blocks_of(of))
        self._more = [device.array(part, index) for part in levels]
        self._group = min(SOLVING_GROUP, device.layout.group)
        self._kernel = device.kernel(LEVELS, "levels", request.dtype, index, self._group)
        self._groups = max(1, min(device.layout.groups, request.rows))
        self._sums = self._dots(self._groups)
        self._factor = [value for name, value in self.fixed.items() if name not in NOT_OF_A_FACTOR]

    def __call__(self, *free: Vector) -> Dots | None:
        partial = [self._sums.partial] if self._sums else []
        arguments = (*self._factor, *free, *partial, *self._more, np.int64(self.request.rows))
        self._device.launch(self._kernel, self._groups, *arguments, group=self._group)
        return self._sums


def _blocks_of(fixed: Mapping[str, Any]) -> np.ndarray:
    """The block of each row, where blocks list theirs."""
    blocks = np.empty(fixed["members"].size, np.int64)
    blocks[fixed["members"]] = np.repeat(np.arange(fixed["bounds"].size - 1), np.diff(fixed["bounds"]))
    return blocks


@override(block_solve, "accelerator")
def level_by_level(device: Launcher, request: Request) -> LevelByLevel | None:
    """None on a processor, where a work-item solves a block."""
    return None if device.layout.chunked else LevelByLevel(device, request)


MOST_ROWS = 256
"""Most grid rows of a block, one work-item each."""


class GridBlockFactor(OperatorTraits):
    """u = M^-1 r for M = (E + L) E^-1 (E + L^H) on a stencil in blocks of whole grid rows, with the dot products.

    One work-item per row (wavefronts). Reads r twice, 1/E, and the two bands within a block; on a processor `CsrFactor`
    is faster.
    """

    def __init__(
        self, device: Launcher, lower: tuple[np.ndarray, ...], inverse: Vector, width: int, block: int, scale: float
    ) -> None:
        self._device, self._inverse = device, inverse
        self._bands = [device.array(band, inverse.dtype) for band in lower[:2]]
        self._rows, rows_per_block = inverse.size // width, block // width
        sizes = inverse.itemsize, device.wide(inverse.dtype).itemsize
        plan = Wavefront(rows_per_block, *sizes, device.layout.group, device.layout.language == "cuda")
        self._group = plan.group
        self._kernel = device.kernel(plan.text, "wavefront", inverse.dtype, group=plan.group)
        self._scale = device.number(scale, inverse.dtype)
        self._groups = max(1, min(device.layout.groups, -(-self._rows // rows_per_block)))
        self._more = (np.int32(width), np.int64(self._rows), np.int64(rows_per_block))
        self._dots = Dots(device, inverse.dtype, self._groups)

    @staticmethod
    def takes(device: Launcher, strides: tuple[int, ...], width: int, block: int) -> bool:
        """True if blocks couple only along a row and to the next row, and a group has a work-item for every row."""
        far = len(strides) == 2 or (len(strides) == 3 and block <= strides[2])
        most = min(MOST_ROWS, device.layout.group)
        return not device.layout.chunked and far and block % width == 0 and block // width <= most

    def apply(self, r: Vector, u: Vector, *_: str) -> Dots:
        """u = M^-1 r. The two may not be the same vector."""
        arguments = (*self._bands, self._inverse, self._scale, r, u, self._dots.partial, *self._more)
        self._device.launch(self._kernel, self._groups, *arguments, group=self._group)
        return self._dots

    @property
    def traffic(self) -> int:
        return 11 * self._inverse.nbytes

    @property
    def flops(self) -> int:
        return product_flops(6 * self._inverse.size, self._inverse.dtype)


def lower_of_stencil(lower: tuple[np.ndarray, ...], strides: tuple[int, ...], block: int) -> sparse.csr_array:
    """The strictly lower triangle of a stencil in CSR form, without couplings between blocks."""
    size = lower[0].size
    rows, columns, values = [], [], []
    for low, stride in zip(lower, strides, strict=True):
        row = np.flatnonzero(low)
        row = row[row // block == (row - stride) // block]
        rows, columns, values = [*rows, row], [*columns, row - stride], [*values, low[row]]
    places = (np.concatenate(rows), np.concatenate(columns))
    return sparse.csr_array(sparse.coo_array((np.concatenate(values), places), shape=(size, size)))
