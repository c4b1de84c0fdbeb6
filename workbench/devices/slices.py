"""A plane of the cells of a vector, or a vector on a 3D grid, downsampled on the device for drawing, so that only its
result is copied.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from workbench.errors import InputError


@dataclasses.dataclass(frozen=True)
class PlaneSlice:
    """A plane of cells in a vector of shape (N,): `shape` rows and columns from the element `first` on, `apart`
    elements from one row to the next and from one column to the next.

    step: cells per side of a block; the last blocks of a row or column may be smaller. peaks: the value of largest
    magnitude of each block, with its sign; else the cell in the middle of the block, if it has one.
    """

    first: int
    apart: tuple[int, int]
    shape: tuple[int, int]
    step: int = 1
    peaks: bool = False

    def __call__(self, vector: np.ndarray) -> np.ndarray:
        """The real part of the plane of a host vector, downsampled, a new array. Cost: one read of the plane.

        Raises InputError for a vector that ends before the plane does.
        """
        vector = np.asarray(vector)
        last = self.first + sum(apart * (cells - 1) for apart, cells in zip(self.apart, self.shape, strict=True))
        if vector.ndim != 1 or last >= vector.size:
            raise InputError(f"the plane ends at cell {last}, but the vector has shape {vector.shape}; pass shape (N,)")
        values = np.real(vector)[self.first :]
        strides = tuple(values.strides[0] * apart for apart in self.apart)
        plane = np.lib.stride_tricks.as_strided(values, self.shape, strides, writeable=False)
        if self.peaks:
            from workbench.devices.host.peaks import peaks

            return peaks(plane, self.step)
        return np.array(plane[self.begins :: self.step, self.begins :: self.step])

    @property
    def begins(self) -> int:
        """Cells of a block before the first one that counts, to each side."""
        # A plane thinner than half a block still has a cell.
        return 0 if self.peaks else min(self.step // 2, min(self.shape) - 1)

    @property
    def reach(self) -> int:
        """Cells of a block that count, to each side."""
        return self.step if self.peaks else 1

    @property
    def seen(self) -> tuple[int, int]:
        """Shape of the result."""
        rows, columns = (-(-(cells - self.begins) // self.step) for cells in self.shape)
        return rows, columns


@dataclasses.dataclass(frozen=True)
class VolumeSlice:
    """All cells of a vector of shape (N,) on a grid (nz, ny, nx), in blocks of `step` cells per side.

    The last blocks of a side may be smaller. peaks: the value of largest magnitude of each block, with its sign; else
    the cell in the middle of the block, or its last one where it ends before that.
    """

    grid: tuple[int, int, int]
    step: int = 1
    peaks: bool = False

    def __call__(self, vector: np.ndarray) -> np.ndarray:
        """The real part of a host vector, downsampled, a new array of shape `seen`. Cost: one read of the cells that
        count, by all cores for peaks."""
        values = np.real(vector).reshape(self.grid)
        if self.peaks:
            from workbench.devices.host.peaks import peaks

            return peaks(values, self.step)
        return values[np.ix_(*(self.middles(cells) for cells in self.grid))]

    @property
    def begins(self) -> int:
        """Cells of a block before the first one that counts, to each side."""
        return 0 if self.peaks else self.step // 2

    @property
    def reach(self) -> int:
        """Cells of a block that count, to each side."""
        return self.step if self.peaks else 1

    @property
    def seen(self) -> tuple[int, int, int]:
        """Shape of the result."""
        layers, rows, columns = (-(-cells // self.step) for cells in self.grid)
        return layers, rows, columns

    def middles(self, cells: int) -> np.ndarray:
        """The cell in the middle of each block along a side of `cells` cells."""
        return np.minimum(np.arange(self.step // 2, cells + self.step // 2, self.step), cells - 1)
