"""Products that are computed on the host."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from workbench.devices.accelerator.dots import Dots
from workbench.devices.accelerator.launcher import Launcher
from workbench.devices.accelerator.runtime import Vector
from workbench.devices.dot_lines import DOTS
from workbench.devices.operator_protocols import OperatorTraits


class CallableProduct(OperatorTraits):
    """out = f(x) for a host function: every application copies x to the host and out to the device."""

    waits = True
    traffic = 0
    flops = 0
    notes = ("a function of the host is called in every iteration; its vectors travel to the host and back",)

    def __init__(
        self, device: Launcher, product: Callable[[np.ndarray], np.ndarray], size: int, dtype: np.dtype
    ) -> None:
        self._device, self._product = device, product
        self._size = size
        self._x, self._out = (device.pinned((size,), np.dtype(dtype)) for _ in range(2))
        self._dots = device.new_pass(DOTS, ("x", "y"))
        self._dots.prepare(np.dtype(dtype))

    def apply(self, x: Vector, out: Vector, *wanted: str) -> Dots | None:
        self._device.fetch(x, self._x)
        # The function may keep a reference to its argument.
        self._out[:] = np.reshape(self._product(self._x.copy()), (self._size,))
        self._device.runtime.upload(out.handle, self._out)
        return self._dots.apply(x, out) if wanted else None
