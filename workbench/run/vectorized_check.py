"""Many rows of a run at once, for iterations that take less time than looking at one row."""

from __future__ import annotations

import math

import numpy as np

MANY_ROWS = 4
"""From here on array operations are faster than a look at every row."""


def root(square: float) -> float:
    """The square root, with NaN for what rounding or an indefinite M made negative."""
    return math.sqrt(square) if square >= 0 else math.nan


def roots(squares: np.ndarray) -> np.ndarray:
    """The same of many."""
    return np.sqrt(np.where(squares >= 0, squares, np.nan))


def best_so_far(before: tuple[float, int], norms: np.ndarray, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The smallest norm and its iteration up to each of the iterations `at`, given those before them."""
    smallest = np.minimum.accumulate(np.concatenate([[before[0]], norms]))
    found = np.where(norms < smallest[:-1], at, before[1])
    return smallest[1:], np.maximum.accumulate(found)
