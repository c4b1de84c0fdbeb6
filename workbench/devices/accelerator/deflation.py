"""Deflation on an accelerator: Z^H w, x + Z a, w - AZ a, and E^-1 a. Coarse vectors stay on the device."""

from __future__ import annotations

import math

import numpy as np

from workbench.compiler.constants import named
from workbench.compiler.kinds import INT, Array, Kind, Row
from workbench.devices.accelerator.dots import Dots
from workbench.devices.accelerator.launcher import Launcher
from workbench.devices.accelerator.parts import PlacedBoxes
from workbench.devices.accelerator.runtime import Vector
from workbench.devices.accelerator.scan import count_at, scan, scan_kernels
from workbench.devices.accelerator.sparse_rows import items_per_row_for
from workbench.devices.host.boxes import Boxes
from workbench.devices.host.face_codes import CHOICES, FaceCodes
from workbench.devices.kernels import deflation as kernels
from workbench.devices.kernels import nesting
from workbench.devices.kernels.parameters import places_of
from workbench.lazy import sparse


class CompactColumns:
    """AZ in CSR form without its empty rows."""

    def __init__(self, device: Launcher, az: sparse.csr_array) -> None:
        rows = np.flatnonzero(np.diff(az.indptr))
        index = np.int64 if max(az.shape[0], az.nnz) > np.iinfo(np.int32).max else np.int32
        places = [rows, np.append(az.indptr[rows], az.nnz), az.indices]
        self._places = [device.array(place, index) for place in places]
        self._data, self._touched = device.array(az.data, az.dtype), rows.size
        kind = Array(np.dtype(index), 1)
        of_places = {"rows": kind, "starts": kind, "columns": kind}
        self._subtract = device.function(kernels.subtract_rows, az.dtype, annotations=of_places)

    def subtract(self, w: Vector, coarse: Vector) -> None:
        """w = w - AZ a in place."""
        if self._touched:
            self._subtract.over(self._touched, *self._places, self._data, w, coarse)

    @property
    def traffic(self) -> int:
        stored = self._data.nbytes + sum(place.nbytes for place in self._places)
        return stored + 2 * self._touched * self._data.itemsize

    @property
    def entries(self) -> int:
        return self._data.size


CsrVectors = tuple[Vector, Vector, Vector]
"""data, indices and indptr of a matrix in device memory."""
LONGEST_RUN = 2048
"""Unknowns of a run of equal labels; longer runs are cut, for load balance."""
LONGEST_SHARED_RUN = 256
"""Unknowns of a run that work-items share; many short runs occupy all of a GPU."""
MOST_CELLS_OF_A_BOX = 8192
"""Larger boxes have too few work-items."""
CELLS_PER_ITEM = 64
"""Cells of a box that a work-item adds."""
MOST_CHUNKS = 64
"""Most chunks of a vector in the dot products of `Columns`."""


class Combined:
    """The second stage of a restriction: coarse[k] = the sum of some partial sums, in a fixed order."""

    def __init__(self, device: Launcher, order: np.ndarray, starts: np.ndarray, dtype: np.dtype) -> None:
        self._count = starts.size - 1
        wide = device.wide(dtype)
        self.parts = device.zeros(max(1, order.size), wide)
        self._coarse = device.zeros(self._count, wide)
        self._order, self._starts = device.array(order, np.int32), device.array(starts, np.int32)
        self._kernel = device.function(kernels.add_parts, dtype)

    def __call__(self) -> Vector:
        if self._count:
            self._kernel.launch(self._count, self.parts, self._order, self._starts, self._coarse)
        return self._coarse


class _Labelled:
    """x + Z a by a label per unknown."""

    def __init__(self, device: Launcher, labels: np.ndarray, dtype: np.dtype) -> None:
        self._device, self.size = device, labels.size
        # Kernels read labels of 32 bits.
        self.labels = device.to_device(labels if labels.dtype == np.int32 else labels.astype(np.int32))
        self._prolong = device.function(kernels.prolong, dtype)
        self._prolong_dots = device.function(kernels.prolong_dots, dtype)
        self._dots = Dots(device, dtype, device.layout.groups_for(self.size))

    def add(self, x: Vector, coarse: Vector, sign: int = 1) -> None:
        """x = x + sign Z a in place."""
        signed = self._device.number(sign, coarse.dtype)
        self._prolong.over(self.size, x, self.labels, coarse, signed)

    def add_paired(self, x: Vector, coarse: Vector, r: Vector) -> Dots:
        """x = x + Z a in place, with (r, x), (x, x) and (r, r)."""
        self._prolong_dots.over(self.size, x, self.labels, coarse, r, self._dots.partial)
        return self._dots

    def subtract(self, x: Vector, coarse: Vector) -> None:
        """x = x - Z a in place."""
        self.add(x, coarse, -1)


class Subdomains(_Labelled):
    """Z for labels of shape (N,) in 0..d-1: `restrict` is Z^T w, `add` is x + Z a. Stores one label per unknown."""

    def __init__(self, device: Launcher, labels: np.ndarray, count: int, dtype: np.dtype) -> None:
        super().__init__(device, labels, dtype)
        cut = np.arange(0, self.size, LONGEST_RUN if device.layout.chunked else LONGEST_SHARED_RUN)
        starts = np.union1d(np.flatnonzero(np.diff(labels, prepend=labels[0] - 1)), cut)
        owners = labels[starts]
        order = np.argsort(owners, kind="stable")
        ends = np.searchsorted(owners[order], np.arange(count + 1))
        self._runs = starts.size
        index = np.int64 if self.size > np.iinfo(np.int32).max else np.int32
        self._bounds = device.array(np.append(starts, self.size), index)
        self._combined = Combined(device, order, ends, dtype)
        items_per_run = items_per_row_for(device, self.size / self._runs)
        self._groups = device.layout.groups_for(self.size if device.layout.chunked else self._runs * items_per_run)
        of = {"bounds": places_of(index)}
        self._restrict = device.function(kernels.run_sums, dtype, annotations=of, sharing=items_per_run)

    def restrict(self, w: Vector) -> Vector:
        """Z^T w, shape (d,); the next call overwrites it."""
        self._restrict.launch(self._groups, w, self._bounds, self._combined.parts, np.int64(self._runs))
        return self._combined()

    @property
    def traffic(self) -> int:
        """Bytes of the run lists; the vector comes on top."""
        return self._bounds.nbytes + 2 * self._combined.parts.nbytes


def small_boxes(boxes: Boxes) -> bool:
    """True if a box has few enough cells for the work-items of one group."""
    return many_boxes(boxes.grid, boxes.per_side)


def many_boxes(grid: tuple[int, ...], per_side: tuple[int, ...]) -> bool:
    """True if the boxes of a grid of cells are that small. per_side: their numbers along the sides."""
    return math.prod(grid) <= MOST_CELLS_OF_A_BOX * math.prod(per_side)


class BoxSubdomains(_Labelled):
    """Z for parts of boxes: some work-items add the cells of a box, part by part, in a fixed order."""

    def __init__(self, device: Launcher, labels: np.ndarray, boxes: Boxes, dtype: np.dtype) -> None:
        super().__init__(device, labels, dtype)
        self.boxes = boxes = PlacedBoxes.of(device, boxes)
        self.coarse = device.zeros(boxes.count, device.wide(dtype))
        grid, per_side = boxes.sides
        self._boxes = int(per_side.prod())
        self.firsts, self._most = boxes.placed["firsts"], np.int32(boxes.most)
        self._sides = [np.int64(side) for side in (*grid, *per_side)]
        self._items = items_per_row_for(device, labels.size / self._boxes / CELLS_PER_ITEM)
        self._groups = device.layout.groups_for(self._boxes * self._items)
        if device.layout.chunked:
            self._groups = device.layout.groups_for(self.size)
        self._restrict = device.kernel(kernels.box_sums(self._items), "box_sums", dtype)

    def restrict(self, w: Vector) -> Vector:
        """Z^T w, shape (d,); the next call overwrites it."""
        arguments = (w, self.labels, self.firsts, self.coarse, *self._sides, self._most, np.int64(self._boxes))
        self._device.launch(self._restrict, self._groups, *arguments)
        return self.coarse

    def own(self, coarse: Vector) -> Vector:
        """The entries of the parts of these boxes, numbered as in `labels`."""
        return coarse

    @property
    def traffic(self) -> int:
        """Bytes of the labels and the sums; the vector comes on top."""
        return self.labels.nbytes + self.coarse.nbytes


def box_matrix(
    device: Launcher,
    main: np.ndarray,
    lower: tuple[np.ndarray, ...],
    strides: tuple[int, ...],
    labels: np.ndarray,
    boxes: Boxes,
) -> CsrVectors | None:
    """E of parts of boxes as data, indices and indptr on the device; None where a row has too many entries."""
    operator = (device.to_device(main), tuple(map(device.to_device, lower)), tuple(map(np.int64, strides)))
    band = Array(main.dtype, 1)
    kinds = (band, (band,) * len(lower), (INT,) * len(lower))
    return _rows_of_boxes(device, Row(nesting.of_stencil, ()), operator, kinds, main.dtype, labels, boxes)


def face_box_matrix(
    device: Launcher, faces: FaceCodes, labels: np.ndarray, boxes: Boxes, shift: int, first: int
) -> CsrVectors | None:
    """E of codes of faces, as in `box_matrix`, in double precision where the device has it. shift, first: as in the
    protocol."""
    dtype = device.wide(np.dtype(np.float64))
    numbers = (tuple(device.number(value, dtype) for value in each) for each in (faces.values, faces.walls))
    operator = (device.to_device(faces.stored), *numbers, tuple(map(np.int64, faces.strides)))
    kinds = (Array(np.dtype(np.uint8), 1), *[(dtype,) * CHOICES] * 2, (INT,) * faces.directions)
    cell = Row(nesting.of_faces, named({"walled": faces.walled}))
    return _rows_of_boxes(device, cell, operator, kinds, dtype, labels, boxes, shift, first)


def _rows_of_boxes(
    device: Launcher,
    cell: Row,
    operator: tuple[object, ...],
    kinds: tuple[Kind, ...],
    dtype: np.dtype,
    labels: np.ndarray,
    boxes: Boxes,
    shift: int = 0,
    first: int = 0,
) -> CsrVectors | None:
    """E row by row. cell: what a row of A adds. kinds: of the arguments of A."""
    placed = PlacedBoxes.of(device, boxes)
    parts, kernel = placed.count, device.function(nesting.rows, dtype, annotations={"operator": kinds}, cell=cell)
    scan_kernels(device, count_at, [np.int64], np.int64)
    sides = map(tuple, boxes.sides)
    numbers = map(np.int64, (shift, labels.size, first))
    stencil = (operator, device.to_device(labels), placed.placed["box"], *sides, *numbers)
    counts = device.empty((parts,), np.int64)
    nothing = device.empty((1,), np.int32), device.empty((1,), dtype)
    kernel.over(parts, *stencil, np.int64(0), counts, *nothing)
    indptr, entries, least, _ = scan(device, count_at, [counts], parts, np.int64)
    if least < 0:
        return None
    indices, data = device.empty((entries,), np.int32), device.empty((entries,), dtype)
    kernel.over(parts, *stencil, np.int64(1), indptr, indices, data)
    return data, indices, indptr


class Columns:
    """Z with d columns, given as the rows of an array of shape (d, N)."""

    def __init__(self, device: Launcher, rows: np.ndarray) -> None:
        self._device = device
        self._count, self.size = rows.shape
        self._rows = device.array(rows, rows.dtype)
        self._chunks = max(1, min(MOST_CHUNKS, device.layout.groups_for(self.size)))
        parts = self._count * self._chunks
        self._combined = Combined(device, np.arange(parts), np.arange(0, parts + 1, self._chunks), rows.dtype)
        self._dot = device.function(kernels.column_dots, rows.dtype)
        self._sum = device.function(kernels.column_sum, rows.dtype)

    def restrict(self, w: Vector) -> Vector:
        """Z^H w, shape (d,); the next call overwrites it."""
        if self._count:
            numbers = (np.int64(self._count), np.int64(self.size))
            self._dot.launch(self._count * self._chunks, self._rows, w, self._combined.parts, *numbers)
        return self._combined()

    def add(self, x: Vector, coarse: Vector, sign: int = 1) -> None:
        """x = x + sign Z a in place."""
        numbers = (self._device.number(sign, coarse.dtype), np.int64(self._count))
        self._sum.over(self.size, self._rows, x, coarse, *numbers)

    def add_paired(self, x: Vector, coarse: Vector, r: Vector) -> None:
        """x = x + Z a in place; dot products need a pass of their own."""
        self.add(x, coarse)

    def subtract(self, w: Vector, coarse: Vector) -> None:
        """w = w - Z a in place."""
        self.add(w, coarse, -1)

    @property
    def traffic(self) -> int:
        return self._rows.nbytes

    @property
    def entries(self) -> int:
        return self._rows.size
