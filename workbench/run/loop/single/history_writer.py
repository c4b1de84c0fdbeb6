"""The history of a run with one right-hand side, written from the scalars of a check interval."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from workbench.devices.programs.workspace import Workspace
from workbench.devices.rows import Rows
from workbench.records import History
from workbench.run.choices.stopping import Norm, Stopping
from workbench.run.loop.history_writer import HistoryWriter
from workbench.run.loop.single.diagnostics import SingleDiagnostics
from workbench.run.loop.single.recurrence import SQUARES
from workbench.run.loop.single.vectorized_check import MANY_ROWS, best_so_far, root, roots
from workbench.run.loop.stopping_test import IterationState, StoppingTest
from workbench.run.setup.solve_setup import SolveSetup


class SingleHistoryWriter(HistoryWriter):
    """Appends rows in terms of the original system."""

    def __init__(self, stopping: Stopping, setup: SolveSetup, measures: SingleDiagnostics) -> None:
        super().__init__(stopping, History())
        self._stopping, self._norm = stopping, Norm(stopping.norm)
        self._setup, self._measures = setup, measures

    def append_at_once(self, rows: Rows, seconds: float, test: StoppingTest) -> int:
        """Append all rows but the last if none of them can end the run; returns the number of appended rows.

        A check of each row takes longer than an iteration of a small problem on a GPU. seconds: of one iteration.
        """
        if rows.count < MANY_ROWS:
            return 0
        columns = {norm.value: roots(rows.column(square)) for norm, square in SQUARES.items()}
        norms, at = columns[self._norm.value], self.history.count + np.arange(rows.count - 1)
        best, found = best_so_far(test.best, norms, at)
        within = (norms > test.columns[0].confirm_below) & (norms <= test.columns[0].divergence)
        improving = at - found <= self._stopping.stagnation
        if not np.all(within & improving & (rows.column("delta") > 0) & (rows.column("gamma") > 0)):
            return 0
        columns = {name: self._setup.unscaled_norm(column) for name, column in columns.items()}
        columns |= {name: rows.column(name) for name in ("alpha", "beta")}
        self.history.extend(**columns, seconds=self.seconds + seconds * np.arange(1, rows.count))
        self.seconds += seconds * (rows.count - 1)
        test.best = float(best[-1]), int(found[-1])
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
