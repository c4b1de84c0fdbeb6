"""Block triangular solves where many work-items share a block: level by level."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from workbench.devices.accelerator.bound import OnAccelerator
from workbench.devices.accelerator.dots import Dots
from workbench.devices.accelerator.launcher import Launcher
from workbench.devices.bound import Request, override
from workbench.devices.host.levels import levels_of_blocks
from workbench.devices.kernels.products import LEVELS
from workbench.devices.ops.triangular import block_solve

if TYPE_CHECKING:
    from workbench.devices.accelerator.runtime import Vector

SOLVING_GROUP = 32
"""Work-items per block: few rows of a block are independent."""


class LevelByLevel(OnAccelerator):
    """A group solves a block: rows of a level need only rows of the levels before it.

    So 8 grid rows of n unknowns take n + 7 steps and not 8 n.
    """

    def __init__(self, device: Launcher, request: Request) -> None:
        super().__init__(device, request)
        of, index = request.fixed, self.fixed["low_columns"].dtype
        levels = levels_of_blocks(of["low_columns"], of["low_starts"], of["block"])
        self._more = [device.array(part, index) for part in levels]
        self._group = min(SOLVING_GROUP, device.layout.group)
        self._kernel = device.kernel(LEVELS, "levels", request.dtype, index, self._group)
        self._groups = max(1, min(device.layout.groups, request.rows))
        self._sums = self._dots(self._groups)
        self._factor = [value for name, value in self.fixed.items() if name not in ("size", "block")]

    def __call__(self, *free: Vector) -> Dots | None:
        partial = [self._sums.partial] if self._sums else []
        arguments = (*self._factor, *free, *partial, *self._more, np.int64(self.request.rows))
        self._device.launch(self._kernel, self._groups, *arguments, group=self._group)
        return self._sums


@override(block_solve, "accelerator")
def level_by_level(device: Launcher, request: Request) -> LevelByLevel | None:
    """None on a processor, where a work-item solves a block."""
    return None if device.layout.chunked else LevelByLevel(device, request)
