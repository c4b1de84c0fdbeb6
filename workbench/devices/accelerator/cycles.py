"""The passes of a cycle over the levels of a coarse system, as kernels of an accelerator."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.devices import cycles
from workbench.devices.accelerator.dots import Dots
from workbench.devices.accelerator.runtime import Vector
from workbench.devices.coarse import Level
from workbench.devices.kernels import cycles as texts
from workbench.devices.ops.levels import LevelOperations


class DeviceLevel(LevelOperations):
    """The operations of a level, one launch each; `orthogonalize` is two."""

    _sums: Dots

    def __init__(self, device: Any, level: Level, scaling: float) -> None:
        super().__init__(device.bind, level, scaling)
        self._device, self._rows, dtype = device, level.size, level.data.dtype
        self._projected = device.one_pass(cycles.PROJECTION, ("s", "z"), dtype)
        self._steps = {
            text: (step.vectors, device.kernel(step.text, "cycle_step", dtype))
            for text, step in texts.steps(dtype, device.wide(dtype)).items()
        }

    def _step(self, text: str, numerator: Dots, **vectors: Vector) -> None:
        names, kernel = self._steps[text]
        sums = [part for dots in (numerator, self._sums) for part in (dots.partial, np.int64(dots.count))]
        self._device.launch_over(kernel, self._rows, *sums, *(vectors[name] for name in names))

    def first_step(self, p: Vector, s: Vector, b: Vector, x: Vector, r: Vector) -> None:
        """x = alpha p and r = b - alpha s."""
        self._step(cycles.FIRST_STEP, self._sums, p=p, s=s, b=b, x=x, r=r)

    def orthogonalize(self, z: Vector, s: Vector, p: Vector) -> None:
        """p = z - (s, z)/(p, s) p."""
        dots = self._projected.apply(s, z)
        assert dots is not None
        self._step(cycles.ORTHOGONALIZE, dots, z=z, p=p)

    def last_step(self, p: Vector, x: Vector) -> None:
        """x = x + alpha p."""
        self._step(cycles.LAST_STEP, self._sums, p=p, x=x)
