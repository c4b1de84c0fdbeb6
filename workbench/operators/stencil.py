"""Matrix-free Hermitian nearest-neighbour stencils on a box grid."""

from __future__ import annotations

import abc
import math
from collections.abc import Callable

import numpy as np

from workbench.arrays.validation import DTYPES
from workbench.devices.accelerator.placed_phase import PlacedPhase
from workbench.devices.constant import largest
from workbench.devices.host.boxes import Boxes, EarlierParts, Rows
from workbench.devices.protocol import Device
from workbench.errors import InputError
from workbench.lazy import sparse
from workbench.operators.base import BoundOperator


class Stencil(abc.ABC):
    """A 3-, 5- or 7-point operator on a grid of cells in 1, 2 or 3 dimensions, however its entries are stored.

    Examples:
        >>> from workbench.registry import find
        >>> A = find("problem", "poisson5:4").assemble().operator
        >>> A.grid, A.strides, A.nnz
        ((4, 4), (1, 4), 64)
    """

    def __init__(self, grid: tuple[int, ...], assemble: Callable[[np.ndarray], Stencil] | None = None) -> None:
        self.grid = grid
        """Cells per side, (nx,), (ny, nx) or (nz, ny, nx); unknown i = x + nx*(y + ny*z)."""
        self.assemble = assemble
        """Assembles this operator for other phases, of the shape of the grid; None where that is unknown."""

    @property
    @abc.abstractmethod
    def main(self) -> np.ndarray:
        """The diagonal, shape (N,)."""

    @property
    @abc.abstractmethod
    def lower(self) -> tuple[np.ndarray, ...]:
        """One band of shape (N,) per dimension, x first: `lower[k][i]` = A[i, i - stride_k]."""

    @property
    @abc.abstractmethod
    def nnz(self) -> int:
        """Non-zero entries of the assembled matrix."""

    @property
    @abc.abstractmethod
    def nbytes(self) -> int:
        """Bytes of the operator on a device."""

    @property
    def shape(self) -> tuple[int, int]:
        size = math.prod(self.grid)
        return size, size

    @property
    @abc.abstractmethod
    def dtype(self) -> np.dtype: ...

    @property
    def strides(self) -> tuple[int, ...]:
        """Index distance to the neighbour in x, y and z."""
        sizes = self.grid[::-1]
        return tuple(math.prod(sizes[:k]) for k in range(len(sizes)))

    def diagonal(self) -> np.ndarray:
        return self.main

    def to_csr(self) -> sparse.csr_array:
        main, lower = self.main, self.lower
        coupled = [np.flatnonzero(low) for low in lower]
        rows = [np.flatnonzero(main), *coupled]
        columns = [rows[0], *(row - stride for row, stride in zip(coupled, self.strides, strict=True))]
        values = [band[row] for band, row in zip((main, *lower), rows, strict=True)]
        places = (np.concatenate(rows), np.concatenate(columns))
        below = sparse.coo_array((np.concatenate(values), places), shape=self.shape).tocsr()
        return sparse.csr_array(below + sparse.tril(below, k=-1).conj().T)

    @property
    def largest_diagonal(self) -> float:
        """The largest |diagonal entry|, or an upper bound of it that costs less."""
        return largest(self.main)

    def moved(self, phase: np.ndarray | PlacedPhase, cells: np.ndarray | None) -> Stencil:
        """This operator for another phase, of the shape of the grid, which may be stored in another way. cells:
        flat places of the cells that have changed, None for many. Raises InputError where `assemble` is unknown."""
        if self.assemble is None:
            raise InputError("this stencil was not assembled from phases; assemble another one")
        return self.assemble(np.asarray(phase))

    @property
    def exact(self) -> Stencil:
        """The operator with entries that are not rounded to the precision of its vectors."""
        return self

    def astype(self, dtype: np.dtype) -> BandStencil:
        return BandStencil(self.grid, self.main.astype(dtype), tuple(low.astype(dtype) for low in self.lower))

    @abc.abstractmethod
    def bind(self, device: Device) -> BoundOperator: ...

    @abc.abstractmethod
    def neumann(self, device: Device, order: int) -> BoundOperator:
        """K^H D^-1 K on a device, K being the truncated Neumann series of that order for L D^-1."""

    @property
    @abc.abstractmethod
    def triangle_norm(self) -> float:
        """||L D^-1||_inf for the strictly lower triangle L and the diagonal D. Cost: one pass."""

    @abc.abstractmethod
    def box_matrix(
        self, device: Device, labels: np.ndarray, boxes: Boxes, earlier: EarlierParts | None = None
    ) -> Rows | None:
        """E of parts of boxes as data, indices and indptr, rows not sorted; None where a row has too many entries.

        earlier: where rows of boxes may be taken from that have not moved.
        """


class BandStencil(Stencil):
    """A stencil stored as its diagonal and lower bands.

    grid: cells per side, (nx,), (ny, nx) or (nz, ny, nx); unknown `i = x + nx*(y + ny*z)`.
    main: the diagonal, shape (N,).
    lower: one band of shape (N,) per dimension, x first; `lower[k][i]` = A[i, i - stride_k], zero if that neighbour
        does not exist. The upper bands are the conjugates, so 2D stores 3 arrays and 3D stores 4.

    One product reads dimensions + 2 arrays of N words and writes one.

    Raises InputError for a wrong shape or dtype, values that are not finite, a diagonal that is not real, and a
    coupling across the boundary of the grid.

    Examples:
        >>> import numpy as np
        >>> from workbench.operators import BandStencil
        >>> west = np.array([0.0, -1.0, -1.0, -1.0])
        >>> BandStencil((4,), np.full(4, 2.0), (west,)).to_csr().toarray()[1].tolist()
        [-1.0, 2.0, -1.0, 0.0]
    """

    def __init__(self, grid: tuple[int, ...], main: np.ndarray, lower: tuple[np.ndarray, ...]) -> None:
        super().__init__(grid)
        self._main, self._lower = main, lower
        self._check_grid()
        self._check_arrays()
        self._check_diagonal()
        self._check_boundary()

    @property
    def main(self) -> np.ndarray:
        return self._main

    @property
    def lower(self) -> tuple[np.ndarray, ...]:
        return self._lower

    def _check_grid(self) -> None:
        if min(self.grid, default=0) < 1:
            raise InputError(f"a stencil needs at least one cell per side, got the grid {self.grid}")
        if len(self.lower) != len(self.grid):
            raise InputError(f"a grid of {len(self.grid)} dimensions needs as many lower arrays, got {len(self.lower)}")

    def _check_arrays(self) -> None:
        count = math.prod(self.grid)
        if not all(type(values) is np.ndarray for values in (self.main, *self.lower)):
            raise InputError("stencil arrays must be arrays of NumPy, without a mask; convert them by numpy.array")
        if self.main.dtype not in DTYPES:
            raise InputError(f"stencil arrays must be float32, float64, complex64 or complex128, got {self.main.dtype}")
        for name, values in (("main", self.main), *((f"lower[{k}]", low) for k, low in enumerate(self.lower))):
            if values.shape != (count,) or values.dtype != self.main.dtype:
                raise InputError(
                    f"stencil array {name} must have shape ({count},) and dtype {self.main.dtype}, "
                    f"got {values.shape} and {values.dtype}"
                )
            if not np.isfinite(values).all():
                raise InputError(f"stencil array {name} holds NaN or infinity at unknown {_first_nonfinite(values)}")

    def _check_diagonal(self) -> None:
        if np.any(np.imag(self.main)):
            row = int(np.flatnonzero(np.imag(self.main))[0])
            raise InputError(f"the stencil is not Hermitian: diagonal entry {row} is {self.main[row]}; it must be real")

    def _check_boundary(self) -> None:
        for k, low in enumerate(self.lower):
            boundary = np.moveaxis(low.reshape(self.grid), -1 - k, 0)[0]
            if np.any(boundary):
                raise InputError(
                    f"stencil array lower[{k}] couples across the edge of the box; those entries must be 0"
                )

    @property
    def dtype(self) -> np.dtype:
        return self.main.dtype

    @property
    def nnz(self) -> int:
        """Non-zero entries of the assembled matrix."""
        from workbench.devices.host.counting import nonzeros

        return nonzeros(self.main) + 2 * sum(nonzeros(low) for low in self.lower)

    @property
    def nbytes(self) -> int:
        """Bytes of the lower bands, and of the diagonal unless it is constant."""
        constant = bool(np.all(self.main == self.main[0]))
        return sum(low.nbytes for low in self.lower) + (0 if constant else self.main.nbytes)

    def bind(self, device: Device) -> BoundOperator:
        return device.stencil(self.main, self.lower, self.strides)

    def neumann(self, device: Device, order: int) -> BoundOperator:
        check_diagonal(self.main)
        bands, inverse_diagonal = device.scaled_bands(self.main, self.lower, self.strides)
        return device.stencil_series(bands, self.strides, inverse_diagonal, order)

    @property
    def triangle_norm(self) -> float:
        from workbench.devices.host.triangle_norm import norm_of_bands

        return norm_of_bands(self.main, self.lower, self.strides)

    def box_matrix(
        self, device: Device, labels: np.ndarray, boxes: Boxes, earlier: EarlierParts | None = None
    ) -> Rows | None:
        return device.box_matrix(self.main, self.lower, self.strides, labels, boxes)


def check_diagonal(diagonal: np.ndarray) -> None:
    """Raise InputError for a diagonal with a zero, by which a preconditioner would divide, or with an entry whose
    inverse overflows. Cost: two reads.

    Examples:
        >>> import numpy as np
        >>> from workbench.operators import check_diagonal
        >>> check_diagonal(np.array([2.0, 4.0]))
    """
    sizes = np.abs(diagonal)
    row = int(np.argmin(sizes))
    if sizes[row] == 0:
        raise InputError(
            f"diagonal entry {row} of A is 0, and this preconditioner divides by it; use preconditioner none"
        )
    with np.errstate(over="ignore"):
        inverse = 1 / sizes[row]
    if not np.isfinite(inverse):
        raise InputError(
            f"diagonal entry {row} of A is {diagonal[row]:.3g}, whose inverse overflows in {diagonal.dtype}; scale A "
            "and b by a power of two"
        )


def _first_nonfinite(values: np.ndarray) -> int:
    return int(np.flatnonzero(~np.isfinite(values))[0])
