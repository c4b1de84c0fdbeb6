"""Vectors of a grid in 2D, side by side as maps."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from workbench.errors import InputError
from workbench.plots.scenes.scene import Axis, CellsOf, Layer, PointsOf, Scene

FAINTEST = 1e-3
"""The least share of the largest value that a logarithmic map shows."""
GAP = 2
"""Points between two vectors."""
NAMED = 0.2
"""Room above each vector that has a name, as a share of the height of the grid."""


def vectors_scene(
    vectors: np.ndarray,
    grid: Sequence[int],
    names: Sequence[str] = (),
    *,
    name: str = "vectors",
    title: str = "",
    bar: str = "v / max |v|",
    log: bool = False,
) -> Scene:
    """The columns of `vectors`, shape (N, k), row after row from the top left, each scaled by its largest value.

    grid: points up and across. names: of each, above it. log: show magnitudes, those below 0.001 as 0.001.
    Raises InputError for a grid that is not in 2D, and for no vector.

    Examples:
        >>> import numpy as np
        >>> from workbench.plots.scenes import vectors_scene
        >>> vectors_scene(np.eye(16)[:, :2], (4, 4), ["first", "second"]).layers[1].labels
        ['first', 'second']
    """
    check_grid(grid)
    count = vectors.shape[1]
    if not count:
        raise InputError("there are no vectors to draw")
    across = math.ceil(math.sqrt(count))
    down = -(-count // across)
    above = max(GAP, round(NAMED * grid[0])) if names else GAP
    high, wide = grid[0] + above, grid[1] + GAP
    tiles = np.full((down * high - (0 if names else GAP), across * wide - GAP), np.nan)
    places = []
    for place in range(count):
        row, column = divmod(place, across)
        bottom, left = (down - 1 - row) * high, column * wide
        scaled = np.real(vectors[:, place]).reshape(grid)
        scaled = scaled / (np.abs(scaled).max() or 1.0)
        if log:
            scaled = np.maximum(np.abs(scaled), FAINTEST)
        tiles[bottom : bottom + grid[0], left : left + grid[1]] = scaled
        places.append((left, bottom + grid[0] + above / 2 - 0.5))
    layers: list[Layer] = [CellsOf(bar, tiles, log=log, map="viridis" if log else "signed", figures=False)]
    if names:
        x, y = np.array(places, float).T
        layers.append(PointsOf("", x, y, size=0.1, marker=".", labels=list(names)))
    of, listed = f" of {title}" if title else "", f": {', '.join(names)}" if names else ""
    said = f"{count} {name}{of}, from left to right and from top to bottom, each over its largest value{listed}."
    x_axis, y_axis = (Axis(f"{side} (points)", "count", whole=True, word=side) for side in "xy")
    return Scene(name, x_axis, y_axis, layers, title=title, spoken=said, ways="xy", square=True)


def check_grid(grid: Sequence[int]) -> None:
    """Raises InputError for a grid that is not in 2D."""
    if len(grid) != 2:
        raise InputError(f"this figure is for grids in 2D, and the grid has {len(grid)} dimensions")
