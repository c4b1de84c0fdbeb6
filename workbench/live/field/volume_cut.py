"""The part of a vector that is sent to the 3D view: all cells, in blocks where there are more than can be drawn."""

from __future__ import annotations

import dataclasses

import numpy as np

from workbench.devices.slices import VolumeSlice

MOST_CELLS = 128
"""Cells per side of a picture at rest: 2 MiB, and more than a view has pixels for."""
LIVE_CELLS = 64
"""Cells per side of a picture that is replaced within a tenth of a second: 256 KiB."""


@dataclasses.dataclass(frozen=True)
class VolumeCut:
    """Reduces a vector, shape (N,), on a grid (nz, ny, nx) to at most `most` cells per side, a new array.

    peaks: of each block the value of largest magnitude, with its sign, so that no hot spot is lost; else the cell in
    its middle. Cost: one read of the cells that count.
    """

    grid: tuple[int, int, int]
    peaks: bool = False
    most: int = MOST_CELLS

    def __call__(self, vector: np.ndarray) -> np.ndarray:
        return self.volume_slice(vector)

    @property
    def step(self) -> int:
        """Cells per side of a block."""
        return -(-max(self.grid) // self.most)

    @property
    def volume_slice(self) -> VolumeSlice:
        """The reduction in the form that a device computes by itself."""
        return VolumeSlice(self.grid, self.step, self.peaks and self.step > 1)

    @property
    def reach(self) -> list[float]:
        """The share of the blocks that the cube takes along x, y and z: less than 1 where the last block is smaller."""
        return [cells / (self.step * -(-cells // self.step)) for cells in reversed(self.grid)]

    def words(self) -> str:
        """The reduction of cells in words; empty where each is drawn."""
        if self.step == 1:
            return ""
        block = " × ".join([str(self.step)] * 3)
        shown = "the largest magnitude of" if self.peaks else "one of"
        return f"a drawn cell shows {shown} {block} cells"
