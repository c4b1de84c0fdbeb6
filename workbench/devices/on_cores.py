"""Kernels of the kernel language on the cores."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.devices.bound import OVERRIDES, Bound, Request
from workbench.jit import generated
from workbench.jit.indices import as_unsigned
from workbench.jit.threads import chunks_of, launch, prepare
from workbench.jit.tiles import widths
from workbench.kernel_language import Typed
from workbench.kernel_language.numba_text import numba_text
from workbench.lines.types import accumulator

ENTRIES_PER_CHUNK = 65536


def bind(device: Any, request: Request) -> Bound:
    """The kernel of a request on the cores."""
    override = OVERRIDES.get((request.kernel.name, "cpu"))
    return (override and override(device, request)) or OnCores(request)


class OnCores(Bound):
    """The plain text, compiled for all cores; rows are divided into chunks, whose sums are added in order."""

    def __init__(self, request: Request) -> None:
        wide = accumulator(request.dtype)
        fixed = fixed_on_cores(request, wide)
        of = request.typed(fixed, wide)
        super().__init__(request, of, fixed)
        self._kernel, self._head = generated.kernel(self.text(of)), tuple(self.fixed.values())
        begins = chunks(request)
        self._sums = np.zeros(of.sums, wide) if of.sums else None
        self._last: tuple[Any, ...] = (begins,)
        if of.sums:
            self._last += (np.zeros((begins.size - 1, of.sums), wide), self._sums)
        self._size = max(request.entries, request.rows) * request.columns
        arguments = [of.arguments[name] for name in self.free]
        some = [
            np.empty((0, of.columns) if kind.type.row else 0, kind.type.dtype)
            if kind.array
            else kind.type.dtype.type(0)
            for kind in arguments
        ]
        prepare(self._kernel, *self.fixed.values(), *some, *self._last)

    def text(self, of: Typed) -> str:
        """The source of the kernel."""
        return numba_text(of, tuple(widths(of.columns, of.vector)))

    def __call__(self, *free: Any) -> np.ndarray | None:
        launch(self._size, self._kernel, *self._head, *free, *self._last)
        return self._sums


def chunks(request: Request) -> np.ndarray:
    """The first rows of chunks of about equal work, and the number of rows; a property of the request alone."""
    rows, work = request.rows, request.work
    if work is None:
        count = min(rows, chunks_of(request.entries * request.columns))
        return rows * np.arange(count + 1, dtype=np.int64) // max(1, count)
    count = max(1, min(rows, request.entries // ENTRIES_PER_CHUNK))
    begins = np.searchsorted(work, np.linspace(0, request.entries, count + 1))
    begins[0], begins[-1] = 0, rows
    return np.unique(begins).astype(np.int64)


def fixed_on_cores(request: Request, wide: np.dtype) -> dict[str, Any]:
    """The fixed arguments of a request, as kernels read them."""
    return {name: _readable(value) for name, value in request.numbers(wide).items()}


def _readable(value: Any) -> Any:
    """An array that `at` reads; integers as unsigned ones, which gathers extend faster."""
    if not isinstance(value, np.ndarray):
        return value
    value = np.ascontiguousarray(value)
    return as_unsigned(value) if value.dtype.kind == "i" else value
