"""A staggered grid with ghost cells, stored flat, so that one kernel text serves 2D and 3D."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from workbench.jit.compiled import Kernel, kernel
from workbench.jit.threads import launch
from workbench.jit.work_stealing import shared, threads

GHOSTS = 3
"""Layers of ghost cells on each side, as WENO5 needs."""
HEAVY = 16
"""Work of a stencil kernel per cell, in elements of `launch`: from 8192 cells on it is shared by the cores."""


class PaddedGrid:
    """Places of cells and faces. Direction 0 is x, which is contiguous; the last direction is up.

    Arrays of cells have the shape (size,), velocities (directions, size): u[d, i] lies on the lower face of cell i in
    direction d. strides: int64, shape (directions,); rows: the first inner cell of every row along x, int64; heights:
    of the cell centres of a row; lower: whether a row lies on the lower wall of a direction, bool, shape (directions,
    rows). h: the width of a cell. no_slip: by direction of the walls' normals, whether tangential velocities vanish
    there.
    """

    def __init__(self, cells: tuple[int, ...], h: float, no_slip: tuple[bool, ...]) -> None:
        self.cells, self.h, self.directions = cells, h, len(cells)
        self.shape = tuple(count + 2 * GHOSTS for count in reversed(cells))
        """Of a padded array of cells, z, y, x."""
        self.size, self.inner = math.prod(self.shape), (slice(GHOSTS, -GHOSTS),) * self.directions
        widths = [count + 2 * GHOSTS for count in cells]
        self.strides = np.array([math.prod(widths[:d]) for d in range(self.directions)])
        self.nx = cells[0]
        places = np.arange(self.size).reshape(self.shape)[self.inner]
        self.rows = places.reshape(-1, self.nx)[:, 0].copy()
        self.ends = self.rows + self.nx
        across = np.indices(places.shape)[..., 0].reshape(self.directions, -1)
        self.heights = (across[0] + 0.5) * h
        self.lower = np.zeros((self.directions, self.rows.size), np.bool_)
        for d in range(1, self.directions):
            self.lower[d] = across[self.directions - 1 - d] == 0
        even = self._ghosts(GHOSTS)
        self._cell_ghosts = even, np.ones(even[0].size)
        self._face_ghosts = {layers: self._of_faces(no_slip, layers) for layers in (1, GHOSTS)}

    @property
    def count(self) -> int:
        """Inner cells."""
        return self.rows.size * self.nx

    @property
    def grid(self) -> tuple[int, ...]:
        """Cells per side as operators have them, (ny, nx) or (nz, ny, nx)."""
        return self.cells[::-1]

    def new(self, *leading: int) -> np.ndarray:
        """A padded array of zeros."""
        return np.zeros((*leading, self.size))

    def inside(self, padded: np.ndarray) -> np.ndarray:
        """The inner cells as a view, shape (..., ny, nx) or (..., nz, ny, nx)."""
        return padded.reshape(*padded.shape[:-1], *self.shape)[(..., *self.inner)]

    def launch(self, kernel: Kernel, *arguments: Any) -> None:
        """Run a stencil kernel, whose first arguments are the rows and the strides."""
        launch(HEAVY * self.count, kernel, self.rows, self.ends, self.strides, *arguments)

    def fill(self, cells: np.ndarray) -> None:
        """Continue an array of cells into the ghosts, evenly: its normal derivative at the walls is zero."""
        (ghosts, sources), signs = self._cell_ghosts
        launch(ghosts.size, _fill, ghosts, sources, signs, cells)

    def fill_faces(self, u: np.ndarray, layers: int = GHOSTS) -> None:
        """Set velocities on walls and in the ghosts: normal ones are odd, tangential ones even, or odd without slip."""
        ghosts, sources, signs = self._face_ghosts[layers]
        launch(ghosts.size, _fill, ghosts, sources, signs, u.reshape(-1))

    def _ghosts(self, layers: int) -> tuple[np.ndarray, np.ndarray]:
        """The places of the ghosts up to a layer, and the inner cells that they mirror."""
        mirrored = [_mirrored(count, layers)[:2] for count in reversed(self.cells)]
        return self._pairs([at for at, _ in mirrored], [source for _, source in mirrored])

    def _pairs(self, at: list[np.ndarray], source: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        ghosts, sources = (
            np.ravel_multi_index(np.meshgrid(*axes, indexing="ij"), self.shape).reshape(-1) for axes in (at, source)
        )
        changed = ghosts != sources
        return ghosts[changed], sources[changed]

    def _of_faces(self, no_slip: tuple[bool, ...], layers: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Ghosts of velocities, their sources and signs; faces on a wall have the sign 0."""
        parts = []
        for d in range(self.directions):
            at, source, sign = [], [], []
            for e in reversed(range(self.directions)):
                count = self.cells[e]
                if e == d:
                    places = np.arange(GHOSTS - layers, GHOSTS + count + 1 + (layers - 1))
                    mirror = np.where(places < GHOSTS, 2 * GHOSTS - places, places)
                    mirror = np.where(places > GHOSTS + count, 2 * (GHOSTS + count) - places, mirror)
                    signs = np.where(mirror == places, 1.0, -1.0)
                    signs[(places == GHOSTS) | (places == GHOSTS + count)] = 0.0
                else:
                    places, mirror, outside = _mirrored(count, layers)
                    signs = np.where(outside & no_slip[e], -1.0, 1.0)
                at.append(places)
                source.append(mirror)
                sign.append(signs)
            ghosts, sources = (
                np.ravel_multi_index(np.meshgrid(*axes, indexing="ij"), self.shape).reshape(-1) for axes in (at, source)
            )
            signs = np.ones(1)
            for axis in sign:
                signs = np.multiply.outer(signs, axis)
            signs = signs.reshape(-1)
            changed = (ghosts != sources) | (signs == 0)
            parts.append((ghosts[changed] + d * self.size, sources[changed] + d * self.size, signs[changed]))
        ghosts, sources, signs = (np.concatenate(part) for part in zip(*parts, strict=True))
        return ghosts, sources, signs


def _mirrored(count: int, layers: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Places of cells along one direction, the inner ones that they mirror, and whether they lie outside."""
    places = np.arange(GHOSTS - layers, GHOSTS + count + layers)
    mirror = np.where(places < GHOSTS, 2 * GHOSTS - 1 - places, places)
    mirror = np.where(places >= GHOSTS + count, 2 * (GHOSTS + count) - 1 - places, mirror)
    return places, mirror, mirror != places


@kernel()
def _fill(taken, ghosts, sources, signs, values):  # pragma: no cover
    chunks = (ghosts.size + 4095) // 4096
    for thread in threads(taken):
        for chunk in shared(taken, thread, chunks):
            for k in range(4096 * chunk, min(ghosts.size, 4096 * (chunk + 1))):
                values[ghosts[k]] = signs[k] * values[sources[k]]
