"""A staggered grid with ghost cells, stored flat, so that one kernel text serves 2D and 3D."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from workbench.compiler.words import shared, threads
from workbench.extensions.flow.stencils import over_rows
from workbench.jit.compiled import kernel
from workbench.jit.threads import launch

if TYPE_CHECKING:
    from workbench.devices.accelerator.placed_phase import PlacedPhase
    from workbench.devices.operator_protocols import DeviceVector

GHOSTS = 3
"""Layers of ghost cells on each side, as WENO5 needs."""
HEAVY = 4
"""Work of a stencil kernel per cell, in elements of `launch`: from 32768 cells on it is shared by the cores."""


class Rows(NamedTuple):
    """Pieces of rows along x: the first cell of each and the one behind its last, int64, and their number of
    cells."""

    first: np.ndarray
    end: np.ndarray
    cells: int


class _Maxima(np.ndarray):
    """Numbers of rows of which the largest counts."""

    def __new__(cls, shape: tuple[int, ...]) -> _Maxima:
        return np.zeros(shape).view(cls)


class PaddedGrid:
    """Places of cells and faces. Direction 0 is x, which is contiguous; the last direction is up.

    Arrays of cells have the shape (size,), velocities (directions, size): u[d, i] lies on the lower face of cell i in
    direction d. strides: int64, shape (directions,); rows: of all inner cells; heights: of the cell centres of a row;
    lower: whether a row lies on the lower wall of a direction, bool, shape (directions,
    rows). h: the width of a cell. no_slip: by direction of the walls' normals, whether tangential velocities vanish
    there.
    """

    def __init__(self, cells: tuple[int, ...], h: float, no_slip: tuple[bool, ...]) -> None:
        self.cells, self.h, self.directions = cells, h, len(cells)
        self.shape = tuple(count + 2 * GHOSTS for count in reversed(cells))
        """The shape of a padded array of cells, z, y, x."""
        self.size, self.inner = math.prod(self.shape), (slice(GHOSTS, -GHOSTS),) * self.directions
        widths = [count + 2 * GHOSTS for count in cells]
        self.strides = np.array([math.prod(widths[:d]) for d in range(self.directions)])
        places = np.arange(self.size).reshape(self.shape)[self.inner]
        first = places.reshape(-1, cells[0])[:, 0].copy()
        self.rows = Rows(first, first + cells[0], places.size)
        self._is_inner = np.zeros(self.size, bool)
        self._is_inner[places] = True
        across = np.indices(places.shape)[..., 0].reshape(self.directions, -1)
        self.heights = (across[0] + 0.5) * h
        self.lower = np.zeros((self.directions, first.size), np.bool_)
        for d in range(1, self.directions):
            self.lower[d] = across[self.directions - 1 - d] == 0
        self._cell_ghosts: dict[int, tuple[DeviceVector, ...]] = {
            layers: self._ghosts(layers) for layers in (1, 2, GHOSTS)
        }
        self._face_ghosts: dict[int, tuple[DeviceVector, ...]] = {
            layers: self._of_faces(no_slip, layers) for layers in (1, GHOSTS)
        }

    @property
    def count(self) -> int:
        """Inner cells."""
        return self.rows.cells

    @property
    def grid(self) -> tuple[int, ...]:
        """Cells per side as operators have them, (ny, nx) or (nz, ny, nx)."""
        return self.cells[::-1]

    # Arrays are NumPy's; on a device its vectors, which the flow hands to these alone.

    def new(self, *leading: int, dtype: np.dtype | type = np.float64) -> DeviceVector:
        """A padded array of zeros."""
        return np.zeros((*leading, self.size), dtype)

    def new_cells(self) -> DeviceVector:
        """An array without ghosts, shape (N,), not filled."""
        return np.empty(self.count)

    def partials(self, *leading: int, largest: bool = False) -> Any:
        """Room for what a kernel stores for each row, whose sum, or maximum, `combined` gives."""
        return _Maxima((*leading, self.rows.first.size)) if largest else np.zeros((*leading, self.rows.first.size))

    def combined(self, partials: Any) -> np.ndarray:
        """The sums over all rows, or maxima, with NaN kept; shape (leading,)."""
        return np.asarray(partials).max(axis=-1) if isinstance(partials, _Maxima) else partials.sum(axis=-1)

    def wait(self) -> None:
        """Until all launches are done."""

    def copy(self, target: DeviceVector, source: DeviceVector) -> None:
        """target = source."""
        target[...] = source

    def assign(self, target: DeviceVector, values: np.ndarray) -> None:
        """target = values of the host, of the same shape."""
        target[...] = values

    def on_host(self, array: DeviceVector) -> np.ndarray:
        """The array in host memory; on the CPU itself."""
        return array

    def given(self, cells: DeviceVector) -> Any:
        """An array without ghosts as a solver takes it: NumPy's, or CuPy's in the memory of a CUDA device."""
        return self.on_host(cells)

    def put(self, padded: DeviceVector, cells: DeviceVector | PlacedPhase | float) -> None:
        """Set the inner cells. cells: of the host, shape of the grid, or a number, or one as of `given` or `placed`."""
        self.inside(padded)[:] = cells

    def is_inside(self, phi: DeviceVector) -> np.ndarray:
        """True where phi is negative; bool, shape of the grid, in host memory."""
        return self.inside(phi) < 0

    def placed(self, labels: np.ndarray) -> np.ndarray | PlacedPhase:
        """Labels of the cells, int32, shape of the grid, in the memory where the grid computes."""
        return labels

    def crossed(self, phi: DeviceVector, labels: Any) -> np.ndarray:
        """Flat places, ascending and in host memory, of the cells where phi is negative and the label 0, or not."""
        return np.flatnonzero(self.is_inside(phi) != (labels > 0))

    def near(self, phi: DeviceVector, within: float) -> Rows | DeviceVector:
        """The inner cells where |phi| is smaller, with those next to them, for `launch`."""
        return self.around(np.abs(phi) < within)

    def sums_by(self, owner: DeviceVector, values: Sequence[DeviceVector], count: int) -> list[np.ndarray]:
        """Sums of arrays that are 0 in ghosts over the cells of each owner, shape (count,)."""
        return [np.bincount(owner, one, minlength=count) for one in values]

    def inside(self, padded: np.ndarray) -> np.ndarray:
        """The inner cells as a view, shape (..., ny, nx) or (..., nz, ny, nx)."""
        return padded.reshape(*padded.shape[:-1], *self.shape)[(..., *self.inner)]

    def around(self, chosen: np.ndarray) -> Rows:
        """The inner cells that are chosen, bool of shape (size,), with those next to them, also across corners."""
        near = chosen.copy()
        for stride in self.strides.tolist():
            near[stride:] |= near[:-stride]
            near[:-stride] |= near[stride:]
        near &= self._is_inner
        # Ghosts are never among them, so that every piece begins and ends within its row.
        ends = np.flatnonzero(near[1:] != near[:-1]) + 1
        first, end = ends[::2].copy(), ends[1::2].copy()
        return Rows(first, end, int(end.sum() - first.sum()))

    def launch(
        self,
        of: FunctionType,
        *arguments: DeviceVector | float,
        sums: Any = None,
        rows: Any = None,
    ) -> None:
        """Run a stencil kernel (see `stencils`) on rows, by default all. sums: what it stores of pieces, as of
        `partials`."""
        rows = rows or self.rows
        given = (rows.first, rows.end, self.strides, arguments)
        more = () if sums is None else (sums,)
        launch(HEAVY * rows.cells, over_rows(of, summed=sums is not None), *given, *more)

    def fill(self, cells: DeviceVector, layers: int = GHOSTS) -> None:
        """Continue an array of cells into the ghosts, evenly: its normal derivative at the walls is zero."""
        ghosts, sources, signs = self._cell_ghosts[layers]
        launch(ghosts.size, _fill, ghosts, sources, signs, cells)

    def fill_faces(self, u: DeviceVector, layers: int = GHOSTS) -> None:
        """Set velocities on walls and in the ghosts: normal ones are odd, tangential ones even, or odd without slip."""
        ghosts, sources, signs = self._face_ghosts[layers]
        launch(ghosts.size, _fill, ghosts, sources, signs, u.reshape(-1))

    def _ghosts(self, layers: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The places of the ghosts up to a layer, the inner cells that they mirror, and their signs."""
        mirrored = [_mirrored(count, layers)[:2] for count in reversed(self.cells)]
        ghosts, sources = (self._places(axes) for axes in zip(*mirrored, strict=True))
        changed = ghosts != sources
        return ghosts[changed], sources[changed], np.ones(np.count_nonzero(changed))

    def _places(self, axes: Iterable[np.ndarray]) -> np.ndarray:
        return np.ravel_multi_index(np.meshgrid(*axes, indexing="ij"), self.shape).reshape(-1)

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
            ghosts, sources = self._places(at), self._places(source)
            signs = np.ones(1)
            for axis in sign:
                signs = np.multiply.outer(signs, axis)
            signs = signs.reshape(-1)
            changed = (ghosts != sources) | (signs == 0)
            parts.append((ghosts[changed] + d * self.size, sources[changed] + d * self.size, signs[changed]))
        ghosts, sources, signs = (np.concatenate(part) for part in zip(*parts, strict=True))
        return ghosts, sources, signs


def _mirrored(count: int, layers: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Places of cells along one direction, the inner ones that they mirror, and True for places outside."""
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
