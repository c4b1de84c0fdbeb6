"""Jacobi sweeps on many boxes, on an accelerator."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from workbench.devices.accelerator import tile_plan
from workbench.devices.accelerator.launcher import Launcher
from workbench.devices.accelerator.runtime import Vector
from workbench.devices.jacobi_boxes import JacobiBoxes
from workbench.devices.kernels import box_sweeps as texts
from workbench.devices.operator_protocols import OperatorTraits

if TYPE_CHECKING:
    from workbench.devices.accelerator.runtime import Function

RECORDED = 64
"""Launches that are replayed together where the device can record; even, so that the vectors are as before."""
COUNTER = 4
"""Bytes of the counter of the grid-wide barrier."""


class BoxSweeps(OperatorTraits):
    """z = `sweeps` Jacobi sweeps on every box for r, from z = 0. All kernels give the same bits.

    Memory: 3 vectors, 6 for variable coefficients. kernel: plain, a launch per sweep; blocked, a launch for several
    sweeps in local memory; persistent, a launch for all of them, where all tiles fit the chip at once. auto: the last
    that the device has room for; on processors plain. r and z must be distinct.
    """

    fused_dots = ()

    def __init__(self, device: Launcher, boxes: JacobiBoxes, kernel: str = "auto") -> None:
        together = device.runtime.multiprocessors
        boxes.check_kernel(kernel, ("plain", "blocked", *(["persistent"] if together else [])), device.name)
        device.need(boxes.outer)
        self._device, self._boxes, self._later = device, boxes, boxes.sweeps - 1
        inner, size, constant = boxes.inner, boxes.size, boxes.constant
        table = [(start, *shape) for start, shape in zip(boxes.starts, boxes.shapes, strict=True)]
        self._table = device.array(np.array(table), np.int64)
        self._right, self._even, self._odd = (device.zeros(size, inner) for _ in range(3))
        if constant:
            self._coefficients = [device.array(boxes.numbers, inner)]
        else:
            # Zeros after the end, which the last rows read.
            after = np.zeros(max(width for _, width in boxes.shapes))
            bands = (1 / boxes.main, boxes.lower_x, boxes.lower_y)
            self._coefficients = [device.array(np.concatenate([band, after]), inner) for band in bands]
        self._parts = texts.PARTS * len(boxes.shapes)
        mixed = boxes.mixed
        self._peaks = device.zeros(self._parts, device.wide(inner)) if mixed else ()
        if mixed:
            self._find_peaks = device.function(texts.peaks, inner)
        of_r, of_z = (texts.outer(name, mixed=mixed) for name in ("r", "out"))
        self._begin = device.function(texts.begin, inner, annotations=of_r, constant=constant, mixed=mixed)
        self._end = device.function(texts.end, inner, annotations=of_z, mixed=mixed)
        self._unit: Callable[[], None] | None = None
        self._choose(kernel)

    def _choose(self, kernel: str) -> None:
        """The kernel, its tiles and the number of its launches."""
        device = self._device
        processor = device.layout.chunked
        persistent = None
        if kernel == "persistent" or (kernel == "auto" and device.runtime.multiprocessors):
            persistent = self._persistent()
            if kernel == "persistent" and persistent is None:
                kernel = "blocked"
        if persistent:
            self.kernel = "persistent"
            self._tile, self._sweep = persistent
            self._arrivals = device.runtime.allocate(COUNTER)
        elif kernel == "plain" or (kernel == "auto" and processor):
            self.kernel = "plain"
            self._tile = texts.Tile(texts.EDGE, 0, device.layout.group)
            self._sweep = device.kernel(texts.plain(constant=self._boxes.constant), "sweep", self._boxes.inner)
        else:
            self.kernel = "blocked"
            self._tile = tile_plan.tile_in_local_memory(device.layout, self._boxes.inner.itemsize)
            text = texts.tiles(self._tile, constant=self._boxes.constant)
            self._sweep = device.kernel(text, "sweeps", self._boxes.inner)
        self._tiles = device.array(tile_plan.tiles(self._boxes.shapes, self._tile.edge), np.int64)
        self._jobs = self._tiles.shape[0]
        self._launches = math.ceil(self._later / max(1, self._tile.halo))

    def _persistent(self) -> tuple[texts.Tile, Function] | None:
        """Tile and kernel whose groups are all on the chip at once, or None."""
        device, boxes = self._device, self._boxes
        for resident in tile_plan.GROUPS_PER_MULTIPROCESSOR:
            tile = tile_plan.persistent_tile(
                boxes.shapes, boxes.inner.itemsize, device.runtime.multiprocessors, resident, self._later
            )
            if tile is None:
                continue
            text = texts.persistent(tile, constant=boxes.constant)
            function = device.kernel(text, "sweeps", boxes.inner, group=tile.group)
            if tile_plan.count(boxes.shapes, tile.edge) <= device.runtime.resident(function, tile.group):
                return tile, function
        return None

    def apply(self, r: Vector, z: Vector, *_: str) -> None:
        """z for r, both of shape (n_loc,) and the outer dtype."""
        parts = np.int64(self._parts)
        if self._boxes.mixed:
            self._find_peaks.launch(self._parts, r, self._peaks, self._table, parts)
        vectors = r, self._right, self._even
        self._begin.launch(self._parts, *vectors, self._table, self._peaks, self._coefficients[0], parts)
        if self.kernel == "persistent":
            self._together()
        else:
            self._one_by_one()
        last = self._odd if self._launches % 2 else self._even
        self._end.launch(self._parts, z, last, self._table, self._peaks, parts)

    def _together(self) -> None:
        device, tile = self._device, self._tile
        if not self._later:
            return
        device.runtime.clear(self._arrivals, COUNTER)
        vectors = [self._even, self._odd, self._right, self._table, self._tiles, *self._coefficients]
        arguments = (*(vector.handle for vector in vectors), self._arrivals, np.int32(self._later))
        device.runtime.launch_together(self._sweep, self._jobs, tile.group, arguments)

    def _one_by_one(self) -> None:
        """Launches with as many sweeps each as the halo has points; the last one makes what is left."""
        whole = self._later // max(1, self._tile.halo)
        units = 0
        if whole >= RECORDED and not self._device.runtime.recording:
            self._unit = self._unit or self._device.runtime.record(lambda: self._some(0, RECORDED))
            units = whole // RECORDED if self._unit else 0
        for _ in range(units):
            assert self._unit
            self._unit()
        self._some(units * RECORDED, self._launches)

    def _some(self, first: int, end: int) -> None:
        device, halo = self._device, self._tile.halo
        groups = min(self._jobs, device.layout.groups)
        vectors, fixed = (self._even, self._odd), (self._right, self._table, self._tiles, *self._coefficients)
        for number in range(first, end):
            source, target = vectors[number % 2], vectors[1 - number % 2]
            times = [np.int32(min(halo, self._later - number * halo))] if halo else []
            device.launch(self._sweep, groups, source, target, *fixed, *times, np.int64(self._jobs))

    @property
    def traffic(self) -> int:
        """Bytes of the launches, or exchanges, of one application, each array of one counted once."""
        return self._boxes.traffic(self._launches)

    @property
    def flops(self) -> int:
        """Operations for the result: points of a halo, which several groups compute, are counted once."""
        return self._boxes.flops
