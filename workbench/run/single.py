"""The iterations of a run on one right-hand side: a recurrence whose rows are judged as they come."""

from __future__ import annotations

import math

import numpy as np

from workbench.devices.clock import Clock
from workbench.devices.operator_protocols import DeviceVector
from workbench.devices.programs.workspace import Workspace
from workbench.devices.rows import Rows
from workbench.errors import InputError
from workbench.recording import History
from workbench.run.check_interval import CheckInterval
from workbench.run.configuration import Configuration
from workbench.run.diagnostics import Diagnostics
from workbench.run.history_writer import HistoryWriter
from workbench.run.iterations import Found
from workbench.run.mixed import MixedRecurrence
from workbench.run.recurrence import Recurrence
from workbench.run.setup import SolveSetup
from workbench.run.stopping import Norm
from workbench.run.stopping_test import StoppingTest, Termination
from workbench.run.tracing import noting
from workbench.settings import MIXED


class SingleIterations:
    """The iterations on one right-hand side, as `Iterations`.

    On an accelerator several are made at once: those until the next check of the norms. They end with the iteration
    that meets the tolerance or breaks down, and each of them has a row in the history. clock: of a traced run. Raises
    InputError for a b whose norm overflows.
    """

    def __init__(self, configuration: Configuration, setup: SolveSetup, clock: Clock | None) -> None:
        stopping = configuration.stopping
        limit = stopping.limit(setup.operator.shape[0])
        self.history = History()
        self.chunks = [slice(0, 1)]
        self._configuration, self._setup = configuration, setup
        self._measures = Diagnostics(setup)
        self._test = StoppingTest(stopping, setup, self._measures)
        if not math.isfinite(self.norm_of_b):
            raise InputError("||b|| is above 1.8e308, the largest double; scale b down")
        self._writer = HistoryWriter(stopping, setup, self._measures, self.history)
        self._interval = CheckInterval(stopping, limit, setup.device.check_every)
        self._recurrence: Recurrence | None = self._made_recurrence(clock)

    @property
    def norm_of_b(self) -> float:
        return self._setup.unscaled_norm(self._test.columns[0].norm_of_b)

    @property
    def threshold(self) -> float:
        return self._setup.unscaled_norm(self._test.columns[0].tolerance)

    @property
    def seconds(self) -> float:
        return self._writer.seconds

    @property
    def notes(self) -> list[str]:
        return self.workspace.notes if self.workspace else []

    @property
    def workspace(self) -> Workspace | None:
        """The workspace of the recurrence, another one after a restart; None once the device is lost, and where it had
        no room for a restart."""
        return self._recurrence.workspace if self._recurrence else None

    def advance(self, most: int | None) -> Termination | None:
        """Iterate until the next check, and judge every row."""
        assert self._recurrence is not None
        with noting(self._recurrence.clock):
            return self._advanced(most)

    def x(self) -> np.ndarray:
        """The run's own array where that is the solution."""
        return self._measures.returned_x()

    def found(self, ending: Termination | None) -> Found:
        x, true_residual = self._measures.returned()
        if self._recurrence:
            self._recurrence.resolve()
        x = np.array(x) if isinstance(x, np.ndarray) and not ending else x
        return Found(x, self._test.columns[0].relative_to_given(true_residual))

    def lost(self) -> Found:
        return Found(np.full(self._setup.operator.shape[0], np.nan, self._setup.operator.dtype), math.nan)

    def solution(self, column: int) -> DeviceVector:
        return self._setup.solution(self._setup.x)

    def recurrence_residual(self) -> DeviceVector | None:
        # Before the start there is none, and in a user's lines r may be any vector.
        solver = self._setup.solver
        stored = solver.residual == "r" and not solver.has_user_lines and self.history.count
        return self.workspace.gathered("r") if stored and self.workspace else None

    def true_residual(self, column: int) -> DeviceVector:
        self._measures.true_residual()
        return self._measures.residual

    def exponent(self, column: int) -> int:
        return self._setup.exponent

    def release(self) -> None:
        self._recurrence = None
        for part in (self._test, self._measures):
            part.release()

    def _advanced(self, most: int | None) -> Termination | None:
        recurrence, test = self._recurrence, self._test
        assert recurrence is not None
        (column,) = test.columns
        count = self._interval.next(
            self.history,
            self._setup.unscaled_norm(column.confirm_below),
            test.best[1],
            longest=recurrence.longest_interval,
            most=most,
            elapsed=self.seconds,
        )
        rows, seconds = recurrence.advance(count, column.confirm_below, column.divergence, self.history.count)
        self._interval.note(count, seconds)
        ending = self._judged(recurrence, rows, seconds)
        if test.restart_from is not None and ending is None:
            recurrence.resolve()
            # The last reference but that of this object.
            del recurrence
            ending = self._restart()
        self._writer.confirm(test, ended=ending is not None)
        if self._recurrence:
            self._recurrence.resolve()
        return ending

    def _judged(self, recurrence: Recurrence, rows: Rows, seconds: float) -> Termination | None:
        """Append the rows to the history; the end of the run where the stopping test finds one."""
        ending = None
        for place in range(self._writer.append_at_once(rows, seconds, self._test), rows.count):
            last = place == rows.count - 1
            row = self._writer.append(rows, place, seconds, recurrence.workspace, last=last)
            self._test.note(row, last=last)
            if ending is None and self._test.restart_from is None:
                ending = self._test.verdict(row, recurrence.workspace, last=last)
        return ending

    def _restart(self) -> Termination | None:
        """Restart the recurrence where the stopping test says. The run ends where the device has no room for that."""
        x, self._test.restart_from = self._test.restart_from, None
        clock = self._recurrence.clock if self._recurrence else None
        # Its vectors are freed first: there may be no room for two recurrences.
        self._recurrence = None
        try:
            self._setup.x = x
            self._setup.begin_at(x)
            self._recurrence = self._made_recurrence(clock)
            self._recurrence.start()
        except InputError as error:
            iteration = max(0, self.history.count - 1)
            return Termination(self._test.without_restart, f"at iteration {iteration}, without a restart: {error}")
        return None

    def _made_recurrence(self, clock: Clock | None) -> Recurrence:
        stopping = self._configuration.stopping
        about = self._setup, Norm(stopping.norm), stopping.check_every, clock
        if self._configuration.precision == MIXED:
            return MixedRecurrence(*about, self._measures)
        return Recurrence(*about)
