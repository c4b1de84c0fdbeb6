"""Vectorized convergence check: many rows of the history at once, for iterations that take less time than one check."""

from __future__ import annotations

import math

import numpy as np

MANY_ROWS = 4
"""Number of rows from which array operations are faster than a check of each row."""


def root(square: float) -> float:
    """The square root; NaN for a square that rounding or an indefinite M made negative."""
    return math.sqrt(square) if square >= 0 else math.nan


def roots(squares: np.ndarray) -> np.ndarray:
    """`root` of an array."""
    return np.sqrt(np.where(squares >= 0, squares, np.nan))


def best_so_far(before: tuple[float, int], norms: np.ndarray, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The smallest norm up to each of the iterations `at`, and its iteration; before: both, up to the first of them."""
    smallest = np.minimum.accumulate(np.concatenate([[before[0]], norms]))
    found = np.where(norms < smallest[:-1], at, before[1])
    return smallest[1:], np.maximum.accumulate(found)
