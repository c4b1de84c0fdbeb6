"""Assembled sparse matrices with the checks that conjugate gradients need."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
from typing import ClassVar

import numpy as np

from workbench.arrays.validation import to_working_dtype, working_dtype
from workbench.devices.host.aggregation import reordered
from workbench.devices.host.storage import stored
from workbench.devices.protocol import Device
from workbench.errors import InputError
from workbench.lazy import sparse
from workbench.operators.base import BoundOperator
from workbench.operators.matrix_checks import (
    ROUNDING,
    SYMMETRY_ROUNDING,
    SYMMETRY_TOLERANCE,
    check_complex_symmetric,
    check_finite,
    check_hermitian,
    check_indices,
    check_positive,
    check_row_sums,
    check_shape,
    rows_of_zeros,
)

LARGE = 100_000
"""Entries from which a matrix is checked in one pass on all cores, or on the accelerator that solves with it."""


@dataclasses.dataclass(frozen=True, eq=False)
class Matrix:
    """A sparse Hermitian matrix in canonical CSR format (indices sorted, duplicates summed).

    Construction checks the properties that conjugate gradients need and that are cheap to verify: square, not empty,
    finite, Hermitian to rounding in `precision`, positive diagonal but for rows of zeros.

    empty_rows: the numbers of rows of zeros, ascending, see `operators.empty_rows`. main: the diagonal, shape (N,).
    maps_constants: A maps the constants to zero up to rounding, None where that is not known yet. checked_on: the
    accelerator that checks a large matrix and then binds it, by default the cores.
    precision: dtype of the entries as they were given, of which conversions to a wider one add no digits. form: the
    format in which a device stores it, one of `settings.FORMATS`; on the host it stays in CSR. items_per_row: of CSR on
    accelerators, see `devices.ops.csr`.

    Cost: a few passes over the matrix and N words of work space; a canonical matrix is not copied.

    Raises InputError with the first offending entry.

    Examples:
        >>> from scipy import sparse
        >>> from workbench.operators import Matrix
        >>> Matrix(sparse.csr_array([[2.0, -1.0], [-1.0, 2.0]])).in_format("ell").form
        'ell'
    """

    csr: sparse.csr_array
    precision: np.dtype | None = None
    form: str = "csr"
    items_per_row: int | None = None
    empty_rows: np.ndarray = dataclasses.field(init=False, repr=False)
    main: np.ndarray = dataclasses.field(init=False, repr=False)
    maps_constants: bool | None = dataclasses.field(init=False, default=None, repr=False)
    checked_on: dataclasses.InitVar[Device | None] = None
    is_mirrored: ClassVar[bool] = True

    def __post_init__(self, checked_on: Device | None) -> None:
        check_shape(self.shape)
        if self.precision is None:
            object.__setattr__(self, "precision", precision_in(self.csr.dtype))
        object.__setattr__(self, "csr", _converted(self.csr))
        if self.is_mirrored and self.nnz >= LARGE:
            if self._is_sound(checked_on):
                return
            # The sentence on what is wrong, or nothing is.
            check_indices(self.csr)
        object.__setattr__(self, "csr", _canonical(self.csr))
        check_finite(self.csr)
        check_row_sums(self.csr)
        diagonal = self._check()
        object.__setattr__(self, "main", diagonal)
        rows = rows_of_zeros(self.csr, np.flatnonzero(diagonal == 0))
        object.__setattr__(self, "empty_rows", rows_of_zeros(self.csr.T, rows) if rows.size else rows)
        self._check_diagonal(diagonal)

    def _is_sound(self, device: Device | None) -> bool:
        """True if one pass over A finds nothing that needs another look; then all is known that the checks tell."""
        # Small matrices do without.
        from workbench import devices
        from workbench.devices.ops.checks import seen

        csr, eps = self.csr, float(np.finfo(self.precision or self.dtype).eps)
        plain = isinstance(self, ComplexSymmetricMatrix)
        given = csr.data, csr.indices, csr.indptr
        rounding = ROUNDING * eps, eps
        found = None
        for each in (device, devices.device("cpu")):
            # An accelerator may have no room, or no double precision.
            with contextlib.suppress(InputError):
                if each is not None:
                    each.need(csr.dtype)
                    found = seen(*given, each, self._symmetry_tolerance, rounding, plain=plain)
                    break
        if found is None or not found.sound or (plain and not found.diagonal.all()):
            return False
        csr.has_canonical_format = True
        object.__setattr__(self, "main", found.diagonal)
        object.__setattr__(self, "empty_rows", np.empty(0, np.int64))
        object.__setattr__(self, "maps_constants", found.constants)
        if found.copies:
            object.__setattr__(self, "_copies", (device, found.copies))
        return True

    def _check(self) -> np.ndarray:
        """The diagonal; raises InputError for what the class does not take."""
        return check_hermitian(self.csr, self._symmetry_tolerance)

    def _check_diagonal(self, diagonal: np.ndarray) -> None:
        check_positive(diagonal, self.empty_rows)

    @property
    def _symmetry_tolerance(self) -> float:
        return max(SYMMETRY_TOLERANCE, SYMMETRY_ROUNDING * float(np.finfo(self.precision or self.dtype).eps))

    @property
    def shape(self) -> tuple[int, int]:
        rows, columns = self.csr.shape  # pyright: ignore[reportGeneralTypeIssues]
        return rows, columns

    @property
    def dtype(self) -> np.dtype:
        return self.csr.dtype

    @property
    def nnz(self) -> int:
        return int(self.csr.nnz)

    @property
    def nbytes(self) -> int:
        """Bytes of values and indices in its format."""
        if self.form == "csr":
            return self.csr.data.nbytes + self.csr.indices.nbytes + self.csr.indptr.nbytes
        return stored(self.form, self.csr).nbytes(self.csr.data.itemsize, self.csr.indices.itemsize)

    def diagonal(self) -> np.ndarray:
        return self.main.copy()

    def to_csr(self) -> sparse.csr_array:
        return self.csr

    def astype(self, dtype: np.dtype) -> Matrix:
        return type(self)(sparse.csr_array(self.csr.astype(dtype)), self.precision, self.form, self.items_per_row)

    def in_order(self, order: np.ndarray) -> Matrix:
        """This matrix with row and column order[i] at place i; its entries were checked, and there are no empty rows.

        Cost: reads and writes the matrix, and sorts its rows.
        """
        (data, indices, indptr), main = reordered((self.csr.data, self.csr.indices, self.csr.indptr), order)
        # SciPy and devices take indices and row starts of one type.
        csr = sparse.csr_array((data, indices, indptr.astype(self.csr.indptr.dtype)), shape=self.shape)
        csr.sort_indices()
        made = copy.copy(self)
        object.__setattr__(made, "csr", csr)
        object.__setattr__(made, "main", main)
        return made

    def in_format(self, form: str, items_per_row: int | None = None) -> Matrix:
        """This matrix, which devices store in another format; its entries were checked."""
        made = copy.copy(self)
        object.__setattr__(made, "form", form)
        object.__setattr__(made, "items_per_row", items_per_row)
        return made

    def bind(self, device: Device) -> BoundOperator:
        # The arrays may be changed after a run, so that their copies are taken once.
        checked_on, copies = vars(self).pop("_copies", (None, ()))
        if checked_on is device:
            checked_on.keep(copies)
        if (self.form, self.items_per_row) == ("csr", None):
            return device.csr(self.csr.data, self.csr.indices, self.csr.indptr)
        return device.stored(self.csr, self.form, self.items_per_row)


class ComplexSymmetricMatrix(Matrix):
    """A sparse matrix with A = A^T, complex or real, for COCG; not Hermitian where it is complex.

    Construction checks as `Matrix` does, with A = A^T in place of A = A^H, and without the sign of the diagonal.

    Examples:
        >>> from scipy import sparse
        >>> from workbench.operators import ComplexSymmetricMatrix
        >>> ComplexSymmetricMatrix(sparse.csr_array([[2.0 + 1j, 1j], [1j, 2.0]])).dtype.name
        'complex128'
    """

    def _check(self) -> np.ndarray:
        return check_complex_symmetric(self.csr, self._symmetry_tolerance)

    def _check_diagonal(self, diagonal: np.ndarray) -> None:
        """Accept diagonals of either sign, and complex ones."""


class UnsymmetricMatrix(Matrix):
    """A sparse matrix that need not be symmetric, to show what a method for symmetric ones makes of it.

    Construction checks as `Matrix` does, but for symmetry.

    Examples:
        >>> from scipy import sparse
        >>> from workbench.operators import UnsymmetricMatrix
        >>> UnsymmetricMatrix(sparse.csr_array([[2.0, -1.0], [0.0, 2.0]])).nnz
        3
    """

    is_mirrored = False

    def _check(self) -> np.ndarray:
        """The diagonal; accepts symmetric and unsymmetric matrices."""
        return self.csr.diagonal()


def precision_in(dtype: np.dtype) -> np.dtype:
    """The dtype of values that arrive in `dtype`: half precision is converted without becoming more accurate."""
    return dtype if dtype.kind == "f" and dtype.itemsize == 2 else working_dtype(dtype, "A")


def _converted(csr: sparse.csr_array) -> sparse.csr_array:
    """The matrix in a working precision, with indices of 32 bits where these do."""
    data = to_working_dtype(csr.data, "A")
    if data is not csr.data:
        csr = sparse.csr_array((data, csr.indices, csr.indptr), shape=csr.shape)
    if csr.indices.dtype != np.int32 and csr.nnz < np.iinfo(np.int32).max:
        csr = sparse.csr_array(
            (csr.data, csr.indices.astype(np.int32), csr.indptr.astype(np.int32)), shape=csr.shape, copy=False
        )
    return csr


def _canonical(csr: sparse.csr_array) -> sparse.csr_array:
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
    return csr
