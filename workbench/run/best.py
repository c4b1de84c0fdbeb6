"""The best iterate so far: a copy of x to return where a method deteriorates after it has been better.

At the limit of its accuracy a method may climb back by orders of magnitude and then break down, DEF1 among them. A copy
is made whenever the norm has fallen by `FALL` since the last one, so a run that gains 16 digits makes 27 of them.
"""

from __future__ import annotations

import math
from typing import Any

from workbench.devices.protocol import Device

FALL = 4.0
"""How far the norm falls from one copy to the next: x is within this factor of the smallest norm."""


class BestIterate:
    """A copy of x. Memory: one vector."""

    def __init__(self, device: Device, x: Any) -> None:
        self._device = device
        self.x = device.copy(device.whole(x))
        self.iteration = 0
        self._norm = math.inf

    def see(self, norm: float, iteration: int, x: Any) -> None:
        """Keep x where its norm is the smallest by far. Cost: nothing, or a copy of x."""
        if norm * FALL <= self._norm:
            if iteration:
                self._device.assign(self.x, self._device.whole(x))
            self.iteration, self._norm = iteration, norm
