"""The history of a run: its rows, and what is measured now and then between two of them."""

from __future__ import annotations

import abc
import math
from collections.abc import Callable, Sequence

import numpy as np

from workbench.records import History
from workbench.run.choices.stopping import Stopping
from workbench.run.loop.diagnostics import Diagnostics
from workbench.run.loop.stopping_test import StoppingTest

DRIFT_EVERY = 10
"""Iterations between two measurements of ||Z^H r||, each of which reads r once and is not iteration time."""


class HistoryWriter(abc.ABC):
    """Appends to a history. seconds: the iteration time so far, without that of measurements."""

    def __init__(self, stopping: Stopping, history: History) -> None:
        self.history, self.seconds = history, 0.0
        self._every, self._next_drift = stopping.true_every, 0

    def confirm(self, test: StoppingTest, measures: Diagnostics, *, ended: bool) -> None:
        """Append the true residual that the stopping test has verified the last row by; else, every `true_every`
        iterations and at the end of such a run, a measured one."""
        iteration = max(0, self.history.count - 1)
        due = self._every and (ended or iteration % self._every == 0)
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

    @abc.abstractmethod
    def _of_all(self, true_residuals: Sequence[float] | np.ndarray, test: StoppingTest) -> float:
        """The entry of the history for the true residuals. test: of their columns."""
