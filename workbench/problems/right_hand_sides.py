"""Families of right-hand sides that belong to a problem: a source at several positions, and its bubbles."""

from __future__ import annotations

import numpy as np

from workbench.errors import InputError
from workbench.problems.base import LinearSystem

NO_GRID = "rhs sources needs a problem with a grid, and this matrix has none; choose random:16, say"
NO_PHASES = "rhs phases needs a problem with bubbles or slabs; choose random:16, say"
WIDTH = 0.05
"""Standard deviation of the source, in sides of the domain."""


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
