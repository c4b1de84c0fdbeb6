"""The scalars of consecutive iterations, as a watch returns them to the driver."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import numpy as np

Limits = TypeVar("Limits", float, np.ndarray)
ROUNDING = 8
"""Relative width, in units of rounding, by which limits of squared norms are moved: more than a square root can err."""


def widened_squares(limits: Limits, largest: Limits, dtype: np.dtype) -> tuple[Limits, Limits]:
    """The squares of two bounds of a norm, moved inwards, so that a device stops at every row that may meet one.

    The host compares square roots, whose rounding may decide. A squared norm that is at most the first square, or above
    the second one, may meet a bound. limits, largest: numbers, or arrays with an entry for each column.
    """
    slack = ROUNDING * float(np.finfo(dtype).eps)
    return limits * limits * (1 + slack), largest * largest * (1 - slack)


class Rows:
    """One row of scalars per iteration, in order.

    table: shape (count, slots), valid until the next read of the watch. slots: the column of each scalar, by name.
    """

    def __init__(self, table: np.ndarray, slots: Mapping[str, int]) -> None:
        # Of a real table a view, so that each read is one of an array.
        self._table, self._slots = np.real(table), slots
        self.count = len(table)

    def scalar(self, place: int, name: str) -> float:
        """The real part of a scalar in row `place`, NaN where the recurrence has no such scalar."""
        slot = self._slots.get(name, -1)
        return float(self._table[place, slot]) if slot >= 0 else np.nan

    def column(self, name: str) -> np.ndarray:
        """The real part of a scalar in all rows but the last, shape (count - 1,); NaN as for `scalar`."""
        slot = self._slots.get(name, -1)
        return self._table[:-1, slot] if slot >= 0 else np.full(self.count - 1, np.nan)
