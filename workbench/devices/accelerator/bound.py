"""Kernels of rows on accelerators."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from workbench.compiler.c_expressions import in_c
from workbench.compiler.kinds import INT, Array, Kind
from workbench.devices.accelerator.dots import FOLDED, MOST_AT_ONCE, Dots
from workbench.devices.bound import OVERRIDES, Bound, Request, in_register
from workbench.devices.kernels import frames
from workbench.devices.kernels.device_kernels import Printed, printed
from workbench.errors import InputError
from workbench.jit.tiles import widths

if TYPE_CHECKING:
    from workbench.devices.accelerator.launcher import Launcher
    from workbench.devices.accelerator.runtime import Vector


def bind(device: Launcher, request: Request) -> Bound:
    """The kernel of a request on an accelerator."""
    override = OVERRIDES.get((request.kernel.name, "accelerator"))
    return (override and override(device, request)) or Plain(device, request)


class OnAccelerator(Bound):
    """A kernel whose fixed arrays are on the device."""

    def __init__(self, device: Launcher, request: Request) -> None:
        wide = device.wide(request.dtype)
        fixed = placed(device, request.numbers(wide))
        super().__init__(request, request.form(fixed, wide), fixed)
        self._device = device

    def _dots(self, groups: int) -> Dots | None:
        """Memory for the sums, if there are any."""
        return Dots(self._device, self.request.dtype, groups, self.form.sums) if self.form.sums else None

    def _keep_column_sums(self, groups: int) -> None:
        """Memory for the sums of the columns of block vectors, which are added in stages where they are many."""
        rows = groups if groups <= MOST_AT_ONCE else -(-groups // FOLDED) * FOLDED
        self.column_sums = self._device.zero_block(rows, self.request.columns, self._device.wide(self.request.dtype))


class Plain(OnAccelerator):
    """The plain text, compiled for the device: on GPUs a work-item computes an entry of a row of block vectors, on
    processors whole rows."""

    def __init__(self, device: Launcher, request: Request) -> None:
        super().__init__(device, request)
        layout, apart = device.layout, request.columns > 1 and not device.layout.chunked
        # A group on a processor has a chunk of rows, whose entries count.
        work = max(request.rows, request.entries // 4) if layout.chunked else request.rows
        self._groups = layout.groups_for(work * request.columns)
        if apart:
            check_columns(device.name, request.columns, layout.group)
            # More groups than are resident hide latency better than loops.
            self._groups = max(1, -(-request.rows // (layout.group // request.columns)))
        self._sums = None if request.columns > 1 else self._dots(self._groups)
        if request.columns > 1 and self.form.sums:
            self._keep_column_sums(self._groups)
        made = self._printed(apart=apart)
        self._kernel = device.kernel(made.text, made.text.name, request.dtype)
        partial = [one for one in (self._sums and self._sums.partial, self.column_sums) if one is not None]
        given = [*self._scalars(), *(each for one in partial for each in (one, None)), np.int64(request.rows)]
        self._given = [given[place] for place in made.given]

    def _printed(self, *, apart: bool) -> Printed:
        """The kernel; its arguments are those of the row, memory for any sums, and the rows."""
        # No keyword, and no name of the prelude.
        form, name = self.form, in_c(self.request.kernel.name)
        constants: dict[str, object]
        if apart:
            frame = frames.summed_columns if form.sums else frames.each_column
            constants = {"edge": form.functions.edge, "width": form.columns}
            constants |= {"dtype": form.wide} if form.sums else {}
        elif form.sums:
            frame = frames.summed_rows
            constants = form.loop | {"dots": form.dots, "dtype": form.wide, "sums": form.sums}
        else:
            frame = frames.each_row
            constants = form.loop | {"tiles": tuple(widths(form.columns, form.vector)) if form.columns > 1 else ()}
        kinds: tuple[Kind, ...] = (form.filled(self._kinds()), *((Array(form.wide, 1),) if form.sums else ()), INT)
        return printed(frame, name, kinds, (form.vector, form.wide), constants)

    def _kinds(self) -> dict[str, Kind]:
        """The kinds of the arguments that are used, by name."""
        form = self.form
        return {
            name: Array(one.dtype, 2 if one.block else 1) if one.array else in_register(one.dtype)
            for name, one in form.arguments.items()
        }

    def _scalars(self) -> list[object]:
        """All scalars of the arguments of a row; of those that a call gives their places among these."""
        request, found = self.request, list[Any]()
        for name, one in self.form.in_order():
            value = self.fixed[name] if name in self.fixed else Place(self.free.index(name))
            if not one.array:
                found += _parts(self.fixed[name])
            elif one.block:
                found += value, np.int64(request.rows), np.int64(request.columns)
            else:
                length = value._replace(length=True) if isinstance(value, Place) else np.int64(value.size)
                found += value, length
        return found

    def __call__(self, *free: Vector) -> Dots | None:
        arguments = (one.of(free) if isinstance(one, Place) else one for one in self._given)
        self._device.launch(self._kernel, self._groups, *arguments, spread=self.column_sums is None)
        return self._sums


def check_columns(device: str, columns: int, group: int) -> None:
    """Refuse block vectors of more columns than a group has work-items, each of which has one column."""
    if columns > group:
        raise InputError(
            f"block vectors of {columns} columns: a kernel of device {device} takes at most {group}; take block "
            "vectors of fewer columns, or device cpu"
        )


class Place(NamedTuple):
    """The place of an array among the arguments of a call. length: stands for the length of the array."""

    among_free: int
    length: bool = False

    def of(self, free: tuple[Vector, ...]) -> Vector | np.int64:
        """The array, or its length."""
        found = free[self.among_free]
        return np.int64(found.size) if self.length else found


def _parts(number: np.generic) -> tuple[np.generic, ...]:
    """The scalars of a number as the printer for accelerators declares them."""
    if np.iscomplexobj(number):
        return number.real, number.imag
    whole = {"b": np.int32, "i": np.int64, "u": np.int64}.get(number.dtype.kind)
    return (number if whole is None else whole(number),)


def placed(device: Launcher, fixed: Mapping[str, Any]) -> dict[str, Any]:
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
