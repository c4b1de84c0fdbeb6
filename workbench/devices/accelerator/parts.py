"""The parts of boxes split by phase, numbered and merged on an accelerator: the host sees how many there are."""

from __future__ import annotations

import functools
import math
from typing import NamedTuple

import numpy as np

from workbench.compiler.kinds import Array
from workbench.devices.accelerator.launcher import Launcher
from workbench.devices.accelerator.placed_phase import SINGLE, PlacedPhase
from workbench.devices.accelerator.runtime import Vector
from workbench.devices.accelerator.scan import count_at, scan, scan_kernels
from workbench.devices.host.boxes import Boxes, check_count, sides
from workbench.devices.kernels import nesting

PHASES = frozenset(map(np.dtype, (np.uint8, np.uint16, np.int32)))
"""Types of phases that kernels read."""


class PlacedBoxes(Boxes):
    """Boxes whose parts are described in device memory; the host gets a copy of an array where it asks for it.

    placed: box, phases and sizes, shape (d,), and the first part of each box, and d; int32.
    """

    def __init__(
        self, device: Launcher, grid: tuple[int, ...], per_side: tuple[int, ...], placed: dict[str, Vector], most: int
    ) -> None:
        # The fields of a frozen class; the arrays are made by the properties.
        vars(self).update(grid=grid, per_side=per_side, device=device, placed=placed, most=most)

    @classmethod
    def of(cls, device: Launcher, boxes: Boxes) -> PlacedBoxes:
        """These boxes on the device."""
        if isinstance(boxes, PlacedBoxes):
            return boxes
        named = {"box": boxes.box, "phases": boxes.phases, "sizes": boxes.sizes, "firsts": boxes.firsts}
        placed = {name: device.array(values, np.int32) for name, values in named.items()}
        return cls(device, boxes.grid, boxes.per_side, placed, boxes.most)

    def __reduce__(self) -> tuple[type[Boxes], tuple[object, ...]]:
        return Boxes, (self.grid, self.per_side, self.box, self.phases, self.sizes)

    @property
    def count(self) -> int:
        return self.placed["box"].size

    @functools.cached_property
    def box(self) -> np.ndarray:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.device.to_host(self.placed["box"])

    @functools.cached_property
    def phases(self) -> np.ndarray:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.device.to_host(self.placed["phases"])

    @functools.cached_property
    def sizes(self) -> np.ndarray:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.device.to_host(self.placed["sizes"]).astype(np.int64)


def numbered_parts(
    device: Launcher, phase: np.ndarray | PlacedPhase, grid: tuple[int, ...], per_side: tuple[int, ...]
) -> tuple[Vector, Boxes] | None:
    """The part of each cell, int32, shape (N,), on the device, and the boxes; None where a box has too many phases.

    Cost: two reads of the phases, one write of the parts; N bytes and more are copied for phases of uint8. Raises
    InputError for more parts than 32 bits number.
    """
    shape, boxes = sides(grid, per_side)
    count = math.prod(per_side)
    check_count(count)
    if isinstance(phase, PlacedPhase):
        placed = phase.vector
    else:
        flat = phase.reshape(-1)
        placed = device.to_device(flat if flat.dtype in PHASES else flat.astype(np.int32))
    kernel = device.function(nesting.number, SINGLE, annotations={"phase": Array(placed.dtype, 1)})
    scan_kernels(device, count_at, [np.int32])
    read = (placed, tuple(shape), tuple(boxes))
    nothing = device.empty((1,), np.int32)
    counts = device.empty((count,), np.int32)
    kernel.over(count, *read, np.int64(0), counts, *[nothing] * 4)
    firsts, parts, least, most = scan(device, count_at, [counts], count)
    if least < 0:
        return None
    check_count(parts)
    labels = device.empty((phase.size,), np.int32)
    found = {name: device.empty((parts,), np.int32) for name in ("box", "phases", "sizes")}
    kernel.over(count, *read, np.int64(1), firsts, labels, *found.values())
    return labels, PlacedBoxes(device, grid, per_side, {**found, "firsts": firsts}, most)


class Merge(NamedTuple):
    """A merge of parts: the merged part of each, its rank among the parts of that, and the number of parts of each."""

    parents: Vector
    ranks: Vector
    children: Vector


def merged_parts(
    device: Launcher, firsts: Vector, phases: Vector, per_side: tuple[int, ...]
) -> tuple[Vector, Vector, Merge]:
    """The first part of each merged box and their number, the phase of each merged part, and the merge.

    firsts, phases, per_side: of the boxes. Cost: two reads of the phases.
    """
    coarse = tuple(-(-boxes // 2) for boxes in per_side)
    count = math.prod(coarse)
    kernel = device.function(nesting.merge, SINGLE)
    scan_kernels(device, count_at, [np.int32])
    read = (firsts, phases, tuple(sides(per_side, per_side)[1]))
    counts, nothing = device.empty((count,), np.int32), device.empty((1,), np.int32)
    kernel.over(count, *read, np.int64(0), counts, *[nothing] * 4)
    ends, parts, *_ = scan(device, count_at, [counts], count)
    merged, children = (device.empty((parts,), np.int32) for _ in range(2))
    parents, ranks = (device.empty(phases.shape, np.int32) for _ in range(2))
    kernel.over(count, *read, np.int64(1), ends, merged, children, parents, ranks)
    return ends, merged, Merge(parents, ranks, children)
