"""Matrix-free box operators: every cell coupled alike to all cells within a reach, diagonals included."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from scipy import sparse

from workbench.arrays import DTYPES
from workbench.devices.constant import constant
from workbench.devices.protocol import Device
from workbench.errors import InputError
from workbench.operators.base import DOUBLE, BoundOperator
from workbench.operators.box_rows import box_entries, box_rows

LONGEST_REACH = 8
MOST_ENTRIES = 2**31 - 1
"""What 32-bit indices can count."""


@dataclasses.dataclass(frozen=True, eq=False)
class Box:
    """A = (diagonal - coupling) I + coupling S, where S sums over the box of cells at most `reach` away on each side.

    shape_of_grid: cells per side, (nx,), (ny, nx) or (nz, ny, nx); unknown i = x + nx*(y + ny*z). Cells outside count
        as zero. In 3D reach 1 is the 27-point operator and reach 2 the 125-point one.
    diagonal_entry, coupling: the entries of A, real.
    dtype: of the vectors; float64 by default.

    S is the product of window sums along z, y and x, so a row takes 6 reach additions in 3D and not (2 reach + 1)^3
    multiplications, and nothing is stored. One product reads and writes N words. Raises InputError for an empty grid,
    a reach outside 1 to 8, numbers that are not finite and real, and an unknown dtype.
    """

    shape_of_grid: tuple[int, ...]
    reach: int
    diagonal_entry: float
    coupling: float
    dtype: np.dtype = DOUBLE

    def __post_init__(self) -> None:
        object.__setattr__(self, "dtype", np.dtype(self.dtype))
        if not 1 <= len(self.shape_of_grid) <= 3 or min(self.shape_of_grid) < 1:
            raise InputError(
                f"a box operator needs 1 to 3 sides of at least one cell each, got the grid {self.shape_of_grid}"
            )
        if not 1 <= self.reach <= LONGEST_REACH:
            raise InputError(f"the reach of a box operator must be between 1 and {LONGEST_REACH}, got {self.reach}")
        for name, value in (("diagonal", self.diagonal_entry), ("coupling", self.coupling)):
            if not (np.isrealobj(value) and math.isfinite(value)):
                raise InputError(f"the {name} of a box operator must be a finite real number, got {value}")
        if self.dtype not in DTYPES:
            raise InputError(f"a box operator computes in float32, float64, complex64 or complex128, got {self.dtype}")

    @property
    def shape(self) -> tuple[int, int]:
        size = math.prod(self.shape_of_grid)
        return size, size

    @property
    def nnz(self) -> int:
        """Entries of the assembled matrix."""
        return box_entries(self.shape_of_grid, self.reach)

    @property
    def largest_row_sum(self) -> float:
        """The largest sum over a row of |A_ij|: that of the row that sees most neighbours."""
        neighbours = math.prod(min(side, 2 * self.reach + 1) for side in self.shape_of_grid) - 1
        return abs(self.diagonal_entry) + neighbours * abs(self.coupling)

    def diagonal(self) -> np.ndarray:
        return constant(self.diagonal_entry, self.shape[0], self.dtype)

    def to_csr(self) -> sparse.csr_array:
        """The assembled matrix. Raises InputError where its entries cannot be counted in 32 bits."""
        if self.nnz > MOST_ENTRIES:
            raise InputError(
                f"the assembled box operator has {self.nnz} entries, more than 32-bit indices can count; "
                "use a smaller grid, or a preconditioner that reads no entries, such as jacobi"
            )
        return box_rows(self._grid, self.reach, self.diagonal_entry, self.coupling, self.dtype)

    def astype(self, dtype: np.dtype) -> Box:
        return dataclasses.replace(self, dtype=dtype)

    def bind(self, device: Device) -> BoundOperator:
        return device.box(self._grid, self.reach, self.diagonal_entry, self.coupling, self.dtype)

    @property
    def _grid(self) -> tuple[int, int, int]:
        """In three dimensions: a window along a side of one cell is that cell."""
        z, y, x = (1, 1, 1, *self.shape_of_grid)[-3:]
        return z, y, x
