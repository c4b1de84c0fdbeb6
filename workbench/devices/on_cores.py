"""Kernels of rows on the cores."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from workbench.devices.bound import OVERRIDES, Bound, Request, RowForm
from workbench.jit.compiled import Kernel
from workbench.jit.frames import each_row, summed_rows
from workbench.jit.launches import Launch
from workbench.jit.threads import chunks_of, launch, prepare
from workbench.jit.tiles import widths
from workbench.lines.types import accumulator

ENTRIES_PER_CHUNK = 65536


def bind(device: object, request: Request) -> Bound:
    """The kernel of a request on the cores."""
    override = OVERRIDES.get((request.kernel.name, "cpu"))
    return (override and override(device, request)) or OnCores(request)


def filling(form: RowForm, fixed: Mapping[str, object]) -> Callable[..., tuple[object, ...]]:
    """A function from the arguments of a call to all arguments of a kernel of rows: those, the fixed ones, and () for
    what is not used.

    It is compiled, once for a form: a loop over the arguments would take half as long as a launch.
    """
    blocks = form.blocks
    known = {name: fixed.get(name, ()) for name in form.arguments}
    known |= {name: _flat(value) for name, value in known.items() if name not in blocks}
    return _filling(form, tuple(name for name in form.arguments if name not in fixed))(*form.filled(known))


@functools.lru_cache(512)
def _filling(form: RowForm, free: tuple[str, ...]) -> Callable[..., Callable[..., tuple[object, ...]]]:
    """A function of the fixed arguments, by parameter, that returns that of those in `free`."""
    parts = []
    for k, parameter in enumerate(form.parameters):
        if parameter not in free:
            parts.append(f"fixed_{k}")
        elif parameter in form.blocks:
            parts.append(f"free_{parameter}")
        else:
            is_flat = f"free_{parameter}.__class__ is ndarray and free_{parameter}.ndim == 1"
            parts.append(f"free_{parameter} if {is_flat} else flat(free_{parameter})")
    outer = ", ".join(f"fixed_{k}" for k in range(len(parts)))
    inner = ", ".join(f"free_{name}" for name in free)
    text = f"lambda {outer}: lambda {inner}: ({', '.join(parts)},)"
    return eval(compile(text, "<arguments of a kernel>", "eval"), {"flat": _flat, "ndarray": np.ndarray})


class OnCores(Bound):
    """The plain text, compiled for all cores; rows are divided into chunks, whose sums are added in order."""

    def __init__(self, request: Request) -> None:
        wide = accumulator(request.dtype)
        fixed = fixed_on_cores(request, wide)
        of = request.form(fixed, wide)
        super().__init__(request, of, fixed)
        self._arguments = filling(of, self.fixed)
        self._kernel = self.frame(of)
        begins = chunks(request)
        self._sums = np.zeros(of.sums, wide) if of.sums else None
        self._last: tuple[np.ndarray | None, ...] = (begins,)
        if of.sums:
            self._last += (np.zeros((begins.size - 1, of.sums), wide), self._sums)
        self._size = max(request.entries, request.rows) * request.columns
        arguments = [of.arguments[name] for name in self.free]
        some = [
            np.empty((0, of.columns) if kind.block else 0, kind.dtype) if kind.array else kind.dtype.type(0)
            for kind in arguments
        ]
        prepare(self._kernel, self._arguments(*some), *self._last)

    def frame(self, form: RowForm) -> Kernel:
        """The kernel, of the arguments of the row and of those that each call has."""
        if form.sums:
            return summed_rows.of(**form.loop, dots=form.dots, dtype=form.wide, count=form.sums)
        return each_row.of(**form.loop, tiles=tuple(widths(form.columns, form.vector)) if form.columns > 1 else ())

    def __call__(self, *free: object) -> np.ndarray | None:
        launch(self._size, self._kernel, self._arguments(*free), *self._last)
        return self._sums

    def on(self, *free: object) -> tuple[Launch, np.ndarray | None]:
        """A call on fixed arguments as a part of a sequence, and the array that then has the sums."""
        return Launch(self._size, self._kernel, self._arguments(*free), *self._last), self._sums


def chunks(request: Request) -> np.ndarray:
    """The first rows of chunks of about equal work, and the number of rows; a property of the request alone."""
    rows, work = request.rows, request.work
    if work is None:
        count = min(rows, chunks_of(request.entries * request.columns))
        return rows * np.arange(count + 1, dtype=np.int64) // max(1, count)
    count = max(1, min(rows, request.entries // ENTRIES_PER_CHUNK))
    if count == 1:
        return np.array([0, rows] if rows else [0], np.int64)
    begins = np.searchsorted(work, np.linspace(0, request.entries, count + 1))
    begins[0], begins[-1] = 0, rows
    return np.unique(begins).astype(np.int64)


def fixed_on_cores(request: Request, wide: np.dtype) -> dict[str, Any]:
    """The fixed arguments of a request, as kernels read them."""
    return {name: _readable(value) for name, value in request.numbers(wide).items()}


def _flat(value: object) -> object:
    """An array row by row: kernels of rows have one index. Another one with gaps is left to be refused."""
    # Nearly all have one dimension, and a call asks for each.
    if getattr(value, "ndim", 1) == 1 or not isinstance(value, np.ndarray):
        return value
    return value.reshape(-1) if value.flags.c_contiguous else value


def _readable(value: object) -> object:
    """An array without gaps; integers as unsigned ones, which gathers extend faster."""
    if not isinstance(value, np.ndarray):
        return value
    value = np.ascontiguousarray(value)
    return as_unsigned(value) if value.dtype.kind == "i" else value


def as_unsigned(index: np.ndarray) -> np.ndarray:
    """Indices as unsigned numbers, which need no test for negative ones."""
    return index.view(np.uint32 if index.dtype.itemsize == 4 else np.uint64)
