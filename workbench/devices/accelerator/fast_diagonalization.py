"""Direct solves with Kronecker sums on many boxes by their eigenvectors, on an accelerator."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from workbench.devices.accelerator.functions import Prepared
from workbench.devices.accelerator.launcher import Launcher
from workbench.devices.accelerator.runtime import Vector
from workbench.devices.fast_diagonalization import Diagonalized
from workbench.devices.kernels import box_sweeps as scaling
from workbench.devices.kernels import fast_diagonalization as texts


class FastDiagonalization:
    """z = A_i^-1 r on every box i; boxes lie one after the other in r and z, shape (n_loc,), real.

    A launch for each axis, all boxes at once, applies V^T along it, and another V: 2 d launches for d axes, and one
    more for the largest magnitudes where precision is narrower than dtype. Boxes with the same `Diagonalized` share its
    memory. Memory: the factors, and 2 vectors of that precision. r and z must be distinct; nothing waits for the host.

    dtype: of r and z. precision: dtype of the factors and products; where they differ, r of a box is divided by its
    largest magnitude before it is rounded.
    Source: Lynch, Rice and Thomas 1964.
    """

    waits = False

    def __init__(self, device: Launcher, boxes: Sequence[Diagonalized], dtype: np.dtype, precision: np.dtype) -> None:
        self._device = device
        inner, mixed = np.dtype(precision), precision != dtype
        device.need(dtype)
        grids = [box.grid for box in boxes]
        self._size, self._outer, self._inner = sum(map(math.prod, grids)), np.dtype(dtype), inner
        self._axes = len(grids[0])
        self._factor_bytes, self.flops = sum(box.nbytes for box in boxes), sum(box.flops for box in boxes)
        distinct = {id(box): box for box in boxes}
        self._matrices = device.array(_joined([v for box in distinct.values() for v in box.vectors]), inner)
        self._inverse = device.array(_joined([box.inverse for box in distinct.values()]), inner)
        tables = _box_tables(boxes)
        self._boxes = [device.array(table, np.int64) for table in tables]
        places = [_tiles(table) for table in tables]
        self._tiles, self._jobs = [device.array(place, np.int64) for place in places], [len(place) for place in places]
        self._work = [device.zeros(self._size, inner) for _ in range(2)]
        self._products = [self._product(step, mixed=mixed) for step in range(2 * self._axes)]
        self._peaks: Vector | tuple[()] = ()
        if mixed:
            whole = [(start, math.prod(grid), 1) for start, grid in zip(tables[0][:, 0], grids, strict=True)]
            self._whole, self._parts = device.array(np.array(whole), np.int64), scaling.PARTS * len(boxes)
            self._peaks = device.zeros(self._parts, device.wide(inner))
            self._find_peaks = device.function(scaling.peaks, inner)

    def _product(self, step: int, *, mixed: bool) -> Prepared:
        """The kernel of a step: V^T along each axis, then V."""
        first, last = step == 0, step == 2 * self._axes - 1
        side = 1 if self._device.layout.chunked else texts.SIDE
        return self._device.function(
            texts.eigenvectors,
            self._inner,
            annotations=texts.product_annotations(mixed=mixed, first=first, last=last),
            group=side**2,
            side=side,
            points=texts.EDGE // side,
            mixed=mixed,
            first=first,
            divides=step == self._axes - 1,
            last=last,
        )

    def apply(self, r: Vector, z: Vector, *_: str) -> None:
        """z for r."""
        steps = 2 * self._axes
        if self._peaks:
            self._find_peaks.launch(self._parts, r, self._peaks, self._whole, np.int64(self._parts))
        source = r
        for step, kernel in enumerate(self._products):
            axis, target = step % self._axes, z if step == steps - 1 else self._work[step % 2]
            peaks = self._peaks if step in (0, steps - 1) else ()
            tables = (self._matrices, self._inverse, self._boxes[axis], self._tiles[axis], peaks)
            transposed, jobs = np.int64(step < self._axes), self._jobs[axis]
            groups = min(jobs, self._device.layout.groups)
            kernel.launch(groups, source, target, *tables, transposed, np.int64(jobs))
            source = target

    @property
    def traffic(self) -> int:
        """Bytes of the factors, each as often as it is used, and of the vectors in every launch."""
        between = 2 * (2 * self._axes - 1) * self._inner.itemsize
        peaks = self._outer.itemsize if self._peaks else 0
        return self._factor_bytes + (2 * self._outer.itemsize + between + peaks) * self._size


def _joined(arrays: Sequence[np.ndarray]) -> np.ndarray:
    return np.concatenate([array.ravel() for array in arrays])


def _box_tables(boxes: Sequence[Diagonalized]) -> list[np.ndarray]:
    """For each axis the six numbers of every box, see `kernels.fast_diagonalization`, shape (boxes, 6)."""
    matrices: dict[int, list[int]] = {}
    inverses: dict[int, int] = {}
    entries = values = start = 0
    tables: list[list[tuple[int, ...]]] = [[] for _ in boxes[0].grid]
    for box in boxes:
        if id(box) not in matrices:
            ends = entries + np.cumsum([0, *(vectors.size for vectors in box.vectors)])
            matrices[id(box)], entries = ends[:-1].tolist(), int(ends[-1])
            inverses[id(box)], values = values, values + box.inverse.size
        size = box.inverse.size
        for axis, points in enumerate(box.grid):
            apart, matrix = math.prod(box.grid[axis + 1 :]), matrices[id(box)][axis]
            tables[axis].append((start, points, apart, size // points, matrix, inverses[id(box)]))
        start += size
    return [np.array(table, np.int64) for table in tables]


def _tiles(boxes: np.ndarray) -> np.ndarray:
    """Box, first row and first column of every tile, shape (tiles, 3). boxes: the table of an axis."""
    corners = [
        (box, top, first)
        for box, (points, columns) in enumerate(boxes[:, [1, 3]].tolist())
        for top in range(0, points, texts.EDGE)
        for first in range(0, columns, texts.EDGE)
    ]
    return np.array(corners, np.int64)
