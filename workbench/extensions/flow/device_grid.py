"""The staggered grid on an accelerator: its arrays lie there, and its stencil kernels are those of the cores."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.compiler.kinds import INT, Array, Row
from workbench.devices.accelerator.device import Accelerator
from workbench.devices.accelerator.functions import Prepared
from workbench.devices.accelerator.placed_phase import PlacedPhase
from workbench.devices.accelerator.runtime import Vector
from workbench.devices.accelerator.scan import scan
from workbench.devices.accelerator.user_vector import UserVector
from workbench.devices.interchange import array_of, in_place
from workbench.devices.kernels.parameters import Known
from workbench.errors import InputError
from workbench.extensions.flow import grid_kernels as kernels
from workbench.extensions.flow import stencils
from workbench.extensions.flow.padded_grid import GHOSTS, PaddedGrid

if TYPE_CHECKING:
    from workbench.devices.operator_protocols import DeviceVector
    from workbench.extensions.flow.padded_grid import Rows

GROUPS = 4096
"""Most groups of a kernel on a GPU."""
BUCKETS, MOST_SUMS = 1 << 17, 1 << 24
"""Work-items that add up what belongs to each bubble, at most, and their sums of all bubbles."""


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
        self._device, self._functions = device, dict[tuple[Any, ...], Prepared]()
        self._groups = device.layout.groups_for(self.count)
        if not device.layout.chunked:
            # Few blocks of a stencil are resident at once, and many have a short last round.
            self._groups = max(1, min(GROUPS, -(-self.count // device.layout.group)))
        self._first = device.array(self.rows.first, np.int64)
        # On GPUs strides, and which terms a direction has, are constants; on processors that would only take long.
        self._strides = device.array(self.strides, np.int64) if device.layout.chunked else tuple(self.strides)
        self._everywhere = device.array(self._is_inner, np.uint8)
        self._near = device.array(np.zeros(self.size), np.uint8)
        self._cells = device.empty((self.count,), np.float64)
        self._numbers = device.empty((self.count,), np.int32)
        self.heights, self.lower = (device.array(values, values.dtype) for values in (self.heights, self.lower))
        of_ghosts = (np.int32, np.int32, np.float64)
        for ghosts in (self._cell_ghosts, self._face_ghosts):
            for layers, lists in ghosts.items():
                ghosts[layers] = tuple(device.array(one, kind) for one, kind in zip(lists, of_ghosts, strict=True))

    def new(self, *leading: int, dtype: np.dtype | type = np.float64) -> DeviceVector:
        made = self._device.empty((*leading, self.size), dtype)
        self._device.runtime.clear(made.handle, made.nbytes)
        return made

    def new_cells(self) -> DeviceVector:
        return self._device.empty((self.count,), np.float64)

    def partials(self, *leading: int, largest: bool = False) -> _Partials:
        return _Partials(self._device, leading, self._groups, largest=largest)

    def combined(self, partials: _Partials) -> np.ndarray:
        values = self._device.to_host(partials.vector)
        return values.max(axis=-1) if partials.largest else values.sum(axis=-1)

    def wait(self) -> None:
        self._device.synchronize()

    def copy(self, target: DeviceVector, source: DeviceVector) -> None:
        self._device.assign(target, source)

    def assign(self, target: DeviceVector, values: np.ndarray) -> None:
        self._device.runtime.upload(target.handle, np.ascontiguousarray(values, target.dtype))

    def on_host(self, array: DeviceVector) -> np.ndarray:
        return self._device.to_host(array)

    def given(self, cells: DeviceVector) -> Any:
        if self._device.layout.language == "opencl":
            return self.on_host(cells)
        self.wait()
        return array_of(cells)

    def put(self, padded: DeviceVector, cells: DeviceVector | PlacedPhase | float) -> None:
        there = cells if isinstance(cells, PlacedPhase) else in_place(cells, "p")
        if isinstance(there, UserVector | PlacedPhase):
            held = there.vector
        else:
            kind = np.int32 if padded.dtype == np.int64 else np.float64
            given = np.ascontiguousarray(np.broadcast_to(cells, self.grid), kind).reshape(-1)
            held = self._numbers if kind == np.int32 else self._cells
            self._device.runtime.upload(held.handle, given)
        kinds = {"cells": Array(held.dtype, 1), "padded": Array(padded.dtype, 1)}
        self._over(kernels.put, self.count, self._first, held, padded, annotations=kinds)

    def is_inside(self, phi: DeviceVector) -> np.ndarray:
        inside = self._device.empty((self.count,), np.uint8)
        self._over(kernels.inside, self.count, self._first, phi, inside)
        return self._device.to_host(inside).view(bool).reshape(self.grid)

    def placed(self, labels: np.ndarray) -> PlacedPhase:
        return PlacedPhase.of(self._device, labels)

    def crossed(self, phi: DeviceVector, labels: PlacedPhase) -> np.ndarray:
        given = (self._first, phi, labels.vector)
        found = scan(self._device, kernels.has_crossed, given, self.count, nx=self.cells[0])
        places = self._device.empty((found.total,), np.int64)
        if found.total:
            self._over(kernels.listed, self.count, found.ends, places)
        return self._device.to_host(places)

    def near(self, phi: DeviceVector, within: float) -> Vector:
        over, layers = (self.strides[2], 1) if self.directions == 3 else (0, 0)
        sizes = map(np.int64, (self.strides[1], over, layers))
        self._over(kernels.near, self.count, self._first, phi, np.float64(within), *sizes, self._near)
        return self._near

    def sums_by(self, owner: DeviceVector, values: Sequence[DeviceVector], count: int) -> list[np.ndarray]:
        device, buckets = self._device, min(BUCKETS, max(1, MOST_SUMS // count), self.count)
        add = device.function(kernels.of_buckets, np.float64)
        found = []
        for one in values:
            sums, totals = device.empty((count, buckets), np.float64), device.empty((count,), np.float64)
            device.runtime.clear(sums.handle, sums.nbytes)
            self._over(kernels.into_buckets, buckets, self._first, owner, one, np.int64(self.count), sums)
            add.launch(count, sums, totals, np.int64(buckets))
            found.append(totals)
        return [device.to_host(totals) for totals in found]

    def launch(
        self,
        of: FunctionType,
        *arguments: DeviceVector | float,
        sums: _Partials | None = None,
        rows: Rows | DeviceVector | None = None,
    ) -> None:
        given = tuple(map(self._given, arguments))
        key = of, *((one.dtype, len(one.shape)) for one in given)
        if key not in self._functions:
            self._functions[key] = self._stencil(of, given, sums)
        near = rows if isinstance(rows, Vector) else self._everywhere
        partial = () if sums is None else (sums.vector,)
        all_given = (self._first, near, self._strides, given, *partial, np.int64(self.count))
        self._functions[key].launch(self._groups, *all_given, spread=True)

    def _stencil(self, of: FunctionType, given: tuple[Vector | np.generic, ...], sums: _Partials | None) -> Prepared:
        """A stencil kernel for arguments of the kinds of those given."""
        on_gpu = tuple(Known(INT, (stride,)) for stride in self.strides.tolist())
        strides = on_gpu if isinstance(self._strides, tuple) else Array(INT, 1)
        frame, more = stencils.of_cells, {}
        if sums is not None:
            frame, more = stencils.summed_cells, {"sums": sums.count, "largest": sums.largest}
        annotations = {"strides": strides, "arguments": tuple(map(_kind_of, given))}
        nx, row = self.cells[0], Row(of, ())
        return self._device.function(frame, np.float64, annotations=annotations, of=row, nx=nx, **more)

    def fill(self, cells: DeviceVector, layers: int = GHOSTS) -> None:
        self._filled(self._cell_ghosts[layers], cells)

    def fill_faces(self, u: DeviceVector, layers: int = GHOSTS) -> None:
        self._filled(self._face_ghosts[layers], u)

    def _filled(self, lists: tuple[DeviceVector, ...], values: DeviceVector) -> None:
        self._over(kernels.fill, lists[0].size, *lists, values)

    def _over(
        self, function: FunctionType, items: int, *arguments: object, annotations: Mapping[str, Array] | None = None
    ) -> None:
        """Run a kernel of this grid over `items` items."""
        key = function, *(annotations or {}).values()
        if key not in self._functions:
            constants = {"nx": self.cells[0]} if "nx" in function.__code__.co_varnames else {}
            self._functions[key] = self._device.function(function, np.float64, annotations=annotations, **constants)
        self._functions[key].over(items, *arguments)

    def _given(self, argument: DeviceVector | float) -> Vector | np.generic:
        """An argument as kernels take it."""
        if isinstance(argument, np.ndarray):
            return self._device.array(argument, argument.dtype)
        if isinstance(argument, Vector):
            return argument
        return np.int64(argument) if isinstance(argument, int | np.integer) else np.float64(argument)


def _kind_of(argument: Vector | np.generic) -> Array | Known | np.dtype:
    """The kind of an argument. Lengths of arrays of all directions are constants: directions lie a constant apart."""
    if not isinstance(argument, Vector):
        return argument.dtype
    kind = Array(argument.dtype, len(argument.shape))
    return Known(kind, argument.shape) if kind.ndim == 2 else kind


class _Partials:
    """One sum or maximum of each group of a launch."""

    def __init__(self, device: Accelerator, leading: tuple[int, ...], groups: int, *, largest: bool) -> None:
        self.largest, self.count = largest, math.prod(leading)
        self.vector = device.empty((*leading, groups), np.float64)
