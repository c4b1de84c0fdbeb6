"""The scalars of consecutive iterations, as a watch returns them to the driver."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np


class Rows:
    """One row of scalars per iteration, in order.

    table: shape (count, slots), valid until the next read of the watch. slots: the column of each scalar, by name.
    """

    def __init__(self, table: np.ndarray, slots: Mapping[str, int]) -> None:
        self._table, self._slots = table, slots
        self.count = len(table)

    def scalar(self, place: int, name: str) -> float:
        """The real part of a scalar in row `place`, NaN where the recurrence has no such scalar."""
        slot = self._slots.get(name, -1)
        return float(self._table[place, slot].real) if slot >= 0 else np.nan

    def column(self, name: str) -> np.ndarray:
        """The real part of a scalar in all rows but the last, shape (count - 1,); NaN as for `scalar`."""
        slot = self._slots.get(name, -1)
        return np.real(self._table[:-1, slot]) if slot >= 0 else np.full(self.count - 1, np.nan)
