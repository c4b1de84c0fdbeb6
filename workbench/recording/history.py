"""What a run leaves behind iteration by iteration, readable from another thread while it grows."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from workbench.errors import InputError

COLUMNS = ("residual", "preconditioned", "natural", "error", "alpha", "beta", "drift", "seconds")
"""Per iteration, the start being 0: ||r||, sqrt((u, u)), sqrt((r, u)), the A-norm of the error where the solution is
known (else NaN), the scalars alpha and beta (real parts; NaN at the start), ||Z^H r|| with unit columns where it was
measured (else NaN), and the seconds of iteration time so far."""


RESIDUAL_GAP = 2.0
"""The ratio ||b - A x|| / ||r|| above which there is a residual gap."""


class History:
    """Columns of float64 that grow by one row per iteration.

    One thread appends, any number read: a row counts only after it is written, and growing replaces arrays whole.
    """

    def __init__(self) -> None:
        self._count = 0
        self._columns = {name: np.empty(1024) for name in COLUMNS}
        self._true: list[tuple[int, float]] = []

    @property
    def count(self) -> int:
        """Rows so far, the start included."""
        return self._count

    def append(self, **row: float) -> None:
        """Add one row; columns that are not given hold NaN."""
        self._make_room(1)
        for name, column in self._columns.items():
            column[self._count] = row.get(name, np.nan)
        self._count += 1

    def extend(self, **columns: np.ndarray) -> None:
        """Add rows, given as columns of one length; columns that are not given hold NaN."""
        (size,) = {column.size for column in columns.values()}
        self._make_room(size)
        for name, column in self._columns.items():
            column[self._count : self._count + size] = columns.get(name, np.nan)
        self._count += size

    def _make_room(self, size: int) -> None:
        while self._count + size > self._columns["residual"].size:
            self._columns = {
                name: np.concatenate([column, np.empty_like(column)]) for name, column in self._columns.items()
            }

    def confirm(self, iteration: int, true_residual: float) -> None:
        """Note ||b - A x|| as computed afresh at an iteration."""
        self._true.append((iteration, true_residual))

    def __getitem__(self, name: str) -> np.ndarray:
        """One column, shape (count,), read-only view."""
        count = self._count
        view = self._columns[name][:count].view()
        view.flags.writeable = False
        return view

    @property
    def true_residuals(self) -> np.ndarray:
        """Rows of (iteration, ||b - A x||), shape (k, 2)."""
        return np.array(self._true, dtype=np.float64).reshape(-1, 2)

    @property
    def residual_gap_at(self) -> int | None:
        """The first iteration with a measured residual gap: ||b - A x||, recomputed, above `RESIDUAL_GAP` times ||r||.

        None without one; true residuals are measured only at some iterations, so that the gap may have opened earlier.
        """
        residual = self["residual"]
        for iteration, true_residual in self._true:
            if iteration < residual.size and true_residual > RESIDUAL_GAP * residual[iteration]:
                return iteration
        return None

    def to_arrays(self) -> dict[str, np.ndarray]:
        """All columns and the confirmed residuals, for storage."""
        return {**{name: self[name].copy() for name in COLUMNS}, "true_residuals": self.true_residuals}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> History:
        """The inverse of `to_arrays`. Raises InputError for arrays of other shapes than that makes."""
        missing = [name for name in ("residual", "true_residuals") if name not in arrays]
        if missing:
            raise InputError(f"its history lacks {' and '.join(missing)}")
        count, confirmed = arrays["residual"].size, arrays["true_residuals"]
        history = cls()
        history._count = count
        # Runs saved before a column was there lack it.
        unknown = np.full(count, np.nan)
        given = {name: arrays.get(name, unknown) for name in COLUMNS}
        for name, column in given.items():
            if column.shape != (count,) or column.dtype.kind != "f":
                raise InputError(f"its column {name} has the shape {column.shape} of {column.dtype}, not ({count},)")
        history._columns = {name: np.array(column, dtype=np.float64) for name, column in given.items()}
        if confirmed.dtype.kind != "f" or confirmed.ndim != 2 or confirmed.shape[1] != 2:
            raise InputError(f"its true residuals have the shape {confirmed.shape} of {confirmed.dtype}, not (k, 2)")
        if not all(value.is_integer() and 0 <= value < 2**53 for value in confirmed[:, 0].tolist()):
            raise InputError("a true residual of it belongs to an iteration that is no whole number")
        history._true = [(int(iteration), float(value)) for iteration, value in confirmed]
        return history
