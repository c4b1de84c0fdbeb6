"""Kernels of rows on the cores."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from workbench.compiler.constants import named
from workbench.compiler.kinds import Row
from workbench.devices.bound import OVERRIDES, Bound, Request
from workbench.jit.compiled import Kernel
from workbench.jit.indices import as_unsigned
from workbench.jit.row_frames import each_row, summed_rows
from workbench.jit.threads import chunks_of, launch, prepare
from workbench.jit.tiles import widths
from workbench.kernel_language import Kernel as RowKernel
from workbench.kernel_language import Typed
from workbench.lines.types import accumulator

ENTRIES_PER_CHUNK = 65536


def bind(device: Any, request: Request) -> Bound:
    """The kernel of a request on the cores."""
    override = OVERRIDES.get((request.kernel.name, "cpu"))
    return (override and override(device, request)) or OnCores(request)


class RowForm(NamedTuple):
    """A kernel of rows as the constants of a frame (see `jit.row_frames`), and its arguments.

    places: among the arguments, of those of a call; arguments: the others, () for those that are not used. blocks: the
    places of block vectors.
    """

    constants: dict[str, object]
    arguments: tuple[Any, ...]
    places: dict[str, int]
    blocks: frozenset[int]

    @classmethod
    def of(cls, request: Request, of: Typed, fixed: Mapping[str, Any]) -> RowForm:
        """For these fixed arguments as the cores have them."""
        kernel = request.kernel
        rows = rows_of(kernel, request.constants, of.vector, of.wide, returns=of.sums > 0)
        known = {name: fixed.get(name, ()) for name in of.arguments}
        known |= {name: _flat(value) for name, value in known.items() if name not in of.blocks}
        arguments = (
            tuple(known.get(f"{name}_{k}", ()) for k in range(request.numbered[name]))
            if name in request.numbered
            else known.get(name, ())
            for name in kernel.parameters
        )
        places = {name: kernel.parameters.index(name) for name in of.arguments if name not in fixed}
        blocks = frozenset(places[name] for name in of.blocks if name in places)
        return cls(rows, tuple(arguments), places, blocks)

    def filled(self, free: Sequence[Any]) -> tuple[Any, ...]:
        """All arguments, with those of a call."""
        arguments = list(self.arguments)
        for place, value in zip(self.places.values(), free, strict=True):
            arguments[place] = value if place in self.blocks else _flat(value)
        return tuple(arguments)


def rows_of(
    kernel: RowKernel, constants: Mapping[str, object], narrow: np.dtype, wide: np.dtype, *, returns: bool
) -> dict[str, object]:
    """The functions of rows of a kernel, as constants of `rows_between` and `sums_between`.

    constants: of the kernel; narrow, wide: the precisions of vectors and of sums; returns: whether it returns what is
    summed."""
    of = kernel.constants | dict(constants) | {".wide": wide, ".narrow": narrow}
    row = Row(kernel.function, named(of), returns=returns)
    halo = "" if kernel.halo is None else ast.unparse(kernel.halo)
    edge, reach = dataclasses.replace(row, edge=True), dataclasses.replace(row, expression=halo)
    return {"inner": row, "edge": edge, "reach": reach, "halo": bool(halo)}


class OnCores(Bound):
    """The plain text, compiled for all cores; rows are divided into chunks, whose sums are added in order."""

    def __init__(self, request: Request) -> None:
        wide = accumulator(request.dtype)
        fixed = fixed_on_cores(request, wide)
        of = request.typed(fixed, wide)
        super().__init__(request, of, fixed)
        self._form = RowForm.of(request, of, self.fixed)
        self._kernel = self.frame(of, self._form.constants)
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
        prepare(self._kernel, self._form.filled(some), *self._last)

    def frame(self, of: Typed, form: Mapping[str, object]) -> Kernel:
        """The kernel, of the arguments of the row and of those that each call has."""
        if of.sums:
            return summed_rows.of(**form, dots=of.dots, dtype=of.wide, count=of.sums)
        return each_row.of(**form, tiles=tuple(widths(of.columns, of.vector)) if of.columns > 1 else ())

    def __call__(self, *free: Any) -> np.ndarray | None:
        launch(self._size, self._kernel, self._form.filled(free), *self._last)
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
