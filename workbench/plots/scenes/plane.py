"""The picture of a field: cells of a plane in colour, the entries of a matrix, or a band over the unknowns."""

from __future__ import annotations

import dataclasses

import numpy as np

from workbench.plots.scenes.colormap import Colormap

COEFFICIENT = "coefficient 1/ρ (relative)"
ENTRIES = "entries per pixel"
NO_SEGMENTS = np.empty((0, 4), np.float32)


@dataclasses.dataclass(frozen=True, eq=False)
class Plane:
    """values: shape (rows, columns), row 0 at the bottom; of a matrix entries per pixel, row 0 at the top; of a band
    the least and greatest of k stretches of unknowns, shape (2, k).

    bar: the quantity. map: of colours, as for `CellsOf`. sides: what lies across and up, empty for a band. matrix: its
    number of rows, 0 for a grid. segments: lines between subdomains x0, y0, x1, y1 in side lengths, shape (k, 4), of
    which every `step`-th is there. title: of what, and when. where: the plane of a cube, as in y = 0.258. unit: of
    lengths. aspect: height over width; segments are in shares of both.
    """

    values: np.ndarray
    bar: str
    colours: Colormap
    map: str
    sides: tuple[str, str] = ("x", "y")
    matrix: int = 0
    segments: np.ndarray = dataclasses.field(default_factory=lambda: NO_SEGMENTS)
    step: int = 1
    title: str = ""
    where: str = ""
    unit: str = "side lengths"
    aspect: float = 1.0
