"""Boxes of a grid, split into parts that are numbered box by box."""

from __future__ import annotations

import dataclasses
import functools
import math

import numpy as np

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

    @classmethod
    def whole(cls, grid: tuple[int, ...], per_side: tuple[int, ...]) -> Boxes:
        """Boxes that are not split."""
        sizes = np.ones(1, np.int64)
        for cells, parts in zip(grid, per_side, strict=True):
            sizes = np.outer(sizes, np.diff(-(-np.arange(parts + 1) * cells // parts))).ravel()
        box = np.arange(sizes.size)
        return cls(grid, per_side, box, np.zeros_like(box), sizes)

    @property
    def sides(self) -> tuple[np.ndarray, np.ndarray]:
        """Cells and boxes of three sides, with leading ones."""
        return sides(self.grid, self.per_side)

    @property
    def row_width(self) -> int:
        """Cells of a row of a box, where all boxes have as many; 0 where they differ or are many."""
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


def sides(grid: tuple[int, ...], per_side: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Cells and boxes of three sides, with leading ones."""
    lead = (1,) * (3 - len(grid))
    return np.array(lead + tuple(grid), np.int64), np.array(lead + tuple(per_side), np.int64)
