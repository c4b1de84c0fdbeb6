"""The history of a run: its rows, written from the scalars of a check interval and from measurements between checks."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from workbench.devices.programs.workspace import Workspace
from workbench.devices.rows import Rows
from workbench.recording import History
from workbench.run.diagnostics import Diagnostics
from workbench.run.recurrence import SQUARES
from workbench.run.setup import SolveSetup
from workbench.run.stopping import Norm, Stopping
from workbench.run.stopping_test import IterationState, StoppingTest
from workbench.run.vectorized_check import MANY_ROWS, best_so_far, root, roots

DRIFT_EVERY = 10
"""Iterations between two measurements of ||Z^H r||, each of which reads r once and is not iteration time."""


class Occasional:
    """What is measured next to the iterations of a history, now and then, and is not iteration time.

    largest: what the history holds of the true residuals of all columns.
    """

    def __init__(self, stopping: Stopping, history: History, largest: Callable[[Sequence[float]], float]) -> None:
        self._every, self._history, self._largest = stopping.true_every, history, largest
        self._next_drift = 0

    def drift(self, measured: Callable[[], float]) -> float:
        """||Z^H r|| of the present vectors if it is due, else NaN."""
        if self._history.count < self._next_drift:
            return math.nan
        self._next_drift = self._history.count + DRIFT_EVERY
        return measured()

    def confirm(self, test: StoppingTest, measured: Callable[[], Any], *, ended: bool) -> None:
        """Append the true residual that the stopping test has verified the last row by; else, every `true_every`
        iterations and at the end of such a run, a measured one. measured: by column."""
        iteration = max(0, self._history.count - 1)
        due = self._every and (ended or iteration % self._every == 0)
        if (due or test.true_residuals is not None) and iteration not in self._history.true_residuals[-1:, 0]:
            self._history.confirm(iteration, self._largest(test.true_residuals or measured()))


class HistoryWriter:
    """Appends rows to a history, in terms of the original system. seconds: the iteration time so far."""

    def __init__(self, stopping: Stopping, setup: SolveSetup, measures: Diagnostics, history: History) -> None:
        self._stopping, self._norm = stopping, Norm(stopping.norm)
        self._setup, self._measures, self._history = setup, measures, history
        self._occasional = Occasional(stopping, history, lambda true: setup.unscaled_norm(true[0]))
        self.seconds = 0.0

    def append_at_once(self, rows: Rows, seconds: float, test: StoppingTest) -> int:
        """Append all rows but the last if none of them can end the run; returns the number of appended rows.

        A check of each row takes longer than an iteration of a small problem on a GPU. seconds: of one iteration.
        """
        if rows.count < MANY_ROWS:
            return 0
        columns = {norm.value: roots(rows.column(square)) for norm, square in SQUARES.items()}
        norms, at = columns[self._norm.value], self._history.count + np.arange(rows.count - 1)
        best, found = best_so_far(test.best, norms, at)
        within = (norms > test.columns[0].confirm_below) & (norms <= test.columns[0].divergence)
        improving = at - found <= self._stopping.stagnation
        if not np.all(within & improving & (rows.column("delta") > 0) & (rows.column("gamma") > 0)):
            return 0
        columns = {name: self._setup.unscaled_norm(column) for name, column in columns.items()}
        columns |= {name: rows.column(name) for name in ("alpha", "beta")}
        self._history.extend(**columns, seconds=self.seconds + seconds * np.arange(1, rows.count))
        self.seconds += seconds * (rows.count - 1)
        test.best = float(best[-1]), int(found[-1])
        return rows.count - 1

    def append(self, rows: Rows, place: int, seconds: float, workspace: Workspace, *, last: bool) -> IterationState:
        """Append one row; returns what the stopping test needs of it. last: the vectors are those of this row."""

        def scalar(name: str) -> float:
            return rows.scalar(place, name)

        self.seconds += seconds
        # At the start the scalars of a step are zero, not values.
        first = self._history.count == 0
        norms = {norm.value: root(scalar(square)) for norm, square in SQUARES.items()}
        if last:
            norms["drift"] = self._occasional.drift(lambda: self._measures.drift(workspace)[0])
        if self._norm is Norm.ERROR:
            norms["error"] = self._measures.error_norm()
        self._history.append(
            **{name: self._setup.unscaled_norm(value) for name, value in norms.items()},
            alpha=math.nan if first else scalar("alpha"),
            beta=math.nan if first else scalar("beta"),
            seconds=self.seconds,
        )
        curvature = math.inf if first else scalar("delta")
        iteration = self._history.count - 1
        norm, residual = (norms[self._norm.value],), (norms["residual"],)
        return IterationState(iteration, norm, residual, curvature, (scalar("gamma"),), self.seconds)

    def confirm(self, test: StoppingTest, *, ended: bool) -> None:
        """Append the true residual of the last row where it is known or due."""
        self._occasional.confirm(test, self._measures.true_residuals, ended=ended)
