"""The passes of a cycle over the levels of a coarse system, as kernels of an accelerator."""

from __future__ import annotations

import numpy as np

from workbench.devices import cycles
from workbench.devices.accelerator.launcher import Launcher
from workbench.devices.accelerator.runtime import Vector
from workbench.devices.coarse import Level
from workbench.devices.kernels import cycles as texts


class DeviceLevel:
    """The operations of `cycles.LevelOperations`, one launch each; `orthogonalize` is two."""

    def __init__(self, device: Launcher, level: Level, scaling: float) -> None:
        dtype, index = level.data.dtype, level.indptr.dtype
        self._device, self._rows, self._parents = device, level.size, level.starts.size - 1
        places = (level.indices, level.indptr)
        self._matrix = [device.array(level.data, dtype), *(device.array(place, index) for place in places)]
        self._up, self._starts = device.array(level.parents, np.int32), device.array(level.starts, np.int32)
        real = level.weights.dtype
        self._weights = device.array(level.weights, real)
        self._scaled = device.array((scaling * level.weights).astype(real), real)
        self._smoother = [device.number(value, dtype) for value in level.smoother]
        self._groups = device.layout.groups_for(level.size)
        self._sums = device.empty((2, self._groups), device.wide(dtype))
        self._passes = {
            text: device.kernel(text, "cycle_pass", dtype, index)
            for text in (texts.FROM_ZERO, texts.RESIDUAL, texts.SMOOTH, texts.ENERGY)
        }
        self._restrict = device.kernel(texts.RESTRICT, "cycle_restrict", dtype)
        self._correct = device.kernel(texts.CORRECT, "cycle_correct", dtype)
        self._projected = device.one_pass(cycles.PROJECTION, ("s", "z"), dtype)
        self._steps = {
            text: (step.vectors, device.kernel(step.text, "cycle_step", dtype))
            for text, step in texts.steps(dtype, device.wide(dtype)).items()
        }

    def _run(self, text: str, source: Vector, other: Vector, target: Vector, *more: Vector) -> None:
        arguments = (*self._matrix, source, other, target, *self._smoother, *more)
        self._device.launch_over(self._passes[text], self._rows, *arguments)

    def _step(self, text: str, numerator: Vector, **vectors: Vector) -> None:
        names, kernel = self._steps[text]
        given = [vectors[name] for name in names]
        self._device.launch_over(kernel, self._rows, numerator, self._sums, np.int64(self._groups), *given)

    def smooth_from_zero(self, b: Vector, x: Vector) -> None:
        """x = a b - b' E b."""
        self._run(texts.FROM_ZERO, b, b, x)

    def residual(self, b: Vector, x: Vector, r: Vector) -> None:
        """r = b - E x."""
        self._run(texts.RESIDUAL, x, b, r)

    def smooth(self, r: Vector, x: Vector) -> None:
        """x = x + a r - b' E r."""
        self._run(texts.SMOOTH, r, r, x)

    def energy(self, p: Vector, r: Vector, s: Vector) -> None:
        """s = E p, and (p, r) and (p, s)."""
        self._run(texts.ENERGY, p, r, s, self._sums)

    def restrict(self, r: Vector, below: Vector) -> None:
        """below = W^T r."""
        self._device.launch_over(self._restrict, self._parents, self._starts, self._weights, r, below)

    def correct(self, x: Vector, below: Vector) -> None:
        """x = x + scaling W below."""
        self._device.launch_over(self._correct, self._rows, self._up, self._scaled, below, x)

    def first_step(self, p: Vector, s: Vector, b: Vector, x: Vector, r: Vector) -> None:
        """x = alpha p and r = b - alpha s."""
        self._step(cycles.FIRST_STEP, self._sums, p=p, s=s, b=b, x=x, r=r)

    def orthogonalize(self, z: Vector, s: Vector, p: Vector) -> None:
        """p = z - (s, z)/(p, s) p."""
        dots = self._projected.apply(s, z)
        assert dots is not None
        self._step(cycles.ORTHOGONALIZE, dots.partial, z=z, p=p)

    def last_step(self, p: Vector, x: Vector) -> None:
        """x = x + alpha p."""
        self._step(cycles.LAST_STEP, self._sums, p=p, x=x)


class LevelsOnDevice(cycles.LevelDevice):
    """What a `Cycles` is made of on an accelerator."""

    def __init__(self, device: Launcher) -> None:
        self._device = device

    def level(self, level: Level, scaling: float) -> DeviceLevel:
        """The operations of a level."""
        return DeviceLevel(self._device, level, scaling)

    def vector(self, size: int, dtype: np.dtype) -> Vector:
        """A vector of zeros."""
        return self._device.zeros(size, dtype)
