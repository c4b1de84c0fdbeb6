"""The history of a run: its rows, and what is measured now and then between two of them."""

from __future__ import annotations

import abc
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from workbench.devices.programs.workspace import Workspace
from workbench.devices.rows import Rows
from workbench.records import BlockHistory, History
from workbench.run.choices.stopping import Norm, Stopping
from workbench.run.loop.diagnostics import Diagnostics
from workbench.run.loop.iteration_state import IterationState
from workbench.run.loop.stopping_test import StoppingTest
from workbench.run.setup.solve_setup import SolveSetup

if TYPE_CHECKING:
    from workbench.solvers.block.base import BlockRow

SQUARES = {Norm.RESIDUAL: "rr", Norm.PRECONDITIONED: "uu", Norm.NATURAL: "gamma"}
"""The scalar that is the square of each norm."""

DRIFT_EVERY = 10
"""Iterations between two measurements of ||Z^H r||, each of which reads r once and is not iteration time."""
MANY_ROWS = 4
"""Number of rows from which array operations are faster than a check of each row."""


class HistoryWriter(abc.ABC):
    """Appends to a history. seconds: the iteration time so far, without that of measurements."""

    def __init__(self, stopping: Stopping, history: History) -> None:
        self.history, self.seconds = history, 0.0
        self._stopping, self._next_drift = stopping, 0

    def confirm(self, test: StoppingTest, measures: Diagnostics, *, ended: bool) -> None:
        """Append the true residual that the stopping test has verified the last row by; else, every `true_every`
        iterations and at the end of such a run, a measured one."""
        iteration, every = max(0, self.history.count - 1), self._stopping.true_every
        due = every and (ended or iteration % every == 0)
        if (due or test.true_residuals is not None) and iteration not in self.history.true_residuals[-1:, 0]:
            true = measures.true_residuals() if test.true_residuals is None else test.true_residuals
            self.history.confirm(iteration, self._of_all(true, test))

    def measure_later(self) -> None:
        """Leave out the drift of the first rows."""
        self._next_drift = DRIFT_EVERY

    def _drift(self, measured: Callable[[], float]) -> float:
        """||Z^H r|| of the present vectors if it is due, else NaN."""
        if self.history.count < self._next_drift:
            return math.nan
        self._next_drift = self.history.count + DRIFT_EVERY
        return measured()

    def _noted(self, scores: np.ndarray, at: np.ndarray, test: StoppingTest) -> bool:
        """Note the best of some iterations; False, and nothing is noted, where the run stagnates at one of them."""
        best, found = best_so_far(test.best, scores, at)
        if (at - found > self._stopping.stagnation).any():
            return False
        test.best = float(best[-1]), int(found[-1])
        return True

    @abc.abstractmethod
    def _of_all(self, true_residuals: Sequence[float] | np.ndarray, test: StoppingTest) -> float:
        """The entry of the history for the true residuals. test: of their columns."""


class SingleHistoryWriter(HistoryWriter):
    """Appends rows of one right-hand side, from the scalars of a check interval, in terms of the original system."""

    def __init__(self, stopping: Stopping, setup: SolveSetup, measures: Diagnostics) -> None:
        super().__init__(stopping, History())
        self._norm, self._setup, self._measures = Norm(stopping.norm), setup, measures

    def append_at_once(self, rows: Rows, seconds: float, test: StoppingTest) -> int:
        """Append all rows but the last if none of them can end the run; returns the number of appended rows.

        A check of each row takes longer than an iteration of a small problem on a GPU. seconds: of one iteration.
        """
        if rows.count < MANY_ROWS:
            return 0
        columns = {norm.value: roots(rows.column(square)) for norm, square in SQUARES.items()}
        norms, at = columns[self._norm.value], self.history.count + np.arange(rows.count - 1)
        within = (norms > test.columns[0].confirm_below) & (norms <= test.columns[0].divergence)
        usual = within & (rows.column("delta") > 0) & (rows.column("gamma") > 0)
        if not (usual.all() and self._noted(norms, at, test)):
            return 0
        columns = {name: self._setup.unscaled_norm(column) for name, column in columns.items()}
        columns |= {name: rows.column(name) for name in ("alpha", "beta")}
        self.history.extend(**columns, seconds=self.seconds + seconds * np.arange(1, rows.count))
        self.seconds += seconds * (rows.count - 1)
        return rows.count - 1

    def append(self, rows: Rows, place: int, seconds: float, workspace: Workspace, *, last: bool) -> IterationState:
        """Append one row; returns what the stopping test needs of it. last: the vectors are those of this row."""

        def scalar(name: str) -> float:
            return rows.scalar(place, name)

        self.seconds += seconds
        # At the start the scalars of a step are zero, not values.
        first = self.history.count == 0
        norms = {norm.value: root(scalar(square)) for norm, square in SQUARES.items()}
        if last:
            norms["drift"] = self._drift(lambda: self._measures.drift(workspace)[0])
        if self._norm is Norm.ERROR:
            norms["error"] = self._measures.error_norm()
        self.history.append(
            **{name: self._setup.unscaled_norm(value) for name, value in norms.items()},
            alpha=math.nan if first else scalar("alpha"),
            beta=math.nan if first else scalar("beta"),
            seconds=self.seconds,
        )
        curvature = math.inf if first else scalar("delta")
        iteration = self.history.count - 1
        norm, residual = (norms[self._norm.value],), (norms["residual"],)
        return IterationState(iteration, norm, residual, curvature, (scalar("gamma"),), self.seconds)

    def _of_all(self, true_residuals: Sequence[float] | np.ndarray, test: StoppingTest) -> float:
        return self._setup.unscaled_norm(true_residuals[0])


class SolvedColumns(Protocol):
    """Columns that are solved at once, as their history asks for them: their place, the iterations done, their test."""

    place: slice
    iterations: int
    test: StoppingTest

    def drift(self) -> float:
        """The largest ||Z^H r_j||/||b_j||."""
        ...


class BlockHistoryWriter(HistoryWriter):
    """Appends the rows of many right-hand sides, one chunk after another, to the history of all columns."""

    history: BlockHistory

    def __init__(self, stopping: Stopping, columns: int) -> None:
        super().__init__(stopping, BlockHistory(columns))
        self._relative, self._true = np.full(columns, np.nan), np.zeros(columns)
        """||r_j||/||b_j||, and of the columns that were verified ||b_j - A x_j||/||b_j||."""

    def append(self, row: BlockRow, chunk: SolvedColumns, *, last: bool) -> None:
        """Append the row of a chunk. The start of a later chunk is no iteration. last: the block vectors are those of
        it."""
        self._relative[chunk.place] = chunk.test.relative
        if chunk.iterations or not self.history.count:
            drift = self._drift(chunk.drift) if last else np.nan
            self.history.append_block(self._relative, row.rank, row.pivot, self.seconds, chunk.place.stop, drift)

    def append_at_once(self, kept: Mapping[str, np.ndarray], seconds: float, chunk: SolvedColumns) -> bool:
        """Append rows at which no column ends, unless the run stagnates at one of them; whether they were appended.

        kept: as in `Repeats`. seconds: of an iteration.
        """
        squares, test = np.real(kept["rr"]), chunk.test
        count, ends = len(squares), [column.norm for column in test.columns]
        norms = np.where(test.frozen, ends, np.sqrt(np.maximum(squares, 0)))
        relative = norms / np.array([column.norm_of_b or 1.0 for column in test.columns])
        scores = norms[:, 0] if test.single else relative.sum(axis=1)
        if not self._noted(scores, chunk.iterations + 1 + np.arange(count), test):
            return False
        whole = np.tile(self._relative, (count, 1))
        whole[:, chunk.place] = relative
        ranks = np.count_nonzero(kept["spanned"], axis=1) if "spanned" in kept else np.full(count, squares.shape[1])
        pivots = np.real(kept["pivot"][:, 0]) if "pivot" in kept else np.full(count, np.nan)
        times = self.seconds + seconds * np.arange(1, count + 1)
        self.history.extend_block(whole, ranks, pivots, times, chunk.place.stop)
        self.seconds += seconds * count
        chunk.iterations += count
        return True

    def _of_all(self, true_residuals: Sequence[float] | np.ndarray, test: StoppingTest) -> float:
        """The largest ||b_j - A x_j||/||b_j||."""
        self._true[test.place] = test.relative_to_b(true_residuals)
        return float(self._true.max())


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
