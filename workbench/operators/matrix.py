"""Assembled sparse matrices with validation, and adapters for SciPy matrices and LinearOperators."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import linalg

from workbench.arrays import matvec_function, to_working_dtype, working_dtype
from workbench.devices.protocol import Device
from workbench.errors import InputError
from workbench.operators.base import BoundOperator, Operator

SYMMETRY_TOLERANCE = 1e-12


@dataclasses.dataclass(frozen=True, eq=False)
class Matrix:
    """A sparse Hermitian matrix in canonical CSR format (indices sorted, duplicates summed).

    Construction checks the properties that conjugate gradients need and that are cheap to verify: square, not empty,
    finite, Hermitian to 1e-12 of the largest entry, positive diagonal.

    Cost: a few passes over the matrix and N words of work space; a canonical matrix is not copied.

    Raises InputError with the first offending entry.
    """

    csr: sparse.csr_array

    def __post_init__(self) -> None:
        check_shape(self.shape)
        object.__setattr__(self, "csr", _canonical(self.csr))
        _check_finite(self.csr)
        self._check()

    def _check(self) -> None:
        _check_hermitian(self.csr)
        _check_diagonal(self.csr.diagonal())

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
        """Bytes of values, column indices and row pointers."""
        return self.csr.data.nbytes + self.csr.indices.nbytes + self.csr.indptr.nbytes

    def diagonal(self) -> np.ndarray:
        return self.csr.diagonal()

    def to_csr(self) -> sparse.csr_array:
        return self.csr

    def astype(self, dtype: np.dtype) -> Matrix:
        return type(self)(sparse.csr_array(self.csr.astype(dtype)))

    def bind(self, device: Device) -> BoundOperator:
        return device.csr(self.csr.data, self.csr.indices, self.csr.indptr)


class ComplexSymmetricMatrix(Matrix):
    """A sparse matrix with A = A^T, complex or real, for COCG; not Hermitian where it is complex.

    Construction checks as `Matrix` does, with A = A^T in place of A = A^H, and without the sign of the diagonal.
    """

    def _check(self) -> None:
        _check_complex_symmetric(self.csr)


@dataclasses.dataclass(frozen=True, eq=False)
class LinearOperatorAdapter:
    """A SciPy LinearOperator as A. Preconditioners that need entries of A refuse it.

    vector_dtype: the dtype of the vectors, if it differs from that of the operator.
    """

    linear: linalg.LinearOperator
    vector_dtype: np.dtype | None = None

    def __post_init__(self) -> None:
        check_shape(self.linear.shape)
        working_dtype(np.dtype(self.linear.dtype), "A")

    @property
    def shape(self) -> tuple[int, int]:
        return self.linear.shape

    @property
    def dtype(self) -> np.dtype:
        return self.vector_dtype or working_dtype(np.dtype(self.linear.dtype), "A")

    @property
    def nnz(self) -> None:
        return None

    def diagonal(self) -> np.ndarray:
        raise InputError(
            "the diagonal of a LinearOperator is not available; pass a sparse matrix, or use preconditioner none"
        )

    def to_csr(self) -> sparse.csr_array:
        raise InputError(
            "the entries of a LinearOperator are not available; pass a sparse matrix, or use preconditioner none"
        )

    def astype(self, dtype: np.dtype) -> LinearOperatorAdapter:
        return LinearOperatorAdapter(self.linear, dtype)

    def bind(self, device: Device) -> BoundOperator:
        return device.callable(matvec_function(self.linear, "A", self.dtype), self.shape[0], self.dtype)


def as_operator(A: Any, kind: type[Matrix] = Matrix) -> Operator:
    """Convert a SciPy sparse array or matrix, a dense square array or a SciPy LinearOperator to an Operator.

    kind: the class of matrices. An Operator is returned unchanged. Integer, boolean and half-precision entries become
    float64.

    Raises InputError for any other type, for entries that double precision cannot represent, for sparse arrays with
    indices out of range, and for whatever `Matrix` refuses.
    """
    if isinstance(A, Operator):
        return A
    if sparse.issparse(A):
        check_shape(A.shape)
        check_indices(A)
        return kind(sparse.csr_array(A))
    if isinstance(A, linalg.LinearOperator):
        return LinearOperatorAdapter(A)
    if isinstance(A, np.ma.MaskedArray):
        raise InputError("A is a masked array; fill the masked entries: A.filled(value)")
    if isinstance(A, np.ndarray):
        check_shape(A.shape)
        return kind(sparse.csr_array(to_working_dtype(A, "A")))
    raise InputError(
        f"cannot use {type(A).__name__} as A; pass a SciPy sparse array, a LinearOperator or a workbench operator"
    )


def check_shape(shape: tuple[int, ...]) -> None:
    """Raise InputError for an empty or non-square matrix."""
    if len(shape) != 2:
        raise InputError(f"a matrix needs two dimensions, got {len(shape)}")
    if 0 in shape:
        raise InputError(f"the matrix is empty: shape {shape[0]} x {shape[1]}")
    if shape[0] != shape[1]:
        raise InputError(
            f"the matrix must be square, got {shape[0]} x {shape[1]}; CG needs as many equations as unknowns"
        )


def check_indices(matrix: Any, what: str = "the sparse matrix") -> None:
    """Raise InputError for a sparse matrix whose indices are out of range; SciPy would read invalid memory."""
    check = getattr(matrix, "check_format", None)
    if check is None:
        return
    try:
        # SciPy's check accepts a negative last row pointer as an empty matrix.
        if hasattr(matrix, "indptr") and (matrix.indptr.size == 0 or np.any(np.diff(matrix.indptr) < 0)):
            raise ValueError("indptr must be a non-decreasing sequence")
        check(full_check=True)
    except (ValueError, TypeError, IndexError) as error:
        raise InputError(f"{what} is damaged: {error}; rebuild it from its entries") from None


def _canonical(csr: sparse.csr_array) -> sparse.csr_array:
    data = to_working_dtype(csr.data, "A")
    if data is not csr.data:
        csr = sparse.csr_array((data, csr.indices, csr.indptr), shape=csr.shape)
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
    if csr.indices.dtype != np.int32 and csr.nnz < np.iinfo(np.int32).max:
        csr = sparse.csr_array(
            (csr.data, csr.indices.astype(np.int32), csr.indptr.astype(np.int32)), shape=csr.shape, copy=False
        )
    return csr


def _check_finite(csr: sparse.csr_array) -> None:
    # min and max propagate NaN and infinity without a temporary array.
    parts = np.ascontiguousarray(csr.data).view(np.finfo(csr.dtype).dtype)
    if parts.size == 0 or (np.isfinite(parts.min()) and np.isfinite(parts.max())):
        return
    bad = int(np.flatnonzero(~np.isfinite(csr.data))[0])
    row = int(np.searchsorted(csr.indptr, bad, side="right")) - 1
    raise InputError(
        f"the matrix holds {csr.data[bad]} at row {row}, column {csr.indices[bad]}; entries must be finite"
    )


def _check_hermitian(csr: sparse.csr_array) -> None:
    # Imported here because importing numba takes a second, which listing problems should not cost.
    from workbench.host.symmetry import asymmetry

    difference = asymmetry(csr.data, csr.indices, csr.indptr)
    allowed = SYMMETRY_TOLERANCE * difference.largest
    if difference.hermitian <= allowed:
        return
    entry, mirror = f"A[{difference.row}, {difference.column}]", f"A[{difference.column}, {difference.row}]"
    if csr.dtype.kind == "c" and difference.plain <= allowed:
        raise InputError(
            "the matrix is complex symmetric, not Hermitian; CG needs a Hermitian positive definite matrix "
            f"({entry} differs from conj({mirror}) by {difference.hermitian:.3g}); choose solver cocg or block-cocg"
        )
    raise InputError(
        f"the matrix is not symmetric: {entry} and {mirror} differ by {difference.hermitian:.3g}; "
        "CG needs a symmetric positive definite matrix"
    )


def _check_complex_symmetric(csr: sparse.csr_array) -> None:
    from workbench.host.symmetry import asymmetry

    difference = asymmetry(csr.data, csr.indices, csr.indptr)
    if difference.plain <= SYMMETRY_TOLERANCE * difference.largest:
        return
    if difference.hermitian <= SYMMETRY_TOLERANCE * difference.largest:
        raise InputError("the matrix is Hermitian, but COCG needs A = A^T; choose solver cg or block-cg")
    raise InputError(f"the matrix is not symmetric: A and A^T differ by {difference.plain:.3g}; COCG needs A = A^T")


def _check_diagonal(diagonal: np.ndarray) -> None:
    real = np.real(diagonal)
    worst = int(np.argmin(real))
    if not real[worst] > 0:
        raise InputError(
            f"the matrix is not positive definite: its diagonal entry {worst} is {real[worst]:.6g}, "
            "and CG needs every one above 0"
        )
    with np.errstate(over="ignore"):
        inverse = 1 / real[worst]
    if not np.isfinite(inverse):
        raise InputError(
            f"the matrix has {real[worst]:.3g} on its diagonal, whose inverse overflows in {diagonal.dtype}; "
            "scale A and b by a power of two"
        )
