"""The history of a run: norms and scalars by iteration, readable from another thread while it grows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from workbench.errors import InputError

COLUMNS = ("residual", "preconditioned", "natural", "error", "alpha", "beta", "drift", "seconds")
"""Columns, with one row per iteration from 0 for the start; unknown values are NaN.

residual: ||r||. preconditioned: sqrt((u, u)). natural: sqrt((r, u)). error: A-norm of the error, if the solution is
known. alpha, beta: real parts, NaN at the start. drift: ||Z^H r|| with unit columns, where it was measured. seconds:
iteration time so far."""


RESIDUAL_GAP = 2.0
"""Ratio of the true residual to the recurrence residual above which there is a residual gap."""


class History:
    """Columns of float64 that grow by one row per iteration.

    Thread safety: one thread appends, any number read. The count is increased after a row is written, and growing
    replaces the arrays.

    Examples:
        >>> from workbench.records import History
        >>> history = History()
        >>> history.append(residual=1.0)
        >>> history.append(residual=0.25)
        >>> history.count, history["residual"].tolist()
        (2, [1.0, 0.25])
    """

    def __init__(self) -> None:
        self.steps: list[Any] = []
        """A `solvers.multi.basis.Step` for each iteration of a method with several directions; no file has them."""
        self._count = 0
        self._columns = {name: np.empty(1024) for name in COLUMNS}
        self._true: list[tuple[int, float]] = []

    @property
    def count(self) -> int:
        """Number of rows, the start included."""
        return self._count

    def append(self, **row: float) -> None:
        """Append one row; missing columns are NaN."""
        self._reserve(1)
        for name, column in self._columns.items():
            column[self._count] = row.get(name, np.nan)
        self._count += 1

    def extend(self, **columns: np.ndarray) -> None:
        """Append rows as columns of equal length; missing columns are NaN."""
        (size,) = {column.size for column in columns.values()}
        self._reserve(size)
        for name, column in self._columns.items():
            column[self._count : self._count + size] = columns.get(name, np.nan)
        self._count += size

    def _reserve(self, size: int) -> None:
        while self._count + size > self._columns["residual"].size:
            self._columns = {
                name: np.concatenate([column, np.empty_like(column)]) for name, column in self._columns.items()
            }

    def confirm(self, iteration: int, true_residual: float) -> None:
        """Record the true residual norm ||b - A x|| at an iteration."""
        self._true.append((iteration, true_residual))

    def __getitem__(self, name: str) -> np.ndarray:
        """One column as a read-only view, shape (count,)."""
        count = self._count
        view = self._columns[name][:count].view()
        view.flags.writeable = False
        return view

    @property
    def true_residuals(self) -> np.ndarray:
        """Rows (iteration, ||b - A x||), shape (k, 2)."""
        return np.array(self._true, dtype=np.float64).reshape(-1, 2)

    @property
    def residual_gap_at(self) -> int | None:
        """The first iteration with a true residual above `RESIDUAL_GAP` times the recurrence residual; None without.

        Its accuracy depends on how often the true residual was computed.
        """
        residual = self["residual"]
        for iteration, true_residual in self._true:
            if iteration < residual.size and true_residual > RESIDUAL_GAP * residual[iteration]:
                return iteration
        return None

    def since(self, first: int, confirmed: int) -> dict[str, np.ndarray]:
        """The rows from `first` on and the true residuals from the one numbered `confirmed` on, for `follow`."""
        true = np.array(self._true[confirmed:], dtype=np.float64).reshape(-1, 2)
        return {**{name: self[name][first:].copy() for name in COLUMNS}, "true_residuals": true}

    def follow(self, rows: Mapping[str, np.ndarray]) -> None:
        """Append what `since` of a history in another process returned."""
        self.extend(**{name: rows[name] for name in COLUMNS})
        self._true += [(int(iteration), float(value)) for iteration, value in rows["true_residuals"]]

    def to_arrays(self) -> dict[str, np.ndarray]:
        """All columns and the true residuals, for storage."""
        return {**{name: self[name].copy() for name in COLUMNS}, "true_residuals": self.true_residuals}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> History:
        """The inverse of `to_arrays`. Raises InputError for missing arrays, wrong shapes and wrong dtypes."""
        if cls is History and "columns" in arrays:
            return BlockHistory.from_arrays(arrays)
        missing = [name for name in ("residual", "true_residuals") if name not in arrays]
        if missing:
            raise InputError(f"its history lacks {' and '.join(missing)}")
        count, confirmed = arrays["residual"].size, arrays["true_residuals"]
        history = cls()
        history._count = count
        # Runs saved before a column was introduced lack it.
        unknown = np.full(count, np.nan)
        columns = {name: arrays.get(name, unknown) for name in COLUMNS}
        for name, column in columns.items():
            if column.shape != (count,) or column.dtype.kind != "f":
                raise InputError(f"its column {name} has the shape {column.shape} of {column.dtype}, not ({count},)")
        history._columns = {name: np.array(column, dtype=np.float64) for name, column in columns.items()}
        if confirmed.dtype.kind != "f" or confirmed.ndim != 2 or confirmed.shape[1] != 2:
            raise InputError(f"its true residuals have the shape {confirmed.shape} of {confirmed.dtype}, not (k, 2)")
        if not all(value.is_integer() and 0 <= value < 2**53 for value in confirmed[:, 0].tolist()):
            raise InputError("a true residual has an iteration number that is not a non-negative integer")
        history._true = [(int(iteration), float(value)) for iteration, value in confirmed]
        return history


class BlockHistory(History):
    """The history of a run with s right-hand sides; its `residual` is the largest ||r_j||/||b_j||.

    Examples:
        >>> import numpy as np
        >>> from workbench.run import solve
        >>> history = solve(np.diag([1.0, 2.0, 4.0]), np.eye(3)[:, :2]).history
        >>> type(history).__name__, history.columns.shape[1]
        ('BlockHistory', 2)
    """

    def __init__(self, columns: int) -> None:
        super().__init__()
        self._rows: list[np.ndarray] = []
        self._ranks: list[tuple[int, float]] = []
        self.size = columns
        """The number of right-hand sides."""

    def append_block(
        self,
        relative: np.ndarray,
        rank: int,
        pivot: float,
        seconds: float,
        begun: int | None = None,
        drift: float = np.nan,
    ) -> None:
        """Append one row. relative: ||r_j||/||b_j||, shape (s,), NaN from column `begun` on, whose solve is to come.
        drift: the largest ||Z^H r_j||/||b_j||, where it was measured."""
        self._rows.append(np.array(relative, np.float64))
        self._ranks.append((rank, pivot))
        self.append(residual=float(relative[:begun].max()), seconds=seconds, drift=drift)

    def extend_block(
        self, relative: np.ndarray, ranks: np.ndarray, pivots: np.ndarray, seconds: np.ndarray, begun: int
    ) -> None:
        """Append several rows, of which every argument has as many, as `append_block` does."""
        self._rows += list(relative)
        self._ranks += list(zip(ranks.tolist(), pivots.tolist(), strict=True))
        self.extend(residual=relative[:, :begun].max(axis=1), seconds=seconds)

    def since(self, first: int, confirmed: int) -> dict[str, np.ndarray]:
        more = {"columns": np.array(self._rows[first:]).reshape(-1, self.size), "ranks": np.array(self._ranks[first:])}
        return {**super().since(first, confirmed), **more}

    def follow(self, rows: Mapping[str, np.ndarray]) -> None:
        self._rows += list(rows["columns"])
        self._ranks += [(int(rank), float(pivot)) for rank, pivot in rows["ranks"].reshape(-1, 2)]
        super().follow(rows)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """All columns, for storage."""
        return {**super().to_arrays(), "columns": self.columns, "rank": self.rank, "pivot": self.pivot}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> BlockHistory:
        """The inverse of `to_arrays`. Raises InputError as that of `History` does."""
        plain = History.from_arrays({name: values for name, values in arrays.items() if name != "columns"})
        columns, rank, pivot = (arrays.get(name, np.empty(0)) for name in ("columns", "rank", "pivot"))
        fits = columns.ndim == 2 and columns.dtype.kind == pivot.dtype.kind == "f" and rank.dtype.kind == "i"
        if not fits or columns.shape[:1] != (plain.count,) or not rank.shape == pivot.shape == (plain.count,):
            raise InputError(
                f"its columns have the shape {columns.shape} of {columns.dtype}, rank and pivot {rank.shape} and "
                f"{pivot.shape}, not those of {plain.count} rows"
            )
        history = cls(columns.shape[1])
        history._count, history._columns, history._true = plain._count, plain._columns, plain._true
        history._rows = list(np.array(columns, np.float64))
        history._ranks = list(zip(rank.tolist(), pivot.tolist(), strict=True))
        return history

    @property
    def columns(self) -> np.ndarray:
        """||r_j||/||b_j|| by iteration, shape (count, s); of a column that has ended, that of its end, and NaN of one
        in a chunk that has not begun."""
        return np.array(self._rows[: self.count]).reshape(-1, self.size)

    @property
    def rank(self) -> np.ndarray:
        """Columns that the search directions span, by iteration, shape (count,)."""
        return np.array([rank for rank, _ in self._ranks[: self.count]], dtype=int)

    @property
    def pivot(self) -> np.ndarray:
        """The smallest over the largest pivot, by iteration, shape (count,); NaN without one."""
        return np.array([pivot for _, pivot in self._ranks[: self.count]])
