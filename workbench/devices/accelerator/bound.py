"""Kernels of the kernel language on accelerators."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from workbench.devices.accelerator.dots import FOLDED, MOST_AT_ONCE, Dots
from workbench.devices.bound import OVERRIDES, Bound, Request
from workbench.kernel_language.c_text import c_text


def bind(device: Any, request: Request) -> Bound:
    """The kernel of a request on an accelerator."""
    override = OVERRIDES.get((request.kernel.name, "accelerator"))
    return (override and override(device, request)) or Plain(device, request)


class OnAccelerator(Bound):
    """A kernel whose fixed arrays are on the device."""

    def __init__(self, device: Any, request: Request) -> None:
        wide = device.wide(request.dtype)
        fixed = placed(device, request.numbers(wide))
        super().__init__(request, request.typed(fixed, wide), fixed)
        self._device = device

    def _dots(self, groups: int) -> Dots | None:
        """Memory for the sums, if there are any."""
        return Dots(self._device, self.request.dtype, groups, self.typed.sums) if self.typed.sums else None

    def _keep_column_sums(self, groups: int) -> None:
        """Memory for the sums of the columns of block vectors, which are added in stages where they are many."""
        rows = groups if groups <= MOST_AT_ONCE else -(-groups // FOLDED) * FOLDED
        self.column_sums = self._device.zero_block(rows, self.request.columns, self._device.wide(self.request.dtype))


class Plain(OnAccelerator):
    """The plain text, compiled for the device."""

    def __init__(self, device: Any, request: Request) -> None:
        super().__init__(device, request)
        layout, of = device.layout, self.typed
        self._kernel = device.kernel(c_text(of, spread=not layout.chunked), of.name, request.dtype)
        self._rows = np.int64(request.rows)
        # A group on a processor has a chunk of rows, whose entries count.
        work = max(request.rows, request.entries // 4) if layout.chunked else request.rows
        self._groups = layout.groups_for(work * request.columns)
        if request.columns > 1 and not layout.chunked:
            # More groups than are resident hide latency better than loops.
            self._groups = max(1, -(-request.rows // (layout.group // request.columns)))
        self._sums = None if request.columns > 1 else self._dots(self._groups)
        if request.columns > 1 and of.sums:
            self._keep_column_sums(self._groups)

    def __call__(self, *free: Any) -> Dots | None:
        partial = [one for one in (self._sums and self._sums.partial, self.column_sums) if one is not None]
        arguments = (*self.fixed.values(), *free, *partial, self._rows)
        self._device.launch(self._kernel, self._groups, *arguments, spread=self.column_sums is None)
        return self._sums


def placed(device: Any, fixed: Mapping[str, Any]) -> dict[str, Any]:
    """Arrays on the device, and numbers. Signed integers of the host all get 32 bits, or 64 where some need them."""
    arrays = {name: value for name, value in fixed.items() if isinstance(value, np.ndarray) and value.dtype.kind == "i"}
    index = np.int64 if any(map(_is_long, arrays.values())) else np.int32
    made = {name: device.to_device(value.astype(index, copy=False)) for name, value in arrays.items()}
    return {
        name: made[name] if name in made else value if isinstance(value, np.generic) else device.to_device(value)
        for name, value in fixed.items()
    }


def _is_long(values: np.ndarray) -> bool:
    return values.itemsize > 4 and values.size > 0 and int(values.max()) > np.iinfo(np.int32).max
