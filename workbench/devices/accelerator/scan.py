"""Running sums of integers on an accelerator: the host sees their total and their extremes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from workbench.devices.accelerator.launcher import Launcher
from workbench.devices.accelerator.runtime import Vector
from workbench.devices.kernels import nesting as texts

COUNTS = "counts[i]"
"""The value where vectors of counts are summed."""
TYPES = {np.dtype(np.int32): "int", np.dtype(np.int64): "I64", np.dtype(np.float64): "double"}


class Scan(NamedTuple):
    """ends: shape (n + 1,), the sums of the first 0, 1, .., n values. total: of all; least, most: of the values, and
    of 0."""

    ends: Vector
    total: int
    least: int
    most: int


def scan(
    device: Launcher, value: str, given: Mapping[str, Vector], items: int, dtype: np.dtype | type = np.int32
) -> Scan:
    """Running sums of values: an expression in i and the names of the given vectors. dtype: of the sums, which are not
    complete where the total exceeds it. Waits for the device. Cost: two reads."""
    ends, sums = running_sums(device, value, given, items, dtype)
    found = device.to_host(sums)
    return Scan(ends, int(found[0].sum()), int(found[1].min()), int(found[2].max()))


def running_sums(
    device: Launcher, value: str, given: Mapping[str, Vector], items: int, dtype: np.dtype | type = np.int32
) -> tuple[Vector, Vector]:
    """The sums alone, without waiting for the device, and what `scan` reads."""
    add, fill = scan_kernels(device, value, {name: vector.dtype for name, vector in given.items()}, dtype)
    groups = device.layout.groups_for(items)
    sums, ends = device.empty((3, groups), np.int64), device.empty((items + 1,), dtype)
    arguments: tuple[Any, ...] = tuple(given.values())
    device.launch(add, groups, *arguments, sums, np.int64(items))
    device.launch(fill, groups, *arguments, sums, ends, np.int64(items))
    return ends, sums


def scan_kernels(
    device: Launcher, value: str, given: Mapping[str, np.dtype | type], dtype: np.dtype | type = np.int32
) -> tuple[Any, Any]:
    """Those of `running_sums` for vectors of these types; asked for early, they are compiled next to others."""
    kinds, single = {name: TYPES[np.dtype(kind)] for name, kind in given.items()}, np.dtype(np.float32)
    of_sums, of_ends = texts.scan(value, kinds, TYPES[np.dtype(dtype)])
    return device.kernel(of_sums, "scan_sums", single), device.kernel(of_ends, "scan_ends", single)
