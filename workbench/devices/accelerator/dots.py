"""Dot products that stay on the device, as one partial sum per group, and paper lines of one pass that leave them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from workbench.devices.accelerator.runtime import Function, Vector
from workbench.devices.kernels import passes
from workbench.devices.kernels.prelude import NAMED
from workbench.devices.programs import one_pass

if TYPE_CHECKING:
    from workbench.devices.kernels.kernel_text import KernelText
    from workbench.devices.kernels.prelude import Layout

MOST_AT_ONCE, FOLDED = 4096, 1024
"""Most partial sums of a column that are added at once, and the number of sums to which more are first added."""


class _Memory(Protocol):
    """An accelerator as far as dot products need it."""

    def empty(self, shape: tuple[int, ...], dtype: np.dtype) -> Vector:
        """An uninitialized vector."""
        ...

    def to_host(self, vector: Vector) -> np.ndarray:
        """The vector as a new NumPy array; waits for the device."""
        ...

    def wide(self, dtype: np.dtype) -> np.dtype:
        """The dtype of scalars and sums."""
        ...


class _PassDevice(_Memory, Protocol):
    """An accelerator as far as paper lines of one pass need it."""

    layout: Layout

    def scalars(self, count: int, dtype: np.dtype) -> Vector:
        """Memory for scalars."""
        ...

    def write_scalar(self, scalars: Vector, slot: int, value: complex) -> None:
        """Set one of the scalars."""
        ...

    def kernel(self, body: KernelText, name: str, dtype: np.dtype) -> Function:
        """A kernel behind the prelude for a dtype."""
        ...

    def launch_over(self, function: Function, items: int, *arguments: Vector) -> None:
        """Run over `items` elements; their number is also the last argument of the kernel."""
        ...


class Dots:
    """Partial sums of (x, y), (y, y) and (x, x), or of other terms, shape (sums, count).

    The next application overwrites them.
    """

    def __init__(self, device: _Memory, dtype: np.dtype, groups: int, sums: int = 3) -> None:
        self._device, self.count = device, groups
        self.partial: Vector = device.empty((sums, self.count), device.wide(dtype))

    def to_host(self) -> np.ndarray:
        """The sums, shape (sums,)."""
        return self._device.to_host(self.partial).sum(axis=1)


class OnePass(one_pass.OnePass):
    """See `one_pass.OnePass`; of dot products there are three, or none."""

    def __init__(self, device: _PassDevice, *lines: Any) -> None:
        super().__init__(*lines)
        self._device = device
        self._kernels: dict[np.dtype, tuple[Function, Vector]] = {}
        self._dots: tuple[tuple[np.dtype, int] | None, Dots | None] = (None, None)

    def prepare(self, dtype: np.dtype) -> None:
        """Compile for vectors of this dtype, ahead of the first application."""
        if dtype in self._kernels:
            return
        device, slots = self._device, self._slots(NAMED)
        scalars = device.scalars(NAMED + len(slots), device.wide(dtype))
        for name, value in self._numbers.items():
            device.write_scalar(scalars, slots[name], value)
        text = passes.PassTexts.of(self._shapes, slots, dtype, device.wide(dtype)).body(self._step)
        self._kernels[dtype] = device.kernel(text, "body", dtype), scalars

    def apply(self, *vectors: Vector) -> Dots | None:
        """Run on vectors of one size and dtype, in the order of the names."""
        device, first = self._device, vectors[0]
        self.prepare(first.dtype)
        kernel, scalars = self._kernels[first.dtype]
        dots = self._room(first) if self._step.dots else None
        device.launch_over(kernel, first.size, *self._arrays(vectors), scalars, *([dots.partial] if dots else []))
        return dots

    def _room(self, like: Vector) -> Dots:
        """Memory for the dot products, reused for vectors of the same size and dtype."""
        key, dots = self._dots
        if key != (like.dtype, like.size) or dots is None:
            dots = Dots(self._device, like.dtype, self._device.layout.groups_for(like.size))
            self._dots = (like.dtype, like.size), dots
        return dots
