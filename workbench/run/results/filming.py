"""Filming a run: frames between two iterations, as many as fit a bound of memory and a share of the time."""

from __future__ import annotations

import dataclasses
import math
import time

import numpy as np

from workbench.devices.slices import PlaneSlice, VolumeSlice
from workbench.records.film import Film, Frame
from workbench.run.loop.iterations import RunState
from workbench.run.results.snapshots import Quantity, Snapshot

PIXELS, CELLS = 512, 64
"""Cells per side of a frame on a grid of two and of three dimensions, of blocks where the grid has more; all columns of
several right-hand sides share that many."""
SHARE = 0.03
"""Share of the iteration time that frames may take, which is no iteration time itself."""
GRACE = 0.02
"""Seconds that frames may take in any case, so that short runs have some too."""


def cells_per_side(dimensions: int, columns: int) -> int:
    """The most cells per side of a frame, of two or three dimensions, of each of these columns."""
    return max(1, int((PIXELS if dimensions == 2 else CELLS) / columns ** (1 / dimensions)))


@dataclasses.dataclass(frozen=True)
class FilmCut:
    """The part of a vector, shape (N,), in a frame: all cells of its grid, or blocks of `step` cells per side; without
    a grid the vector itself. peaks: see `PlaneSlice`. columns: right-hand sides, which are cut one by one."""

    unknowns: int
    grid: tuple[int, ...] | None
    peaks: bool
    columns: int = 1

    @property
    def step(self) -> int:
        """Cells per side of a block."""
        return -(-max(self.grid) // cells_per_side(len(self.grid), self.columns)) if self.grid else 1

    @property
    def plane_slice(self) -> PlaneSlice | None:
        """The cut of a plane, as a device computes it by itself; None for any other grid."""
        if self.grid is None or len(self.grid) != 2:
            return None
        rows, columns = self.grid
        return PlaneSlice(0, (columns, 1), (rows, columns), self.step, self.peaks and self.step > 1)

    @property
    def volume_slice(self) -> VolumeSlice | None:
        """The cut of a cube, as a device computes it by itself; None for any other grid."""
        if self.grid is None or len(self.grid) != 3:
            return None
        layers, rows, columns = self.grid
        return VolumeSlice((layers, rows, columns), self.step, self.peaks and self.step > 1)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of a frame, with the column first where there are several."""
        reduced = self.plane_slice or self.volume_slice
        of_one = reduced.result_shape if reduced else (self.unknowns,)
        return of_one if self.columns == 1 else (self.columns, *of_one)

    def __call__(self, vector: np.ndarray) -> np.ndarray:
        reduced = self.plane_slice or self.volume_slice
        return reduced(vector) if reduced else np.array(np.real(vector))


def film_cut(unknowns: int, grid: tuple[int, ...] | None, quantity: Quantity, columns: int = 1) -> FilmCut:
    """The cut for frames of a quantity: of residual and error the largest magnitude of each block, as in views."""
    drawn = grid if grid is not None and len(grid) in (2, 3) else None
    return FilmCut(unknowns, drawn, quantity is not Quantity.SOLUTION, columns)


class Camera:
    """Takes the frames of one run, by the thread that iterates.

    share: of the iteration time that frames may take, infinite for as many as fit.
    """

    def __init__(self, film: Film, share: float = SHARE) -> None:
        self.film = film
        self._share = share
        self._seconds = 0.0
        self._off = False

    def take(self, state: RunState) -> None:
        """Take a frame if one is due and affordable; the end of a run always. Raises DeviceError."""
        ended = state.ending is not None
        due = ended or (self.film.wants(state.iterations) and self._affordable(state))
        if self._off or not due:
            return
        begun = time.perf_counter()
        wanted = [one for one in Quantity if one is not Quantity.ERROR or state.setup.exact is not None]
        system = state.setup.system
        columns = state.setup.sides.B.shape[1] if state.setup.sides else 1
        cuts = {one: film_cut(system.operator.shape[0], system.grid, one, columns) for one in wanted}
        if not self.film.fits(sum(4 * math.prod(cut.shape) for cut in cuts.values())):
            self._off = True
            return
        taken: dict[str, np.ndarray] = {}
        for quantity, cut in cuts.items():
            made = [Snapshot(quantity, cut, column) for column in range(columns)]
            for snapshot in made:
                snapshot.serve(state)
            values = [snapshot.values for snapshot in made if snapshot.values is not None]
            if len(values) < columns:
                return
            # Numbers beyond single precision become infinite, and are drawn as such.
            with np.errstate(over="ignore"):
                taken[quantity.value] = np.array(values, np.float32).reshape(cut.shape)
        # The first one loads kernels.
        if self.film.frames:
            self._seconds += time.perf_counter() - begun
        self.film.add(Frame(state.iterations, taken), last=ended)

    def _affordable(self, state: RunState) -> bool:
        return self._seconds <= max(GRACE, self._share * state.iteration_seconds)
