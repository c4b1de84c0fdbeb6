"""Checks of sparse matrices: shape, indices, finite entries, symmetry, and the sign of the diagonal.

Each raises InputError with the first offending entry.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.arrays.scaling import max_abs
from workbench.errors import InputError
from workbench.lazy import sparse

SYMMETRY_TOLERANCE, SYMMETRY_ROUNDING = 1e-12, 64
"""A matrix is symmetric if A and A^H differ by at most the first times its largest entry, or by the second in units of
roundoff of the precision in which it was given, which is more for single and half precision."""
OVERFLOWING = 2.0**64
"""The number by which entries are divided whose sums overflow."""
ROUNDING = 32.0
"""Units of roundoff by which a row of A v may differ from zero, plus the root of its number of entries. Assembly leaves
a few; 1e-12 added to a diagonal of 4 is 500."""
OF_MINUS_A = "solve (-A) x = -b, which has the same x"
"""The end of a sentence on a matrix whose eigenvalues are negative."""


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


def check_indices(matrix: Any, what: str = "the sparse matrix", *, full: bool = True) -> None:
    """Raise InputError for a sparse matrix whose indices are out of range; SciPy would read invalid memory. full: else
    for its row pointers alone."""
    check = getattr(matrix, "check_format", None)
    if check is None:
        return
    try:
        # SciPy's check accepts a negative last row pointer as an empty matrix.
        if hasattr(matrix, "indptr") and (matrix.indptr.size == 0 or np.any(np.diff(matrix.indptr) < 0)):
            raise ValueError("indptr must be a non-decreasing sequence")
        check(full_check=full)
    except (ValueError, TypeError, IndexError) as error:
        raise InputError(f"{what} is damaged: {error}; rebuild it from its entries") from None


def check_finite(csr: sparse.csr_array, what: str = "the matrix") -> None:
    """Raise InputError for a matrix with NaN or infinity, with the place of the first."""
    # min and max propagate NaN and infinity without a temporary array.
    parts = np.ascontiguousarray(csr.data).view(np.finfo(csr.dtype).dtype)
    if parts.size == 0 or (np.isfinite(parts.min()) and np.isfinite(parts.max())):
        return
    bad = int(np.flatnonzero(~np.isfinite(csr.data))[0])
    row = int(np.searchsorted(csr.indptr, bad, side="right")) - 1
    raise InputError(f"{what} holds {csr.data[bad]} at row {row}, column {csr.indices[bad]}; entries must be finite")


def check_row_sums(csr: sparse.csr_array) -> None:
    """Raise InputError for a matrix whose products with vectors of entries 1 and -1 may overflow. Cost: a read of its
    entries; of one with entries near the largest number a second one."""
    most, longest = np.finfo(csr.dtype).max, int(np.diff(csr.indptr).max(initial=0))
    largest = max_abs(csr.data)
    # A complex entry is at most the root of 2 times its larger part.
    if 2 * longest * (largest / most) < 1:
        return
    sizes = np.abs(np.multiply(csr.data, 1 / OVERFLOWING))
    sums = sparse.csr_array((sizes, csr.indices, csr.indptr), shape=csr.shape).sum(axis=1)
    row = int(np.argmax(sums))
    if not sums[row] <= most / OVERFLOWING:
        raise InputError(
            f"row {row} of the matrix has entries up to {largest:.3g}, whose sizes add up to more than the largest "
            f"{csr.dtype}, {most:.3g}; divide A and b by 2^64, which leaves x as it is"
        )


def check_hermitian(csr: sparse.csr_array, tolerance: float) -> np.ndarray:
    """The diagonal. Raises InputError where A and A^H differ by more than a tolerance times the largest entry."""
    # Imported here because listing problems needs no kernel.
    from workbench.devices.host.symmetry import asymmetry

    difference = asymmetry(csr.data, csr.indices, csr.indptr)
    allowed = tolerance * difference.largest
    if difference.hermitian <= allowed:
        return difference.diagonal
    entry, mirror = f"A[{difference.row}, {difference.column}]", f"A[{difference.column}, {difference.row}]"
    if csr.dtype.kind == "c" and difference.plain <= allowed:
        raise InputError(
            "the matrix is complex symmetric, not Hermitian; CG needs a Hermitian positive definite matrix "
            f"({entry} differs from conj({mirror}) by {difference.hermitian:.3g}); choose solver cocg or block-cocg",
            changes={"solver": "cocg"},
        )
    half = "(A + A.conj().T)/2" if csr.dtype.kind == "c" else "(A + A.T)/2"
    raise InputError(
        f"the matrix is not symmetric: {entry} and {mirror} differ by {difference.hermitian:.3g}, and rounding "
        f"explains {allowed:.1g}; CG needs a symmetric positive definite matrix, such as {half} where the difference "
        "is an error"
    )


def check_complex_symmetric(csr: sparse.csr_array, tolerance: float) -> np.ndarray:
    """The diagonal. Raises InputError where A and A^T differ by more than a tolerance times the largest entry."""
    from workbench.devices.host.symmetry import asymmetry

    difference = asymmetry(csr.data, csr.indices, csr.indptr)
    allowed = tolerance * difference.largest
    if difference.plain <= allowed:
        return difference.diagonal
    if difference.hermitian <= allowed:
        raise InputError(
            "the matrix is Hermitian, but COCG needs A = A^T; choose solver cg or block-cg", changes={"solver": "cg"}
        )
    raise InputError(
        f"the matrix is not symmetric: A and A^T differ by {difference.plain:.3g}, and rounding explains "
        f"{allowed:.1g}; COCG needs A = A^T, such as (A + A.T)/2 where the difference is an error"
    )


def rows_of_zeros(matrix: sparse.csr_array, rows: np.ndarray) -> np.ndarray:
    """The rows of zeros among these rows of a sparse matrix."""
    return rows[abs(matrix[rows]).max(axis=1).toarray().ravel() == 0] if rows.size else rows


def check_positive(diagonal: np.ndarray, empty: np.ndarray) -> None:
    """Raise InputError for a diagonal that a positive semidefinite matrix cannot have. empty: numbers of its rows of
    zeros."""
    real = np.real(diagonal)
    if empty.size:
        real = real.copy()
        real[empty] = 1
    worst = int(np.argmin(real))
    if not real[worst] > 0:
        if np.count_nonzero(real < 0) == diagonal.size - empty.size:
            raise InputError(
                f"the diagonal of the matrix is negative throughout, down to {real[worst]:.6g}: {OF_MINUS_A}"
            )
        other = ", in a row with other entries" if real[worst] == 0 else ""
        raise InputError(
            f"the matrix is not positive definite: its diagonal entry {worst} is {real[worst]:.6g}{other}, "
            "and CG needs every one above 0"
        )
    with np.errstate(over="ignore"):
        inverse = 1 / real[worst]
    if not np.isfinite(inverse):
        raise InputError(
            f"the matrix has {real[worst]:.3g} on its diagonal, whose inverse overflows in {diagonal.dtype}; "
            "scale A and b by a power of two"
        )
