"""The best iterate so far: a copy of x, returned when later iterates are worse.

At its attainable accuracy the residual of a method may grow by orders of magnitude before a breakdown, that of DEF1
among them. x is copied whenever the norm has fallen by `FALL` since the last copy: 27 copies for 16 digits.
"""

from __future__ import annotations

import math

from workbench.devices.operator_protocols import DeviceVector
from workbench.devices.protocol import Device

FALL = 4.0
"""Ratio of the norms at two consecutive copies: the norm of the copy is within this factor of the smallest."""


class BestIterate:
    """A copy of x. Memory: one vector."""

    def __init__(self, device: Device, x: DeviceVector) -> None:
        self._device = device
        self.x: DeviceVector = device.copy(device.whole(x))
        self.iteration = 0
        self._norm = math.inf

    def release(self) -> None:
        """Drop the copy."""
        self.x = None

    def update(self, norm: float, iteration: int, x: DeviceVector) -> None:
        """Copy x if its norm is smaller by `FALL` than that of the last copy. Cost: nothing, or one copy of x."""
        if norm * FALL <= self._norm:
            if iteration:
                self._device.assign(self.x, self._device.whole(x))
            self.iteration, self._norm = iteration, norm
