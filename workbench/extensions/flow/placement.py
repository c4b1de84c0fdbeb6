"""Places of bubbles at the start of a sequence, and the rules that keep them resolved."""

from __future__ import annotations

import math

import numpy as np

from workbench.errors import InputError
from workbench.extensions.flow.padded_grid import PaddedGrid
from workbench.problems.bubble_geometry import RANDOM_SHARE, Geometry, at_random, default_radius, from_text

LEAST_CELLS, GAP = 4, 2
"""Cells of a radius, and between two bubbles or a bubble and a wall."""
MARGIN = 0.025
"""Around bubbles placed at random, in widths."""


def placed(count: int, radius: float, listed: str, dimensions: int, seed: int, n: int, height: float = 1.0) -> Geometry:
    """Bubbles in a box, resolved by its cells: as listed, or in its lower square or cube one at the middle or several
    at random. radius: 0 chooses one. n: cells across the width; height: of the box, in widths.

    On few cells those at random are placed further from walls and from each other, and are not below 4 cells radius.
    Raises InputError for bubbles of too few cells, and those that nearly touch each other or a wall.
    """
    if listed:
        return _resolved(from_text(listed, dimensions, height), n)
    if count == 1:
        return _resolved(Geometry(np.full((1, dimensions), 0.5), np.array([radius or 0.25]), height), n)
    usual = radius or RANDOM_SHARE * default_radius(count, dimensions) - MARGIN
    refused = None
    # Of many bubbles the usual radius is nothing.
    sizes = [(usual, MARGIN)] if usual > 0 else []
    for size, margin in (*sizes, (radius or max(usual, LEAST_CELLS / n), GAP / n)):
        try:
            centres = at_random(count, size + margin, dimensions, seed).centres
            return _resolved(Geometry(centres, np.full(count, size), height), n)
        except InputError as error:
            refused = refused or error
    assert refused is not None
    raise refused


def _resolved(found: Geometry, n: int) -> Geometry:
    """The bubbles found, if n cells resolve them. Raises InputError as `placed`."""
    smallest = float(found.radii.min())
    if smallest * n < LEAST_CELLS - 1e-9:
        least = math.ceil(LEAST_CELLS / smallest - 1e-9)
        raise InputError(
            f"a bubble of radius {smallest:.3g} has {smallest * n:.2g} cells, at least {LEAST_CELLS} are needed; use "
            f"{least} or more cells per side, or larger bubbles",
            changes={"problem.n": least},
        )
    top = np.ones(found.centres.shape[1])
    top[-1] = found.height
    for k, (centre, radius) in enumerate(zip(found.centres, found.radii, strict=True)):
        gap = n * float(min((centre - radius).min(), (top - centre - radius).min()))
        if gap < GAP - 1e-9:
            raise InputError(
                f"bubble {k + 1} is {gap:.2g} cells from a wall, {GAP} are needed at the start; move it inwards "
                "or make it smaller"
            )
        apart = n * (np.linalg.norm(found.centres[:k] - centre, axis=1) - found.radii[:k] - radius)
        if k and apart.min() < GAP - 1e-9:
            raise InputError(
                f"bubbles {int(apart.argmin()) + 1} and {k + 1} are {apart.min():.2g} cells apart, {GAP} are needed "
                "at the start; move them apart or make one smaller"
            )
    return found


def distances(found: Geometry, grid: PaddedGrid) -> np.ndarray:
    """The signed distance of each cell centre to the nearest bubble, below 0 inside, shape of the grid."""
    centres = (np.arange(count) + 0.5 for count in grid.grid)
    axes = np.meshgrid(*(grid.h * values for values in centres), indexing="ij", sparse=True)[::-1]
    phi = np.full(grid.grid, np.inf)
    for centre, radius in zip(found.centres, found.radii, strict=True):
        squares = sum((axis - middle) ** 2 for axis, middle in zip(axes, centre, strict=True))
        np.minimum(phi, np.sqrt(squares) - radius, out=phi)
    return phi
