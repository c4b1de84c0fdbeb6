"""The staggered grid on an accelerator: its arrays lie there, and its kernels are those of the CPU, printed in C."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.devices.accelerator.device import Accelerator
from workbench.devices.accelerator.held import HeldVector
from workbench.devices.accelerator.placed_phase import PlacedPhase
from workbench.devices.accelerator.runtime import Function, Vector
from workbench.devices.accelerator.scan import scan
from workbench.devices.interchange import array_of, kept
from workbench.devices.kernels.kernel_text import KernelText
from workbench.devices.kernels.source import read
from workbench.errors import InputError
from workbench.flow.padded_grid import GHOSTS, PaddedGrid
from workbench.jit.compiled import Kernel
from workbench.kernel_language.of_rows import MAXIMUM, SUM, Kind, row_text

SCALARS = {"f8": "double", "i8": "I64", "i4": "int", "u1": "uchar_t", "b1": "uchar_t"}
GROUPS = 4096
"""Of a kernel on a GPU, at most."""
BUCKETS, MOST_SUMS = 1 << 17, 1 << 24
"""Work-items that add up what belongs to each bubble, at most, and their sums of all bubbles."""

_FILL = """
KERNEL fill(GLOBAL const int* RESTRICT ghosts, GLOBAL const int* RESTRICT sources, GLOBAL const double* RESTRICT signs,
            GLOBAL double* values, const I64 n)
{
    FOR_EACH(k, n) values[ghosts[k]] = signs[k]*values[sources[k]];
}
"""
_NEAR = """
KERNEL near_cells(GLOBAL const I64* RESTRICT rows, GLOBAL const double* RESTRICT phi, const double within,
                  const I64 up, const I64 over, const I64 layers, GLOBAL unsigned char* RESTRICT near,
                  const I64 n)
{
    FOR_EACH(item, n) {
        const I64 i = rows[item / NX] + item % NX;
        unsigned char found = 0;
        for (I64 z = -layers; z <= layers; z++)
            for (I64 y = -1; y <= 1; y++)
                for (I64 x = -1; x <= 1; x++)
                    if (fabs(phi[i + x + y*up + z*over]) < within) found = 1;
        near[i] = found;
    }
}
"""
_INSIDE = """
KERNEL inside_cells(GLOBAL const I64* RESTRICT rows, GLOBAL const double* RESTRICT phi,
                    GLOBAL unsigned char* RESTRICT inside, const I64 n)
{
    FOR_EACH(item, n) inside[item] = phi[rows[item / NX] + item % NX] < 0;
}
"""
_PUT = """
KERNEL put_cells(GLOBAL const I64* RESTRICT rows, GLOBAL const FROM* RESTRICT cells,
                 GLOBAL TO* RESTRICT padded, const I64 n)
{
    FOR_EACH(item, n) padded[rows[item / NX] + item % NX] = (TO)cells[item];
}
"""
_BUCKETS = """
KERNEL add_up(GLOBAL const I64* RESTRICT rows, GLOBAL const I64* RESTRICT owner, GLOBAL const double* RESTRICT values,
              const I64 cells, GLOBAL double* RESTRICT sums, const I64 n)
{
    FOR_EACH(bucket, n) {
        for (I64 item = bucket; item < cells; item += n) {
            const I64 i = rows[item / NX] + item % NX;
            if (values[i] != 0) sums[owner[i]*n + bucket] += values[i];
        }
    }
}
"""
_OF_BUCKETS = f"""
KERNEL add_buckets(GLOBAL const double* RESTRICT sums, GLOBAL double* RESTRICT totals, const I64 n)
{{
    SHARED(double, room, GROUP);
    double total = 0;
    for (I64 bucket = LOCAL_ID; bucket < n; bucket += GROUP) total += sums[GROUP_ID*n + bucket];
    room[LOCAL_ID] = total;
    {read("tree_sum")}
    if (LOCAL_ID == 0) totals[GROUP_ID] = room[0];
}}
"""
_LISTED = """
KERNEL list_cells(GLOBAL const int* RESTRICT ends, GLOBAL I64* RESTRICT places, const I64 n)
{
    FOR_EACH(i, n) if (ends[i + 1] > ends[i]) places[ends[i]] = i;
}
"""


class DeviceGrid(PaddedGrid):
    """A grid whose arrays are vectors of an accelerator, double precision.

    Kernels compute one cell by one work-item; sums over rows are those over groups, in another order than on the CPU.
    The host gets the places of cells that cross the interface, and numbers of the bubbles; on OpenCL also right-hand
    sides and pressures. Raises InputError for a device that does not compute in double precision.
    """

    def __init__(self, cells: tuple[int, ...], h: float, no_slip: tuple[bool, ...], device: Accelerator) -> None:
        super().__init__(cells, h, no_slip)
        if not device.layout.double:
            raise InputError(
                f"device {device.name} ({device.runtime.title}) does not compute in double precision, which a flow "
                "needs; use device cpu"
            )
        self._device, self._functions = device, {}
        self._groups = device.layout.groups_for(self.count)
        if not device.layout.chunked:
            # Few blocks of a stencil are resident at once, and many have a short last round.
            self._groups = max(1, min(GROUPS, -(-self.count // device.layout.group)))
        self._first = device.array(self.rows.first, np.int64)
        self._everywhere = device.array(self._is_inner, np.uint8)
        self._near = device.array(np.zeros(self.size), np.uint8)
        self._cells = device.empty((self.count,), np.float64)
        self._numbers = device.empty((self.count,), np.int32)
        self.heights, self.lower = (device.array(values, values.dtype) for values in (self.heights, self.lower))
        of_ghosts = (np.int32, np.int32, np.float64)
        for ghosts in (self._cell_ghosts, self._face_ghosts):
            for layers, lists in ghosts.items():
                ghosts[layers] = tuple(device.array(one, kind) for one, kind in zip(lists, of_ghosts, strict=True))

    def new(self, *leading: int, dtype: Any = np.float64) -> Any:
        made = self._device.empty((*leading, self.size), dtype)
        self._device.runtime.clear(made.handle, made.nbytes)
        return made

    def new_cells(self) -> Any:
        return self._device.empty((self.count,), np.float64)

    def partials(self, *leading: int, largest: bool = False) -> Any:
        return _Partials(self._device, leading, self._groups, MAXIMUM if largest else SUM)

    def combined(self, partials: Any) -> np.ndarray:
        values = self._device.to_host(partials.vector)
        return values.max(axis=-1) if partials.how == MAXIMUM else values.sum(axis=-1)

    def wait(self) -> None:
        self._device.synchronize()

    def copy(self, target: Any, source: Any) -> None:
        self._device.assign(target, source)

    def assign(self, target: Any, values: np.ndarray) -> None:
        self._device.runtime.upload(target.handle, np.ascontiguousarray(values, target.dtype))

    def on_host(self, array: Any) -> np.ndarray:
        return self._device.to_host(array)

    def given(self, cells: Any) -> Any:
        if self._device.layout.language == "opencl":
            return self.on_host(cells)
        self.wait()
        return array_of(cells)

    def put(self, padded: Any, cells: Any) -> None:
        there = cells if isinstance(cells, PlacedPhase) else kept(cells, "p")
        if isinstance(there, HeldVector | PlacedPhase):
            held = there.vector
        else:
            kind = np.int32 if padded.dtype == np.int64 else np.float64
            given = np.ascontiguousarray(np.broadcast_to(cells, self.grid), kind).reshape(-1)
            held = self._numbers if kind == np.int32 else self._cells
            self._device.runtime.upload(held.handle, given)
        names = {"FROM": SCALARS[held.dtype.str[1:]], "TO": SCALARS[padded.dtype.str[1:]]}
        text = _PUT
        for name, scalar in names.items():
            text = text.replace(name, scalar)
        self._over(text, "put_cells", self.count, self._first, held, padded)

    def is_inside(self, phi: Any) -> np.ndarray:
        inside = self._device.empty((self.count,), np.uint8)
        self._over(_INSIDE, "inside_cells", self.count, self._first, phi, inside)
        return self._device.to_host(inside).view(bool).reshape(self.grid)

    def placed(self, labels: np.ndarray) -> Any:
        return PlacedPhase.of(self._device, labels)

    def crossed(self, phi: Any, labels: Any) -> np.ndarray:
        nx, given = self.cells[0], {"rows": self._first, "phi": phi, "labels": labels.vector}
        found = scan(self._device, f"(phi[rows[i/{nx}] + i%{nx}] < 0) != (labels[i] > 0)", given, self.count)
        places = self._device.empty((found.total,), np.int64)
        if found.total:
            self._over(_LISTED, "list_cells", self.count, found.ends, places)
        return self._device.to_host(places)

    def near(self, phi: Any, within: float) -> Any:
        over, layers = (self.strides[2], 1) if self.directions == 3 else (0, 0)
        sizes = map(np.int64, (self.strides[1], over, layers))
        self._over(_NEAR, "near_cells", self.count, self._first, phi, np.float64(within), *sizes, self._near)
        return self._near

    def sums_by(self, owner: Any, values: Sequence[Any], count: int) -> list[np.ndarray]:
        device, buckets = self._device, min(BUCKETS, max(1, MOST_SUMS // count), self.count)
        add = device.kernel(_OF_BUCKETS, "add_buckets", np.dtype(np.float64))
        found = []
        for one in values:
            sums, totals = device.empty((count, buckets), np.float64), device.empty((count,), np.float64)
            device.runtime.clear(sums.handle, sums.nbytes)
            self._over(_BUCKETS, "add_up", buckets, self._first, owner, one, np.int64(self.count), sums)
            device.launch(add, count, sums, totals, np.int64(buckets))
            found.append(totals)
        return [device.to_host(totals) for totals in found]

    def launch(self, kernel: Kernel, *arguments: Any, rows: Any = None) -> None:
        given = [self._given(argument) for argument in arguments]
        kinds = tuple(kind for kind, _ in given)
        handles = [id(value.handle) for _, value in given if isinstance(value, Vector)]
        aliased = len(set(handles)) < len(handles)
        key = kernel, kinds, aliased
        if key not in self._functions:
            sizes = self.strides.tolist(), self.size, self.cells[0], len(self.rows.first)
            assert kernel.py_func is not None
            text = row_text(kernel.py_func, kinds, *sizes, aliased=aliased)
            whole = KernelText("cells", text.declaration, text.statements, text.before)
            self._functions[key] = self._device.kernel(whole, "cells", np.dtype(np.float64))
        near = rows if isinstance(rows, Vector) else self._everywhere
        values = (value for _, value in given)
        given = (self._first, near, *values, np.int64(self.count))
        self._device.launch(self._functions[key], self._groups, *given, spread=True)

    def fill(self, cells: Any, layers: int = GHOSTS) -> None:
        self._filled(self._cell_ghosts[layers], cells)

    def fill_faces(self, u: Any, layers: int = GHOSTS) -> None:
        self._filled(self._face_ghosts[layers], u)

    def _filled(self, lists: Any, values: Any) -> None:
        self._over(_FILL, "fill", lists[0].size, *lists, values)

    def _over(self, text: str, name: str, items: int, *arguments: Any) -> None:
        text = text.replace("NX", str(self.cells[0]))
        function: Function = self._device.kernel(text, name, np.dtype(np.float64))
        self._device.launch_over(function, items, *arguments)

    def _given(self, argument: Any) -> tuple[Kind, Any]:
        """The kind of an argument, and what is launched on."""
        if isinstance(argument, _Partials):
            return Kind("double", argument.dimensions, argument.how), argument.vector
        if isinstance(argument, np.ndarray):
            argument = self._device.array(argument, argument.dtype)
        if isinstance(argument, Vector):
            return Kind(SCALARS[argument.dtype.str[1:]], len(argument.shape)), argument
        if isinstance(argument, int | np.integer):
            return Kind("I64"), np.int64(argument)
        return Kind("double"), np.float64(argument)


class _Partials:
    """One sum or maximum of each group of a launch."""

    def __init__(self, device: Accelerator, leading: tuple[int, ...], groups: int, how: str) -> None:
        self.how, self.dimensions = how, len(leading) + 1
        self.vector = device.empty((*leading, groups), np.float64)
