"""Assembled sparse matrices, checked on entry, and the doors through which foreign operators come in."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import linalg

from workbench.arrays import exact, linear_function, working
from workbench.devices.protocol import Device
from workbench.errors import InputError
from workbench.operators.base import BoundOperator, Operator

SYMMETRY_TOLERANCE = 1e-12


@dataclasses.dataclass(frozen=True, eq=False)
class Matrix:
    """A sparse Hermitian matrix in CSR form, indices sorted, duplicates summed.

    Construction checks what conjugate gradients need and can be known cheaply: square, not empty, finite, Hermitian to
    1e-12 of the largest entry, positive diagonal. It reads the matrix a few times and takes memory for N words beside
    it; a matrix in order is not copied. Raises InputError with the first offending place.
    """

    csr: sparse.csr_array

    def __post_init__(self) -> None:
        check_shape(self.shape)
        object.__setattr__(self, "csr", _canonical(self.csr))
        _check_finite(self.csr)
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
        return Matrix(sparse.csr_array(self.csr.astype(dtype)))

    def bind(self, device: Device) -> BoundOperator:
        return device.csr(self.csr.data, self.csr.indices, self.csr.indptr)


@dataclasses.dataclass(frozen=True, eq=False)
class Foreign:
    """Any SciPy LinearOperator: only its product is known, so preconditioners that read entries refuse it.

    converted: the dtype of the vectors where it is not the operator's own.
    """

    linear: linalg.LinearOperator
    converted: np.dtype | None = None

    def __post_init__(self) -> None:
        check_shape(self.linear.shape)
        working(np.dtype(self.linear.dtype), "A")

    @property
    def shape(self) -> tuple[int, int]:
        return self.linear.shape

    @property
    def dtype(self) -> np.dtype:
        return self.converted or working(np.dtype(self.linear.dtype), "A")

    @property
    def nnz(self) -> None:
        return None

    def diagonal(self) -> np.ndarray:
        raise InputError(
            "a LinearOperator does not show its diagonal; pass a sparse matrix, or use preconditioner none"
        )

    def to_csr(self) -> sparse.csr_array:
        raise InputError("a LinearOperator does not show its entries; pass a sparse matrix, or use preconditioner none")

    def astype(self, dtype: np.dtype) -> Foreign:
        return Foreign(self.linear, dtype)

    def bind(self, device: Device) -> BoundOperator:
        return device.callable(linear_function(self.linear, "A", self.dtype), self.shape[0], self.dtype)


def as_operator(given: Any) -> Operator:
    """Accept an Operator, a SciPy sparse array or matrix, a dense square array, or a SciPy LinearOperator.

    Integer, boolean and half-precision entries become float64. Raises InputError for anything else, for entries that
    double precision does not hold, for sparse arrays whose indices do not fit their shape, and for whatever `Matrix`
    refuses.
    """
    if isinstance(given, Operator):
        return given
    if sparse.issparse(given):
        check_shape(given.shape)
        check_indices(given)
        return Matrix(sparse.csr_array(given))
    if isinstance(given, linalg.LinearOperator):
        return Foreign(given)
    if isinstance(given, np.ma.MaskedArray):
        raise InputError("A is a masked array; fill the masked entries: A.filled(value)")
    if isinstance(given, np.ndarray):
        check_shape(given.shape)
        return Matrix(sparse.csr_array(exact(given, "A")))
    raise InputError(
        f"cannot use {type(given).__name__} as A; pass a SciPy sparse array, a LinearOperator or a workbench operator"
    )


def check_shape(shape: tuple[int, ...]) -> None:
    """Refuse an empty or non-square matrix."""
    if len(shape) != 2:
        raise InputError(f"a matrix needs two dimensions, got {len(shape)}")
    if 0 in shape:
        raise InputError(f"the matrix is empty: shape {shape[0]} x {shape[1]}")
    if shape[0] != shape[1]:
        raise InputError(
            f"the matrix must be square, got {shape[0]} x {shape[1]}; CG needs as many equations as unknowns"
        )


def check_indices(given: Any, what: str = "the sparse matrix") -> None:
    """Refuse a sparse matrix whose indices do not fit its shape: SciPy's products read beyond its memory then."""
    check = getattr(given, "check_format", None)
    if check is None:
        return
    try:
        # SciPy takes a matrix whose pointers end below zero for an empty one.
        if hasattr(given, "indptr") and (given.indptr.size == 0 or np.any(np.diff(given.indptr) < 0)):
            raise ValueError("indptr must be a non-decreasing sequence")
        check(full_check=True)
    except (ValueError, TypeError, IndexError) as error:
        raise InputError(f"{what} is damaged: {error}; build it anew from its entries") from None


def _canonical(csr: sparse.csr_array) -> sparse.csr_array:
    data = exact(csr.data, "A")
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
    # NaN and infinity show in the extremes, which take no array of their own.
    parts = np.ascontiguousarray(csr.data).view(np.finfo(csr.dtype).dtype)
    if parts.size == 0 or (np.isfinite(parts.min()) and np.isfinite(parts.max())):
        return
    bad = int(np.flatnonzero(~np.isfinite(csr.data))[0])
    row = int(np.searchsorted(csr.indptr, bad, side="right")) - 1
    raise InputError(
        f"the matrix holds {csr.data[bad]} at row {row}, column {csr.indices[bad]}; entries must be finite"
    )


def _check_hermitian(csr: sparse.csr_array) -> None:
    # Imported here because numba takes a second to import, and listing problems needs none of it.
    from workbench.devices.cpu.symmetry import asymmetry

    found = asymmetry(csr.data, csr.indices, csr.indptr)
    allowed = SYMMETRY_TOLERANCE * found.largest
    if found.hermitian <= allowed:
        return
    here, there = f"A[{found.row}, {found.column}]", f"A[{found.column}, {found.row}]"
    if csr.dtype.kind == "c" and found.plain <= allowed:
        raise InputError(
            "the matrix is complex symmetric, not Hermitian; CG needs a Hermitian positive definite matrix "
            f"({here} differs from conj({there}) by {found.hermitian:.3g})"
        )
    raise InputError(
        f"the matrix is not symmetric: {here} and {there} differ by {found.hermitian:.3g}; "
        "CG needs a symmetric positive definite matrix"
    )


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
