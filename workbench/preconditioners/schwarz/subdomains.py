"""Overlapping boxes of a grid, or ranges of unknowns where there is no grid."""

from __future__ import annotations

import itertools
import math
import re

import numpy as np

from workbench.errors import InputError
from workbench.lazy import sparse

MOST_BOXES = 4096


def parse(text: str) -> tuple[int, ...]:
    """Boxes per side, (kx, ky) or (kx, ky, kz), from a text such as 3x2. Raises InputError."""
    if not re.fullmatch(r"\d+(x\d+){0,2}", text):
        written = "3x3, or 3x3x3 in 3D, and an overlap behind them as in 3x3,overlap=2"
        raise InputError(f"schwarz: boxes are written as {written}, got {text!r}")
    counts = tuple(map(int, text.split("x")))
    if min(counts) < 1 or math.prod(counts) > MOST_BOXES:
        raise InputError(f"schwarz: there must be between 1 and {MOST_BOXES} boxes, got {text}")
    return counts


def of_grid(grid: tuple[int, ...], counts: tuple[int, ...], overlap: int) -> list[tuple[slice, ...]]:
    """The boxes of a grid (.., ny, nx), x fastest: side k begins at floor(k n/K), and grows by `overlap` points on
    every inner side. A side that is not named has one box. Raises InputError for boxes that do not fit the grid.
    """
    if len(counts) > len(grid):
        raise InputError(
            f"schwarz: {'x'.join(map(str, counts))} boxes on a grid of {len(grid)} dimensions; name no more"
        )
    counts = counts + (1,) * (len(grid) - len(counts))
    ranges = [_ranges(points, count, overlap) for points, count in zip(grid[::-1], counts, strict=True)]
    found = [()]
    for side in reversed(ranges):
        found = [(*box, part) for box in found for part in side]
    return found


def _ranges(points: int, count: int, overlap: int) -> list[slice]:
    """The ranges of a side, with overlap."""
    if count > points:
        raise InputError(f"schwarz: {count} boxes along a side of {points} points; take at most {points}")
    if count > 1 and overlap > points // count:
        raise InputError(
            f"schwarz: boxes of {points // count} points are thinner than their overlap of {overlap}; take fewer boxes "
            f"or an overlap of at most {points // count}"
        )
    cuts = [k * points // count for k in range(count + 1)]
    return [slice(max(0, low - overlap), min(points, high + overlap)) for low, high in itertools.pairwise(cuts)]


def unknowns(grid: tuple[int, ...], box: tuple[slice, ...]) -> np.ndarray:
    """The unknowns of a box, sorted."""
    return np.arange(math.prod(grid)).reshape(grid)[box].ravel()


def grown(parts: list[np.ndarray], matrix: sparse.csr_array, overlap: int) -> list[np.ndarray]:
    """Sets of unknowns, each with its neighbours in the graph of a matrix, `overlap` times."""
    size = matrix.shape[0]
    pattern = sparse.csr_array((np.ones(matrix.nnz, np.int32), matrix.indices, matrix.indptr), shape=matrix.shape)
    cover = np.zeros((size, len(parts)), np.int32)
    for place, part in enumerate(parts):
        cover[part, place] = 1
    for _ in range(overlap):
        cover = ((pattern @ cover) + cover > 0).astype(np.int32)
    return [np.flatnonzero(column) for column in cover.T]
