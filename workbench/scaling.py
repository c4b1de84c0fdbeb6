"""Norms that do not under- or overflow, and scaling by powers of two, which changes no digit.

CG is linear: A (x/s) = b/s has the same iterates, scaled. So a run whose b or x0 is extreme solves a scaled system, and
everything that leaves it is scaled back.
"""

from __future__ import annotations

import math

import numpy as np

SAFE = {4: 40, 8: 200}
"""By the bytes of a real number: norms from 2^-SAFE to 2^SAFE need no scaling. Squares, summed in double precision, are
far from its ends, and so are residuals that are smaller by all digits there are."""
SQUARES = (1e-250, 1e250)
"""A sum of squares in here has lost nothing to under- or overflow that counts."""
_CHUNK = 1 << 16
"""Entries that are converted to double precision at a time."""


def norm(vector: np.ndarray) -> float:
    """||v||, summed in double precision; infinite only where the norm itself overflows.

    Cost: one pass, and three more where the squares under- or overflow.
    """
    squares = _sum_of_squares(vector)
    if SQUARES[0] <= squares <= SQUARES[1] or math.isnan(squares):
        return math.sqrt(squares)
    largest = magnitude(vector)
    if largest == 0 or not math.isfinite(largest):
        return largest
    exponent = math.frexp(largest)[1]
    wide = vector.astype(np.complex128 if vector.dtype.kind == "c" else np.float64)
    return scaled_number(math.sqrt(_sum_of_squares(scaled(wide, -exponent))), exponent)


def is_extreme(norm: float, dtype: np.dtype) -> bool:
    """Whether dot products of a vector of this norm may under- or overflow; those of a zero vector may not."""
    if norm == 0 or not math.isfinite(norm):
        return norm != 0
    return abs(math.frexp(norm)[1]) > SAFE[np.finfo(dtype).dtype.itemsize]


def magnitude(vector: np.ndarray) -> float:
    """The largest absolute value among real and imaginary parts; 0 for an empty vector."""
    parts = _parts(vector)
    return float(max(abs(parts.min()), abs(parts.max()))) if parts.size else 0.0


def scaled(vector: np.ndarray, exponent: int) -> np.ndarray:
    """vector * 2^exponent, a new array; exact unless it leaves the normal numbers, infinite where it overflows."""
    made = np.array(vector)
    with np.errstate(over="ignore", under="ignore"):
        np.ldexp(_parts(made), exponent, out=_parts(made))
    return made


def scaled_number(value: float, exponent: int) -> float:
    """The same of a number."""
    try:
        return math.ldexp(value, exponent)
    except OverflowError:
        return math.copysign(math.inf, value)


def _sum_of_squares(vector: np.ndarray) -> float:
    parts = _parts(vector)
    with np.errstate(over="ignore", under="ignore"):
        if parts.dtype == np.float64:
            return float(np.dot(parts, parts))
        pieces = (parts[low : low + _CHUNK].astype(np.float64) for low in range(0, parts.size, _CHUNK))
        return math.fsum(float(np.dot(piece, piece)) for piece in pieces)


def _parts(vector: np.ndarray) -> np.ndarray:
    """Real and imaginary parts as one real array; a view where the vector is contiguous."""
    return np.ascontiguousarray(vector).view(np.finfo(vector.dtype).dtype)
