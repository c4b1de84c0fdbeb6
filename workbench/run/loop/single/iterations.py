"""The iterations of a run on one right-hand side: a recurrence whose rows are judged as they come."""

from __future__ import annotations

import math

import numpy as np

from workbench.devices.clock import Clock
from workbench.devices.operator_protocols import DeviceVector
from workbench.devices.programs.workspace import Workspace
from workbench.devices.rows import Rows
from workbench.errors import InputError
from workbench.run.choices.configuration import Configuration
from workbench.run.choices.stopping import Norm
from workbench.run.loop.diagnostics import Diagnostics
from workbench.run.loop.history_writer import SingleHistoryWriter
from workbench.run.loop.iteration_state import Termination
from workbench.run.loop.iterations import Found, Iterations
from workbench.run.loop.single.check_interval import CheckInterval
from workbench.run.loop.single.mixed import MixedRecurrence
from workbench.run.loop.single.recurrence import Recurrence
from workbench.run.loop.stopping_test import StoppingTest
from workbench.run.loop.tracing import recording
from workbench.run.setup.solve_setup import SolveSetup
from workbench.settings import MIXED


class SingleIterations(Iterations):
    """The iterations on one right-hand side.

    On an accelerator several are made at once: those until the next check of the norms. They end with the iteration
    that meets the tolerance or breaks down, and each of them has a row in the history. recurrence: one that was
    rewound, by default another is made. expected: see `CheckInterval`. Raises InputError for a b whose norm overflows.
    """

    _writer: SingleHistoryWriter

    def __init__(
        self,
        configuration: Configuration,
        setup: SolveSetup,
        clock: Clock | None,
        recurrence: Recurrence | None = None,
        expected: int = 0,
    ) -> None:
        stopping = configuration.stopping
        self._measures = Diagnostics(setup)
        super().__init__(configuration, setup, clock, SingleHistoryWriter(stopping, setup, self._measures))
        self._test = StoppingTest(stopping, setup, self._measures)
        self.chunks, (column,) = [self._test.place], self._test.columns
        self.norm_of_b, self.threshold = map(setup.unscaled_norm, (column.norm_of_b, column.tolerance))
        if not math.isfinite(self.norm_of_b):
            raise InputError("||b|| is above 1.8e308, the largest double; scale b down")
        limit = stopping.limit(setup.system.unknowns)
        if recurrence:
            # Of many solves, most of which are short.
            self._writer.measure_later()
        self._recurrence: Recurrence | None = recurrence or self._made_recurrence()
        stops = self._recurrence.watch.stops
        self._interval = CheckInterval(stopping, limit, setup.device.check_every, stops=stops, expected=expected)

    @property
    def recurrence(self) -> Recurrence | None:
        """The present recurrence; another one after a restart."""
        return self._recurrence

    @property
    def workspace(self) -> Workspace | None:
        return self._recurrence.workspace if self._recurrence else None

    def advance(self, most: int | None) -> Termination | None:
        """Iterate until the next check, and judge every row."""
        with recording(self._clock):
            ending = self._advanced(most)
        self._resolve()
        return ending

    def gather(self) -> None:
        if self._recurrence:
            self._recurrence.gather()

    def x(self) -> np.ndarray:
        """The run's own array where that is the solution."""
        return self._measures.returned_x()

    def found(self, ending: Termination | None) -> Found:
        x, (true_residual,) = self._measures.returned()
        x = np.array(x) if isinstance(x, np.ndarray) and not ending else x
        return Found(x, self._test.columns[0].relative_to_given(float(true_residual)))

    def lost(self) -> Found:
        return Found(np.full(self._setup.operator.shape[0], np.nan, self._setup.operator.dtype), math.nan)

    def solution(self, column: int) -> DeviceVector:
        return self._measures.solution()

    def recurrence_residual(self) -> DeviceVector | None:
        # Before the start there is none, and in a user's lines r may be any vector.
        solver = self._setup.solver
        stored = solver.residual == "r" and not solver.has_user_lines and self.history.count
        return self.workspace.gathered("r") if stored and self.workspace else None

    def true_residual(self, column: int) -> DeviceVector:
        self._measures.true_residuals()
        return self._measures.residual

    def exponent(self, column: int) -> int:
        return self._setup.exponent

    def close(self) -> None:
        if self._recurrence:
            self._recurrence.close()

    def release(self) -> None:
        super().release()
        self._recurrence = None
        for part in (self._test, self._measures):
            part.release()

    def _advanced(self, most: int | None) -> Termination | None:
        recurrence, test = self._recurrence, self._test
        assert recurrence is not None
        self._measures.verified = None
        (column,) = test.columns
        count = self._interval.next(
            self.history,
            self._setup.unscaled_norm(column.confirm_below),
            test.best[1],
            longest=recurrence.longest_interval,
            most=most,
            elapsed=self.seconds,
        )
        if recurrence.longest_interval > 1:
            # How many are due depends on a clock, and all ranks must make as many.
            count = self._setup.device.agreed(count)
        rows, seconds = recurrence.advance(count, column.confirm_below, column.divergence, self.history.count)
        if math.isfinite(test.time_limit[0]):
            # All ranks end with the same iteration.
            seconds = self._setup.device.agreed(seconds)
        self._interval.note(count, seconds)
        ending = self._judged(rows, seconds, recurrence.workspace)
        # The last reference but that of this object.
        del recurrence
        if test.restart_from is not None and ending is None:
            ending = self._restart()
        self._writer.confirm(test, self._measures, ended=ending is not None)
        return ending

    def _judged(self, rows: Rows, seconds: float, workspace: Workspace) -> Termination | None:
        """Append the rows to the history; the end of the run where the stopping test finds one."""
        ending = None
        for place in range(self._writer.append_at_once(rows, seconds, self._test), rows.count):
            last = place == rows.count - 1
            row = self._writer.append(rows, place, seconds, workspace, last=last)
            self._test.note(row, last=last)
            if ending is None and self._test.restart_from is None:
                ending = self._test.verdict(row, workspace, last=last)
        return ending

    def _restart(self) -> Termination | None:
        """Restart the recurrence where the stopping test says. The run ends where the device has no room for that."""
        x, self._test.restart_from = self._test.restart_from, None
        # The notes of the clock and the vectors go first: there may be no room for two recurrences.
        self._resolve()
        self._recurrence = None
        try:
            self._measures.begin_at(x)
            self._recurrence = self._made_recurrence()
            self._recurrence.start()
        except InputError as error:
            iteration = max(0, self.history.count - 1)
            return Termination(self._test.without_restart, f"at iteration {iteration}, without a restart: {error}")
        return None

    def _made_recurrence(self) -> Recurrence:
        stopping = self._configuration.stopping
        about = self._setup, Norm(stopping.norm), stopping.check_every, self._clock
        mixed = self._configuration.precision == MIXED
        made = MixedRecurrence(*about, self._measures) if mixed else Recurrence(*about)
        # After a restart those before it come first.
        made.workspace.steps[:0] = self.history.steps
        self.history.steps = made.workspace.steps
        return made
