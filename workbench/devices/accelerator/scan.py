"""Running sums of integers on an accelerator, of which the host sees total and extremes; and rows sorted by labels."""

from __future__ import annotations

from collections.abc import Sequence
from types import FunctionType
from typing import NamedTuple

import numpy as np

from workbench.compiler.constants import named
from workbench.compiler.kinds import Array, Row
from workbench.devices.accelerator.functions import Prepared
from workbench.devices.accelerator.launcher import Launcher
from workbench.devices.accelerator.runtime import Vector
from workbench.devices.kernels import scan as kernels

SINGLE = np.dtype(np.float32)


class Scan(NamedTuple):
    """ends: shape (n + 1,), the sums of the first 0, 1, .., n values. total: of all; least, most: of the values, and
    of 0."""

    ends: Vector
    total: int
    least: int
    most: int


def scan(
    device: Launcher,
    value: FunctionType,
    given: Sequence[Vector],
    items: int,
    dtype: np.dtype | type = np.int32,
    **constants: int,
) -> Scan:
    """Running sums of values: a function of a place and the given vectors, in the grammar of kernels. dtype: of the
    sums, which are not complete where the total exceeds it. Waits for the device. Cost: two reads."""
    ends, sums = running_sums(device, value, given, items, dtype, None, **constants)
    found = device.to_host(sums)
    return Scan(ends, int(found[0].sum()), int(found[1].min()), int(found[2].max()))


def running_sums(
    device: Launcher,
    value: FunctionType,
    given: Sequence[Vector],
    items: int,
    dtype: np.dtype | type = np.int32,
    room: tuple[Vector, Vector] | None = None,
    **constants: int,
) -> tuple[Vector, Vector]:
    """The sums alone, without waiting for the device, and those of groups, which `scan` reads. room: the vectors of an
    earlier call for as many items, which are overwritten."""
    add, fill = scan_kernels(device, value, [vector.dtype for vector in given], dtype, **constants)
    groups = device.layout.groups_for(items)
    ends, sums = room or (device.empty((items + 1,), dtype), device.empty((3, groups), np.int64))
    add.launch(groups, tuple(given), sums, np.int64(items))
    fill.launch(groups, tuple(given), sums, ends, np.int64(items))
    return ends, sums


def scan_kernels(
    device: Launcher,
    value: FunctionType,
    given: Sequence[np.dtype | type],
    dtype: np.dtype | type = np.int32,
    **constants: int,
) -> tuple[Prepared, Prepared]:
    """The kernels of `running_sums` for vectors of these types; requested early, they are compiled next to others."""
    key = value, tuple(map(np.dtype, given)), np.dtype(dtype), named(constants)
    if key not in device.scans:
        of = tuple(Array(kind, 1) for kind in key[1])
        row, annotations = Row(value, key[3]), {"given": of, "ends": Array(key[2], 1)}
        device.scans[key] = (
            device.function(kernels.run_sums, SINGLE, annotations=annotations, value=row),
            device.function(kernels.running_sums, SINGLE, annotations=annotations, value=row),
        )
    return device.scans[key]


def count_at(i: int, counts: Sequence[int]) -> int:  # pragma: no cover
    """The value where vectors of counts are summed."""
    return counts[i]


class Sorts:
    """Kernels of sorts by labels; made early, they are compiled next to others."""

    def __init__(self, device: Launcher) -> None:
        self._device = device
        of = (kernels.begun, kernels.split, kernels.together, kernels.ranks, kernels.counted)
        self._begun, self._split, self._together, self._ranks, self._counted = (
            device.function(each, SINGLE) for each in of
        )
        scan_kernels(device, kernels.is_even, [np.int32])
        scan_kernels(device, count_at, [np.int32])

    def grouped(self, labels: Vector, count: int) -> Grouped:
        """The rows by labels 0 to count - 1, each of which has some. Cost: three launches for each bit of a label."""
        device, rows = self._device, labels.size
        keys, order, *others = (device.empty((rows,), np.int32) for _ in range(4))
        self._begun.over(rows, labels, keys, order)
        room = None
        for _ in range((count - 1).bit_length()):
            room = running_sums(device, kernels.is_even, [keys], rows, room=room)
            self._split.over(rows, keys, order, room[0], *others)
            (keys, order), others = others, [keys, order]
        places, parents, ranks = (device.empty((rows,), np.int32) for _ in range(3))
        starts, sizes = device.empty((count + 1,), np.int32), device.empty((count,), np.int32)
        self._together.over(rows, labels, order, places, parents, starts)
        self._ranks.over(rows, labels, places, starts, ranks)
        self._counted.over(count, starts, sizes)
        return Grouped(order, places, parents, starts, ranks, sizes, scan(device, count_at, [sizes], count).most)


class Grouped(NamedTuple):
    """Rows by labels. order: the row at each place, those of a label in the order of their numbers; places: of each
    row; parents: the label at each place; starts: the first place of each label, and the end; ranks: of each row among
    those of its label; sizes: rows of each label; most: of these."""

    order: Vector
    places: Vector
    parents: Vector
    starts: Vector
    ranks: Vector
    sizes: Vector
    most: int
