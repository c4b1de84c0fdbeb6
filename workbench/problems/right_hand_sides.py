"""Families of right-hand sides: random ones, a source at several positions, and the bubbles of a problem."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.errors import InputError
from workbench.problems.base import LinearSystem
from workbench.settings import NEAR, PAIRS, RANK4, ZERO

NO_GRID = "rhs sources needs a problem with a grid, and this matrix has none; choose random:16, say"
NOTHING_LEFT = (
    "A is singular: {} is all of b, so nothing is left once it is removed; choose another right-hand side, for example "
    "random"
)
"""The message for the component of b that A maps to zero."""
NO_PHASES = "rhs phases needs a problem with bubbles or slabs; choose random:16, say"
WIDTH = 0.05
"""Standard deviation of the source, in sides of the domain."""
RANK = 4
DRAWN_AT_ONCE = 1 << 16
"""Rows of random numbers that are in memory at once where only some are kept."""
APART = 1e-10
"""The difference between columns 0 and 1 of family near, in standard deviations."""


def random_columns(
    shape: tuple[int, int], family: str, seed: int, dtype: np.dtype, rows: slice | None = None
) -> np.ndarray:
    """Standard normal columns of this shape, which depend on one another in some families.

    pairs: columns 0 and 1, 2 and 3, and so on are equal; near: column 1 differs from column 0 by 1e-10; rank4: all are
    combinations of four; zero: the last one is zero. rows: those to return, of all that are drawn.
    """
    rng = np.random.default_rng(seed)
    B = _drawn(rng, shape, rows)
    if dtype.kind == "c":
        B = B + 1j * _drawn(rng, shape, rows)
    s = shape[1]
    if family == PAIRS:
        B = B[:, np.arange(s) // 2]
    elif family == NEAR and s > 1:
        B[:, 1] = B[:, 0] + APART * B[:, 1]
    elif family == RANK4 and s > RANK:
        B = B[:, :RANK] @ rng.standard_normal((RANK, s))
    elif family == ZERO:
        B[:, -1] = 0
    return B.astype(dtype)


def _drawn(rng: np.random.Generator, shape: tuple[int, int], rows: slice | None) -> np.ndarray:
    """Standard normal numbers, of which some rows are kept; how many words of a stream one takes is random."""
    if rows is None:
        return rng.standard_normal(shape)
    kept = np.empty((rows.stop - rows.start, shape[1]))
    for first in range(0, shape[0], DRAWN_AT_ONCE):
        drawn = rng.standard_normal((min(DRAWN_AT_ONCE, shape[0] - first), shape[1]))
        begin, end = max(first, rows.start), min(first + len(drawn), rows.stop)
        if begin < end:
            kept[begin - rows.start : end - rows.start] = drawn[begin - first : end - first]
    return kept


def moved_source(system: LinearSystem, count: int) -> np.ndarray:
    """A Gaussian source at equidistant positions on the diagonal of the grid, shape (N, count).

    Column j is exp(-|x - c_j|^2/(2 w^2)) with w = 0.05 sides of the domain and every coordinate of c_j equal to
    (j + 1/2)/count, so close positions give columns that nearly depend on one another. Cost: count N exponentials.
    Raises InputError for a problem without a grid.
    """
    if system.grid is None:
        raise InputError(NO_GRID)
    planes = slice(system.slab.first, system.slab.last) if system.slab else slice(None)
    sides = system.slab.own if system.slab else system.grid
    columns = np.ones((*sides, count))
    positions = (np.arange(count) + 0.5) / count
    for axis, cells in enumerate(system.grid):
        centres = ((np.arange(cells) + 0.5) / cells)[planes if axis == 0 else slice(None)]
        profile = np.exp(-((centres[:, None] - positions) ** 2) / (2 * WIDTH**2))
        shape = [1] * len(system.grid)
        shape[axis] = centres.size
        columns *= profile.reshape(*shape, count)
    return columns.reshape(-1, count)


def phase_indicators(system: LinearSystem, gathered: Callable[[Any], list[Any]] | None = None) -> np.ndarray:
    """1 in a bubble or slab and 0 elsewhere, one column for each, shape (N, number of bubbles or slabs).

    A bubble without a cell gives no column. gathered: what all ranks have.

    Raises InputError for a problem without phases.
    """
    here = [] if system.phase is None else np.unique(system.phase).tolist()
    numbers = sorted({k for found in (gathered(here) if gathered else [here]) for k in found if k > 0})
    if system.phase is None or not numbers:
        raise InputError(NO_PHASES)
    return (system.phase[:, None] == np.array(numbers)).astype(float)
