"""Kernels of the kernel language on accelerators."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.devices.accelerator.dots import Dots
from workbench.devices.bound import OVERRIDES, Bound, Request
from workbench.kernel_language.c_text import c_text


def bind(device: Any, request: Request) -> Bound:
    """The kernel of a request on an accelerator."""
    override = OVERRIDES.get((request.kernel.name, "accelerator"))
    return (override and override(device, request)) or OnAccelerator(device, request)


class OnAccelerator(Bound):
    """The plain text, compiled for the device."""

    def __init__(self, device: Any, request: Request) -> None:
        wide, layout = device.wide(request.dtype), device.layout
        fixed = {
            name: device.placed(value) if isinstance(value, np.ndarray) else value
            for name, value in request.numbers(wide).items()
        }
        of = request.typed(fixed, wide)
        super().__init__(request, of, fixed)
        self._device = device
        self._kernel = device.kernel(c_text(of, spread=not layout.chunked), of.name, request.dtype)
        items = request.rows if layout.chunked else request.rows * request.columns
        self._items = np.int64(items)
        # A group on a processor has a chunk of rows, whose entries count.
        work = max(request.rows, request.entries // 4) * request.columns
        self._groups = layout.groups_for(work if layout.chunked else items)
        self._dots = Dots(device, request.dtype, self._groups, of.sums) if of.sums else None

    def __call__(self, *free: Any) -> Dots | None:
        kinds = self._typed.arguments
        arguments = [
            value if kind.array else kind.type.dtype.type(value)
            for value, kind in zip(self._arguments(free), kinds.values(), strict=True)
        ]
        partial = (self._dots.partial,) if self._dots else ()
        self._device.launch(self._kernel, self._groups, *arguments, *partial, self._items, spread=True)
        return self._dots
