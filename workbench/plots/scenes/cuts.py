"""Parts of a vector for the page: a plane of its cells, or all of it as a band, thinned to what pixels can show."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from workbench.devices.slices import PlaneSlice

MOST_PIXELS = 512
"""Pixels per side: more than a notebook has room for, and a quarter of a megabyte."""
LIVE_PIXELS = 128
"""Pixels per side of what is replaced within a tenth of a second, a sixteenth of the bytes. The more bytes come, the
more often the browser collects all of JupyterLab's garbage, which takes a core a fifth of a second."""


@dataclasses.dataclass(frozen=True)
class Cut:
    """Makes a vector, shape (N,), into what is drawn, a new array.

    With a grid, (ny, nx) or (nz, ny, nx), the plane normal to a side at the cell `index`; without one shape (2, k), the
    least and greatest of k stretches of unknowns. peaks: where cells are too many, of each block the value farthest
    from zero, with its sign, so that no hot spot is lost; else every k-th cell. most: pixels per side. Cost: one read
    of what is drawn.
    """

    grid: tuple[int, ...] | None
    normal: str = "y"
    index: int = 0
    peaks: bool = False
    most: int = MOST_PIXELS

    def __call__(self, vector: np.ndarray) -> np.ndarray:
        plane_slice = self.plane_slice
        return envelope(np.real(vector)) if plane_slice is None else plane_slice(vector)

    @property
    def plane_slice(self) -> PlaneSlice | None:
        """The cut as a device computes it by itself; None without a grid."""
        if self.grid is None:
            return None
        cells, first = list(self.grid), 0
        strides = [math.prod(cells[axis + 1 :]) for axis in range(len(cells))]
        if len(cells) == 3:
            axis = "zyx".index(self.normal)
            first = min(self.index, cells.pop(axis) - 1) * strides.pop(axis)
        shape = cells[0], cells[1]
        step = stride(shape, self.most)
        return PlaneSlice(first, (strides[0], strides[1]), shape, step, self.peaks and step > 1)

    def plane(self, values: np.ndarray) -> np.ndarray:
        """The cells that are shown, shape (rows, columns)."""
        if values.ndim == 2:
            return values
        axis = "zyx".index(self.normal)
        return np.take(values, min(self.index, values.shape[axis] - 1), axis)

    @property
    def sides(self) -> tuple[str, str]:
        """The sides that the plane lies along, across and up."""
        if self.grid is None:
            return "", ""
        if len(self.grid) == 2:
            return "x", "y"
        up, across = (name for name in "zyx" if name != self.normal)
        return across, up

    @property
    def where(self) -> str:
        """The plane of a cube, through the centres of its cells in side lengths, as y = 0.258; else empty."""
        if self.grid is None or len(self.grid) != 3:
            return ""
        cells = self.grid["zyx".index(self.normal)]
        return plane_words(self.normal, min(self.index, cells - 1), cells)

    def words(self) -> str:
        """A phrase on the thinning of cells; empty where each has its pixel."""
        if self.grid is None:
            return ""
        shape = [cells for side, cells in zip("zyx"[-len(self.grid) :], self.grid, strict=True) if side in self.sides]
        step = stride((shape[0], shape[1]), self.most)
        if step == 1:
            return ""
        block = f"{step} × {step} cells"
        return f"a pixel shows the largest magnitude of {block}" if self.peaks else f"a pixel shows one of {block}"


def plane_words(normal: str, index: int, cells: int) -> str:
    """A plane of cells by the place of their centres, as the page writes it: y = 0.258."""
    return f"{normal} = {(index + 0.5) / cells:.3f}"


def stride(shape: tuple[int, ...], most: int = MOST_PIXELS) -> int:
    """Cells a pixel per side, so that no side has more pixels than `most`."""
    return -(-max(shape) // most)


def envelope(values: np.ndarray) -> np.ndarray:
    """The least and greatest of at most MOST_PIXELS stretches, shape (2, k)."""
    step = max(1, -(-values.size // MOST_PIXELS))
    column = values.reshape(-1, 1)
    return np.stack([_folded(take, column, step)[:, 0] for take in (np.minimum, np.maximum)])


def _folded(take: np.ufunc, rows: np.ndarray, step: int) -> np.ndarray:
    """Rows taken together step by step. Slices, because `reduceat` takes ten times as long."""
    whole = len(rows) - len(rows) % step
    made = rows[0:whole:step]
    for k in range(1, step):
        made = take(made, rows[k:whole:step])
    if whole == len(rows):
        return made
    return np.concatenate([made, take.reduce(rows[whole:], axis=0, keepdims=True)])
