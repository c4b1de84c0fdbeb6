"""Matrix-free box operators: each cell couples with one constant to all cells of a surrounding box."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from workbench.arrays.validation import DTYPES
from workbench.devices.constant import constant
from workbench.devices.protocol import Device
from workbench.errors import InputError
from workbench.lazy import sparse
from workbench.operators.base import DOUBLE, BoundOperator
from workbench.operators.box_csr import box_csr, box_nnz

MAX_REACH = 8
MAX_NNZ = 2**31 - 1
"""The largest count that 32-bit indices represent."""


@dataclasses.dataclass(frozen=True, eq=False)
class BoxStencil:
    """A = (diagonal - coupling) I + coupling S, where S sums over the (2 reach + 1)^d cells of a box around each cell.

    grid: cells per side, (nx,), (ny, nx) or (nz, ny, nx); unknown `i = x + nx*(y + ny*z)`. Values outside the grid are
    zero. In 3D, reach 1 is the 27-point operator and reach 2 the 125-point operator. diagonal_entry, coupling: the
    diagonal and off-diagonal entries of A, real. dtype: of the vectors; float64 by default.

    S is a product of moving sums along z, y and x: a row takes 6 reach additions in 3D instead of (2 reach + 1)^3
    multiplications. Nothing is stored; one product reads and writes N words.

    Raises InputError for an empty grid, a reach outside 1 to 8, entries that are not finite and real, and an
    unsupported dtype.

    Examples:
        >>> from workbench.operators import BoxStencil
        >>> BoxStencil((3, 3, 3), reach=1, diagonal_entry=26.0, coupling=-1.0).nnz
        343
    """

    grid: tuple[int, ...]
    reach: int
    diagonal_entry: float
    coupling: float
    dtype: np.dtype = DOUBLE

    def __post_init__(self) -> None:
        object.__setattr__(self, "dtype", np.dtype(self.dtype))
        if not 1 <= len(self.grid) <= 3 or min(self.grid) < 1:
            raise InputError(f"a box operator needs 1 to 3 sides of at least one cell each, got the grid {self.grid}")
        if not 1 <= self.reach <= MAX_REACH:
            raise InputError(f"the reach of a box operator must be between 1 and {MAX_REACH}, got {self.reach}")
        for name, value in (("diagonal", self.diagonal_entry), ("coupling", self.coupling)):
            if not (np.isrealobj(value) and math.isfinite(value)):
                raise InputError(f"the {name} of a box operator must be a finite real number, got {value}")
        if self.dtype not in DTYPES:
            raise InputError(f"a box operator computes in float32, float64, complex64 or complex128, got {self.dtype}")

    @property
    def shape(self) -> tuple[int, int]:
        size = math.prod(self.grid)
        return size, size

    @property
    def nnz(self) -> int:
        """Entries of the assembled matrix."""
        return box_nnz(self.grid, self.reach)

    @property
    def largest_row_sum(self) -> float:
        """max_i sum_j |A_ij|, attained by a row with the most neighbours."""
        neighbours = math.prod(min(side, 2 * self.reach + 1) for side in self.grid) - 1
        return abs(self.diagonal_entry) + neighbours * abs(self.coupling)

    def diagonal(self) -> np.ndarray:
        return constant(self.diagonal_entry, self.shape[0], self.dtype)

    def to_csr(self) -> sparse.csr_array:
        """The assembled matrix. Raises InputError if it has 2^31 entries or more."""
        if self.nnz > MAX_NNZ:
            raise InputError(
                f"the assembled box operator has {self.nnz} entries, more than 32-bit indices can count; "
                "use a smaller grid, or a preconditioner that reads no entries, such as jacobi"
            )
        return box_csr(self._grid_3d, self.reach, self.diagonal_entry, self.coupling, self.dtype)

    def astype(self, dtype: np.dtype) -> BoxStencil:
        return dataclasses.replace(self, dtype=dtype)

    def bind(self, device: Device) -> BoundOperator:
        return device.box_stencil(self._grid_3d, self.reach, self.diagonal_entry, self.coupling, self.dtype)

    @property
    def _grid_3d(self) -> tuple[int, int, int]:
        """The grid in three dimensions, padded with sides of one cell."""
        z, y, x = (1, 1, 1, *self.grid)[-3:]
        return z, y, x
