"""Norms without under- or overflow, and exact scaling by powers of two.

CG is homogeneous: A (x/s) = b/s has the same iterates, scaled by 1/s. A run with an extreme b or x0 therefore solves a
scaled system, and its output is scaled back.
"""

from __future__ import annotations

import math

import numpy as np

SAFE_EXPONENT = {4: 40, 8: 200}
"""By the bytes of a real number: norms from 2^-e to 2^e need no scaling. Their squares, summed in double precision,
stay far from under- and overflow, and so do residuals smaller by the unit roundoff."""
SAFE_SQUARES = {4: (1e-25, 1e30), 8: (1e-250, 1e250)}
"""By the bytes of a real number: a sum of squares within these bounds has no significant under- or overflow."""
_PIECE, _LONG = 8192, 1 << 20
"""BLAS shares dot products of more than 10000 entries between threads, and waits for them: milliseconds where a core is
busy, which long ones alone are worth."""
_CHUNK = 1 << 16
"""Entries converted to double precision at a time."""


def norm(vector: np.ndarray) -> float:
    """||v||, summed in double precision; infinite only if the norm itself overflows.

    Cost: one pass; four if the squares under- or overflow.
    """
    squares = _sum_of_squares(vector)
    if in_range(squares):
        return math.sqrt(squares)
    largest = max_abs(vector)
    if largest == 0 or not math.isfinite(largest):
        return largest
    exponent = math.frexp(largest)[1]
    double = vector.astype(np.complex128 if vector.dtype.kind == "c" else np.float64)
    return scaled_scalar(math.sqrt(_sum_of_squares(scaled(double, -exponent))), exponent)


def dot(a: np.ndarray, b: np.ndarray) -> complex:
    """(a, b), summed in their precision, with a conjugated. One thread does it but for long vectors."""
    if not _PIECE < a.size < _LONG:
        return np.vdot(a, b).item()
    return sum(np.vdot(a[low : low + _PIECE], b[low : low + _PIECE]).item() for low in range(0, a.size, _PIECE))


def unit_columns(vectors: np.ndarray) -> np.ndarray:
    """The columns that are not zero, shape (N, k), with ||v|| = 1 whatever their scale."""
    # First by the largest entry, since squares of a very long or short column over- or underflow.
    largest = np.maximum(np.abs(np.real(vectors)), np.abs(np.imag(vectors))).max(axis=0, initial=0)
    vectors = vectors[:, largest > 0] / largest[largest > 0]
    return vectors / np.linalg.norm(vectors, axis=0)


def in_range(squares: float | np.ndarray, dtype: np.dtype | type = np.float64) -> np.ndarray | np.bool:
    """True for sums of squares that have no significant under- or overflow in this precision, and for NaN, which no
    scaling removes."""
    low, high = SAFE_SQUARES[np.finfo(dtype).dtype.itemsize]
    return np.logical_not((squares < low) | (squares > high))


def is_extreme(norm: float, dtype: np.dtype) -> bool:
    """True if dot products of a vector with this norm may under- or overflow; False for the zero vector."""
    if norm == 0 or not math.isfinite(norm):
        return norm != 0
    return abs(math.frexp(norm)[1]) > SAFE_EXPONENT[np.finfo(dtype).dtype.itemsize]


def max_abs(vector: np.ndarray) -> float:
    """The largest absolute value of the real and imaginary parts; 0 for an empty vector."""
    parts = _real_view(vector)
    return float(max(abs(parts.min()), abs(parts.max()))) if parts.size else 0.0


def scaled(vector: np.ndarray, exponent: int) -> np.ndarray:
    """A new array, vector * 2^exponent; exact unless a value becomes subnormal or overflows to infinity."""
    result = np.array(vector)
    with np.errstate(over="ignore", under="ignore"):
        np.ldexp(_real_view(result), exponent, out=_real_view(result))
    return result


def scaled_scalar(value: float, exponent: int) -> float:
    """value * 2^exponent; infinite where it overflows."""
    try:
        return math.ldexp(value, exponent)
    except OverflowError:
        return math.copysign(math.inf, value)


def _sum_of_squares(vector: np.ndarray) -> float:
    parts = _real_view(vector)
    with np.errstate(over="ignore", under="ignore"):
        if parts.dtype == np.float64:
            return float(dot(parts, parts).real)
        pieces = (parts[low : low + _CHUNK].astype(np.float64) for low in range(0, parts.size, _CHUNK))
        return math.fsum(float(np.dot(piece, piece)) for piece in pieces)


def _real_view(vector: np.ndarray) -> np.ndarray:
    """Real and imaginary parts as one real array; a view if the vector is contiguous."""
    return np.ascontiguousarray(vector).view(np.finfo(vector.dtype).dtype)
