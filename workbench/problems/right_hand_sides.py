"""Families of right-hand sides: random ones, a source at several positions, and the bubbles of a problem."""

from __future__ import annotations

import numpy as np

from workbench.errors import InputError
from workbench.problems.base import LinearSystem
from workbench.settings import NEAR, PAIRS, RANK4, ZERO

NO_GRID = "rhs sources needs a problem with a grid, and this matrix has none; choose random:16, say"
NO_PHASES = "rhs phases needs a problem with bubbles or slabs; choose random:16, say"
WIDTH = 0.05
"""Standard deviation of the source, in sides of the domain."""
RANK = 4
APART = 1e-10
"""What columns 0 and 1 differ by, in standard deviations."""


def random_columns(shape: tuple[int, int], family: str, seed: int, dtype: np.dtype) -> np.ndarray:
    """Standard normal columns of this shape, in a family that depends on one another where it is one of those.

    pairs: columns 0 and 1, 2 and 3, and so on are equal; near: column 1 differs from column 0 by 1e-10; rank4: all are
    combinations of four; zero: the last one is zero.
    """
    rng = np.random.default_rng(seed)
    B = rng.standard_normal(shape)
    if dtype.kind == "c":
        B = B + 1j * rng.standard_normal(shape)
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


def moved_source(system: LinearSystem, count: int) -> np.ndarray:
    """A Gaussian source at equidistant positions on the diagonal of the grid, shape (N, count).

    Column j is exp(-|x - c_j|^2/(2 w^2)) with w = 0.05 sides of the domain and every coordinate of c_j equal to
    (j + 1/2)/count, so close positions give columns that nearly depend on one another. Cost: count N exponentials.
    Raises InputError for a problem without a grid.
    """
    if system.grid is None:
        raise InputError(NO_GRID)
    columns = np.ones((*system.grid, count))
    positions = (np.arange(count) + 0.5) / count
    for axis, cells in enumerate(system.grid):
        centres = (np.arange(cells) + 0.5) / cells
        profile = np.exp(-((centres[:, None] - positions) ** 2) / (2 * WIDTH**2))
        shape = [1] * len(system.grid)
        shape[axis] = cells
        columns *= profile.reshape(*shape, count)
    return columns.reshape(-1, count)


def phase_indicators(system: LinearSystem) -> np.ndarray:
    """1 in a bubble or slab and 0 elsewhere, one column for each, shape (N, number of bubbles or slabs).

    A bubble without a cell gives no column. Raises InputError for a problem without phases.
    """
    numbers = [] if system.phase is None else [k for k in np.unique(system.phase) if k > 0]
    if system.phase is None or not numbers:
        raise InputError(NO_PHASES)
    return (system.phase[:, None] == np.array(numbers)).astype(float)
