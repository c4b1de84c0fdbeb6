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

Grid = tuple[int, int, int]
"""Cells per side, (nz, ny, nx)."""


def box_csr(grid: Grid, reach: int, diagonal: float, coupling: float, dtype: np.dtype) -> sparse.csr_array:
    """The CSR matrix with `diagonal` on the diagonal and `coupling` for each neighbour within `reach`.

    Indices are int32 and sorted. Cost: writes 12 nnz + 4 N bytes once in double precision. The rows of two planes
    differ by a shift of the column indices, so each plane is copied from a template. There are at most 2 reach + 1
    templates, each as large as the rows of a plane.
    """
    planes, per_plane, size = grid[0], grid[1] * grid[2], math.prod(grid)
    nnz = box_nnz(grid, reach)
    indices, data = np.empty(nnz, dtype=np.int32), np.full(nnz, coupling, dtype)
    indptr = np.zeros(size + 1, dtype=np.int32)
    templates: dict[tuple[int, int], tuple[np.ndarray, np.ndarray, np.ndarray]] = {}
    start = 0
    for z in range(planes):
        extent = (min(reach, z), min(reach, planes - 1 - z))
        if extent not in templates:
            templates[extent] = _plane_template(grid, reach, *extent)
        columns, ends, diagonals = templates[extent]
        np.add(columns, np.int32(z * per_plane), out=indices[start : start + columns.size])
        np.add(ends, np.int32(start), out=indptr[z * per_plane + 1 : (z + 1) * per_plane + 1])
        data[start : start + columns.size][diagonals] = diagonal
        start += columns.size
    csr = sparse.csr_array((data, indices, indptr), shape=(size, size))
    csr.has_canonical_format = True
    return csr


def box_nnz(grid: tuple[int, ...], reach: int) -> int:
    """Number of entries, for a cube of n^3 cells (3n - 2)^3 with reach 1 and, if n > 1, (5n - 6)^3 with reach 2."""
    return math.prod(
        sum(max(side - abs(offset), 0) for offset in range(-min(reach, side), min(reach, side) + 1)) for side in grid
    )


def _plane_template(grid: Grid, reach: int, below: int, above: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Column indices, row ends and positions of the diagonal for plane 0, coupled to planes -below to above."""
    per_plane = grid[1] * grid[2]
    planes = sparse.csr_array(np.ones((1, below + above + 1)))
    plane = sparse.kron(_band(grid[1], reach), _band(grid[2], reach), format="csr")
    pattern = sparse.csr_array(sparse.kron(planes, plane, format="csr"))
    pattern.sort_indices()
    columns = pattern.indices.astype(np.int32) - np.int32(below * per_plane)
    rows = np.repeat(np.arange(per_plane, dtype=np.int32), np.diff(pattern.indptr))
    return columns, pattern.indptr[1:].astype(np.int32), np.flatnonzero(columns == rows)


def _band(side: int, reach: int) -> sparse.csr_array:
    offsets = np.arange(-min(reach, side - 1), min(reach, side - 1) + 1)
    return sparse.csr_array(sparse.dia_array((np.ones((offsets.size, side)), offsets), shape=(side, side)))


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
