"""Boxes of a grid, split into parts that are numbered box by box."""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any, ClassVar, NamedTuple

import numpy as np

from workbench.errors import InputError

Rows = tuple[Any, Any, Any]
"""E of parts as CSR arrays (data, indices, indptr), rows not sorted, the diagonal entry first; NumPy's or those of a
device."""
MOST_PARTS = 2**31 - 1
"""Parts that are numbered in 32 bits."""
LONGEST_ROW = 32
"""Cells of a row of a box, at most, that a kernel has as a constant."""


@dataclasses.dataclass(frozen=True, eq=False)
class Boxes:
    """Boxes of a grid, each split into parts by phase; box j of n cells on a side with k boxes begins at ceil(j n/k).

    grid, per_side: cells and boxes of each side, slowest first. box, phases, sizes: the box, the phase and the number
    of cells of each part, shape (d,); parts are numbered box by box.
    """

    grid: tuple[int, ...]
    per_side: tuple[int, ...]
    box: np.ndarray
    phases: np.ndarray
    sizes: np.ndarray
    device: ClassVar[Any] = None
    """The device that describes the parts, as in `placed`; None for the host."""
    placed: ClassVar[Any] = None
    """The arrays in the memory of that device."""

    @classmethod
    def whole(cls, grid: tuple[int, ...], per_side: tuple[int, ...]) -> Boxes:
        """Boxes that are not split."""
        sizes = np.ones(1, np.int64)
        for cells, parts in zip(grid, per_side, strict=True):
            sizes = np.outer(sizes, np.diff(-(-np.arange(parts + 1) * cells // parts))).ravel()
        box = np.arange(sizes.size)
        return cls(grid, per_side, box, np.zeros_like(box), sizes)

    @property
    def count(self) -> int:
        """The number of parts, d."""
        return self.box.size

    @functools.cached_property
    def most(self) -> int:
        """Parts of a box, at most."""
        return int(np.diff(self.firsts).max(initial=0))

    @property
    def sides(self) -> tuple[np.ndarray, np.ndarray]:
        """Cells and boxes of three sides, with leading ones."""
        return sides(self.grid, self.per_side)

    @property
    def row_width(self) -> int:
        """Cells of a row of a box, if all boxes have rows of that length; 0 where they differ or are long."""
        width, rest = divmod(self.grid[-1], self.per_side[-1])
        return 0 if rest or width > LONGEST_ROW else width

    @property
    def equal_side(self) -> int:
        """Cells of all sides of all boxes; 0 where they differ or are many."""
        wholes = {divmod(cells, parts) for cells, parts in zip(self.grid, self.per_side, strict=True)}
        side, rest = wholes.pop()
        return 0 if wholes or rest or side > LONGEST_ROW else side

    @functools.cached_property
    def firsts(self) -> np.ndarray:
        """The first part of each box, and d. Cost: a read of `box`, once."""
        ends = np.zeros(math.prod(self.per_side) + 1, np.int64)
        np.cumsum(np.bincount(self.box, minlength=ends.size - 1), out=ends[1:])
        return ends


class EarlierParts(NamedTuple):
    """The parts of boxes at an earlier phase.

    labels: the part of each cell, int32, shape (N,), in host memory. rows: E. moved: whether a box holds a cell that
    has changed its phase since, shape (boxes,).
    """

    labels: np.ndarray
    boxes: Boxes
    rows: Rows
    moved: np.ndarray

    @classmethod
    def of(cls, labels: np.ndarray, boxes: Boxes, rows: Rows, cells: np.ndarray) -> EarlierParts:
        """The earlier parts, with a mark on the boxes of changed cells. cells: their flat places."""
        sides = zip(np.unravel_index(cells, boxes.grid), boxes.grid, boxes.per_side, strict=True)
        moved = np.zeros(boxes.per_side, bool)
        moved[tuple(place * parts // cells for place, cells, parts in sides)] = True
        return cls(labels, boxes, rows, moved.reshape(-1))

    @property
    def stale(self) -> np.ndarray:
        """True for a box whose rows of E may have changed: one that moved, or a face neighbour of such a box."""
        moved = self.moved.reshape(self.boxes.per_side)
        stale = moved.copy()
        for axis in range(moved.ndim):
            here, near = np.moveaxis(stale, axis, 0), np.moveaxis(moved, axis, 0)
            here[1:] |= near[:-1]
            here[:-1] |= near[1:]
        return stale.reshape(-1)


def check_count(parts: int) -> None:
    """Raise InputError for more parts than labels of 32 bits number."""
    if parts > MOST_PARTS:
        raise InputError(
            f"boxes split by phase give {parts} deflation vectors, and at most {MOST_PARTS} can be numbered; use fewer "
            "boxes per side"
        )


def sides(grid: tuple[int, ...], per_side: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Cells and boxes of three sides, with leading ones."""
    lead = (1,) * (3 - len(grid))
    return np.array(lead + tuple(grid), np.int64), np.array(lead + tuple(per_side), np.int64)
