"""Kernels of rows on the cores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from workbench.devices.bound import OVERRIDES, Bound, Request
from workbench.devices.row_form import RowForm
from workbench.jit.compiled import Kernel
from workbench.jit.indices import as_unsigned
from workbench.jit.row_frames import each_row, summed_rows
from workbench.jit.threads import chunks_of, launch, prepare
from workbench.jit.tiles import widths
from workbench.lines.types import accumulator

ENTRIES_PER_CHUNK = 65536


def bind(device: Any, request: Request) -> Bound:
    """The kernel of a request on the cores."""
    override = OVERRIDES.get((request.kernel.name, "cpu"))
    return (override and override(device, request)) or OnCores(request)


class Arguments(NamedTuple):
    """The arguments of a kernel of rows.

    places: among the arguments, of those of a call; arguments: the others, () for those that are not used. blocks: the
    places of block vectors.
    """

    arguments: tuple[Any, ...]
    places: dict[str, int]
    blocks: frozenset[int]

    @classmethod
    def of(cls, form: RowForm, fixed: Mapping[str, Any]) -> Arguments:
        """For these fixed arguments as the cores have them."""
        known = {name: fixed.get(name, ()) for name in form.arguments}
        known |= {name: _flat(value) for name, value in known.items() if name not in form.blocks}
        places = {name: form.parameters.index(name) for name in form.arguments if name not in fixed}
        blocks = frozenset(places[name] for name in form.blocks if name in places)
        return cls(form.filled(known), places, blocks)

    def filled(self, free: Sequence[Any]) -> tuple[Any, ...]:
        """All arguments, with those of a call."""
        arguments = list(self.arguments)
        for place, value in zip(self.places.values(), free, strict=True):
            arguments[place] = value if place in self.blocks else _flat(value)
        return tuple(arguments)


class OnCores(Bound):
    """The plain text, compiled for all cores; rows are divided into chunks, whose sums are added in order."""

    def __init__(self, request: Request) -> None:
        wide = accumulator(request.dtype)
        fixed = fixed_on_cores(request, wide)
        of = request.form(fixed, wide)
        super().__init__(request, of, fixed)
        self._arguments = Arguments.of(of, self.fixed)
        self._kernel = self.frame(of)
        begins = chunks(request)
        self._sums = np.zeros(of.sums, wide) if of.sums else None
        self._last: tuple[Any, ...] = (begins,)
        if of.sums:
            self._last += (np.zeros((begins.size - 1, of.sums), wide), self._sums)
        self._size = max(request.entries, request.rows) * request.columns
        arguments = [of.arguments[name] for name in self.free]
        some = [
            np.empty((0, of.columns) if kind.block else 0, kind.dtype) if kind.array else kind.dtype.type(0)
            for kind in arguments
        ]
        prepare(self._kernel, self._arguments.filled(some), *self._last)

    def frame(self, form: RowForm) -> Kernel:
        """The kernel, of the arguments of the row and of those that each call has."""
        if form.sums:
            return summed_rows.of(**form.loop, dots=form.dots, dtype=form.wide, count=form.sums)
        return each_row.of(**form.loop, tiles=tuple(widths(form.columns, form.vector)) if form.columns > 1 else ())

    def __call__(self, *free: Any) -> np.ndarray | None:
        launch(self._size, self._kernel, self._arguments.filled(free), *self._last)
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


def _flat(value: Any) -> Any:
    """An array row by row: kernels of rows have one index. Another one with gaps is left to be refused."""
    # Nearly all have one dimension, and a call asks for each.
    if getattr(value, "ndim", 1) == 1 or not isinstance(value, np.ndarray):
        return value
    return value.reshape(-1) if value.flags.c_contiguous else value


def _readable(value: Any) -> Any:
    """An array without gaps; integers as unsigned ones, which gathers extend faster."""
    if not isinstance(value, np.ndarray):
        return value
    value = np.ascontiguousarray(value)
    return as_unsigned(value) if value.dtype.kind == "i" else value
