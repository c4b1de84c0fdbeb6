"""Slices of a vector for drawing: a plane of its cells, or all cells of a 3D grid. A device downsamples them where the
vector lies, so that only the result is copied.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from workbench.errors import InputError


@dataclasses.dataclass(frozen=True)
class PlaneSlice:
    """A plane of cells in a vector of shape (N,).

    first: the index of its first cell. strides: entries of the vector from one row to the next, and from one column to
    the next. shape: rows and columns. step: cells per side of a block; the last blocks of a row or column may be
    smaller. peaks: of each block the value of largest magnitude, with its sign; else the cell in its middle, and no
    cell of a last block that has no middle.
    """

    first: int
    strides: tuple[int, int]
    shape: tuple[int, int]
    step: int = 1
    peaks: bool = False

    def __call__(self, vector: np.ndarray) -> np.ndarray:
        """The real part of the plane of a host vector, downsampled, a new array. Cost: one read of the plane.

        Raises InputError for a vector that ends before the plane does.
        """
        vector = np.asarray(vector)
        last = self.first + sum(stride * (cells - 1) for stride, cells in zip(self.strides, self.shape, strict=True))
        if vector.ndim != 1 or last >= vector.size:
            raise InputError(f"the plane ends at cell {last}, but the vector has shape {vector.shape}; pass shape (N,)")
        values = np.real(vector)[self.first :]
        bytes_apart = tuple(values.strides[0] * stride for stride in self.strides)
        plane = np.lib.stride_tricks.as_strided(values, self.shape, bytes_apart, writeable=False)
        if self.peaks:
            from workbench.devices.host.peaks import peaks

            return peaks(plane, self.step)
        return np.array(plane[self.offset :: self.step, self.offset :: self.step])

    @property
    def offset(self) -> int:
        """The place of the first cell of a block that is read, along each side."""
        # A plane thinner than half a block still has a cell.
        return 0 if self.peaks else min(self.step // 2, min(self.shape) - 1)

    @property
    def cells_read(self) -> int:
        """Cells of a block that are read, along each side."""
        return self.step if self.peaks else 1

    @property
    def result_shape(self) -> tuple[int, int]:
        """Rows and columns of the result."""
        rows, columns = (-(-(cells - self.offset) // self.step) for cells in self.shape)
        return rows, columns


@dataclasses.dataclass(frozen=True)
class VolumeSlice:
    """All cells of a vector of shape (N,) on a grid (nz, ny, nx), in blocks of `step` cells per side.

    The last blocks of a side may be smaller. peaks: of each block the value of largest magnitude, with its sign; else
    the cell in its middle, or the last cell of a last block that has no middle.
    """

    grid: tuple[int, int, int]
    step: int = 1
    peaks: bool = False

    def __call__(self, vector: np.ndarray) -> np.ndarray:
        """The real part of a host vector, downsampled, a new array of shape `result_shape`. Cost: one read of the grid
        by all cores for peaks, else of a cell for each block."""
        values = np.real(vector).reshape(self.grid)
        if self.peaks:
            from workbench.devices.host.peaks import peaks

            return peaks(values, self.step)
        return values[np.ix_(*(self.middles(cells) for cells in self.grid))]

    @property
    def offset(self) -> int:
        """The place of the first cell of a block that is read, along each side."""
        return 0 if self.peaks else self.step // 2

    @property
    def cells_read(self) -> int:
        """Cells of a block that are read, along each side."""
        return self.step if self.peaks else 1

    @property
    def result_shape(self) -> tuple[int, int, int]:
        """Layers, rows and columns of the result."""
        layers, rows, columns = (-(-cells // self.step) for cells in self.grid)
        return layers, rows, columns

    def middles(self, cells: int) -> np.ndarray:
        """The cell in the middle of each block along a side of `cells` cells."""
        return np.minimum(np.arange(self.step // 2, cells + self.step // 2, self.step), cells - 1)
