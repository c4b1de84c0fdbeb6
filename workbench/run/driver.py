"""The only loop: it steps a solver until the judge ends the run."""

from __future__ import annotations

import contextlib
import datetime
import math
import threading
from collections.abc import Callable, Iterator

import numpy as np

from workbench import devices
from workbench.devices.clock import Clock
from workbench.devices.lines.workspace import Workspace
from workbench.devices.operator_protocols import DeviceVector
from workbench.devices.rows import Rows
from workbench.errors import DeviceError, InputError
from workbench.problems import LinearSystem
from workbench.recording import History
from workbench.run.check_interval import CheckInterval
from workbench.run.configuration import Configuration
from workbench.run.history_writer import HistoryWriter
from workbench.run.judge import Ending, Judge
from workbench.run.machine_use import MACHINE_USE
from workbench.run.measures import Measures
from workbench.run.mixed import MixedRecurrence
from workbench.run.recurrence import Recurrence
from workbench.run.report import result_of
from workbench.run.result import Result
from workbench.run.run_state import RunState
from workbench.run.setup import SolveSetup, prepare
from workbench.run.setup_phases import SetupPhases
from workbench.run.snapshots import SnapshotRequests
from workbench.run.stopping import Norm, Reason
from workbench.run.tracing import noting, start_trace
from workbench.settings import MIXED


class Run:
    """One solve, step by step: create it, call `step` until it returns False, take `result`.

    The constructor does the whole setup. `step` makes one iteration and appends its row to `history`, or several where
    the norms are in an accelerator's memory and checking them takes longer than an iteration. system: by default the
    configuration's problem is assembled. x0: shape (N,), by default the configuration's. trace: record every kernel of
    `step` in `trace`. stopped: cancellation request, tested between the parts of the setup. phases: where those of the
    setup are noted. Raises InputError for what cannot be solved, StoppedError once `stopped` returns True.
    """

    def __init__(
        self,
        configuration: Configuration,
        system: LinearSystem | None = None,
        x0: np.ndarray | None = None,
        *,
        trace: bool = False,
        stopped: Callable[[], bool] = lambda: False,
        phases: SetupPhases | None = None,
    ) -> None:
        self._use = MACHINE_USE.watch()
        self.started = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        self.configuration = configuration
        self.history = History()
        self.ending: Ending | None = None
        """Why the run has ended; None while it can be stepped."""
        phases = phases or SetupPhases()
        with phases.whole():
            self.setup: SolveSetup = prepare(configuration, system, x0, stopped, phases=phases)
            with self.setup.closed_on_error(), phases("kernels"):
                self._begin(trace)

    def _begin(self, trace: bool) -> None:
        """Everything that follows the setup of the system, up to the first iteration."""
        configuration, stopping = self.configuration, self.configuration.stopping
        limit = stopping.limit(self.setup.operator.shape[0])
        self._measures = Measures(self.setup)
        self._judge = Judge(configuration, self.setup, self._measures, self.history, limit)
        if not math.isfinite(self.norm_of_b):
            raise InputError("||b|| is above 1.8e308, the largest double; scale b down")
        self._writer = HistoryWriter(stopping, self.setup, self._measures, self.history)
        self._interval = CheckInterval(stopping, limit, self.setup.device.check_every)
        self.snapshots = SnapshotRequests()
        """Snapshot requests, served between two steps."""
        self._at_work = threading.Lock()
        self.trace, clock = start_trace(self.setup) if trace else (None, None)
        self._recurrence: Recurrence | None = self._made_recurrence(clock)

    @property
    def iterations(self) -> int:
        """Iterations done."""
        return max(0, self.history.count - 1)

    @property
    def setup_seconds(self) -> float:
        """Wall-clock time of the setup, in s, without the compilation of kernels."""
        return self.setup.phases.seconds

    @property
    def iteration_seconds(self) -> float:
        """Wall-clock time of the iterations, in s, without setup, snapshots and measurements."""
        return self._writer.seconds

    @property
    def reason(self) -> Reason | None:
        """Why the run has ended; None while it can be stepped."""
        return self.ending.reason if self.ending else None

    @property
    def detail(self) -> str:
        """The iteration and value at which it ended."""
        return self.ending.detail if self.ending else ""

    @property
    def workspace(self) -> Workspace | None:
        """The workspace of the recurrence, another one after a restart; None once the device is lost, and where it had
        no room for a restart."""
        return self._recurrence.workspace if self._recurrence else None

    @property
    def x(self) -> np.ndarray:
        """The present solution, shape (N,), orthogonal to the null space of A.

        A copy while the run can be stepped; afterwards the run's own array where that is the solution. NaN once the
        device is lost.
        """
        if self.reason is Reason.DEVICE_LOST:
            return self._lost_x
        x = self._measures.returned_x()
        return x if self.ending or self.setup.null_space else np.array(x)

    @property
    def _lost_x(self) -> np.ndarray:
        return np.full(self.setup.operator.shape[0], np.nan, self.setup.operator.dtype)

    @property
    def norm_of_b(self) -> float:
        """||b||."""
        return self.setup.unscaled_norm(self._judge.norm_of_b)

    @property
    def threshold(self) -> float:
        """The norm at which the run ends."""
        return self.setup.unscaled_norm(self._judge.tolerance)

    @property
    def runs_at_once(self) -> int:
        """The largest number of processes that have used the machine since the start of this run."""
        return self._use.most

    @property
    def state(self) -> RunState:
        """The state between two steps."""
        return RunState(
            configuration=self.configuration,
            setup=self.setup,
            workspace=self.workspace,
            measures=self._measures,
            history=self.history,
            ending=self.ending,
            norm_of_b=self.norm_of_b,
            started=self.started,
            iteration_seconds=self.iteration_seconds,
            runs_at_once=self.runs_at_once,
        )

    def relative(self, norm: float) -> float:
        """A norm over ||b||, or the norm itself where b = 0."""
        return self.state.relative(norm)

    def cancel(self, reason: Reason = Reason.CANCELLED) -> None:
        """End the run as cancelled, unless it has ended; the iterates and the history stay."""
        if self.ending is None:
            self.ending = Ending(reason, f"at iteration {self.iterations}")
        self._use.close()
        self.setup.close()

    def step(self, most: int | None = None) -> bool:
        """Make one iteration (the first call: the start), or up to `most` at once. False when the run has ended.

        Several are made only on accelerators: those until the next check of the norms. They end with the iteration that
        meets the tolerance or breaks down, and each of them has a row in the history.
        """
        with self.setup.closed_on_error(), self._working():
            if self.ending is None and self._recurrence is not None:
                with noting(self._recurrence.clock):
                    self._advance(most)
        if self.ending:
            self._use.close()
            self.setup.close()
        return self.ending is None

    def result(self) -> Result:
        """The result, valid between any two steps; final once `step` has returned False."""
        x, true_residual = self._lost_x, math.nan
        if self.reason is not Reason.DEVICE_LOST:
            with self._working():
                x, true_residual = self._measures.returned()
        if self._recurrence:
            self._recurrence.resolve()
        x = np.array(x) if isinstance(x, np.ndarray) and not self.ending else x
        return result_of(self.state, x, self._judge.relative_to_given(true_residual), self.trace)

    def true_residual(self) -> DeviceVector:
        """b - A x, recomputed: a vector on the device, valid until the next step. Cost: one application of A."""
        self._measures.true_residual()
        return self._measures.residual

    def serve_snapshots(self) -> None:
        """Serve the pending snapshot requests, unless a step is active, which serves them at its end."""
        # Tested again once the lock is free: a thread that made a request meanwhile could not serve it.
        while self.snapshots and self._at_work.acquire(blocking=False):
            try:
                self.snapshots.serve(self.state)
            except DeviceError as lost:
                self._lose(lost)
            finally:
                self._at_work.release()

    @contextlib.contextmanager
    def _working(self) -> Iterator[None]:
        """Exclude snapshots while the vectors change, and serve the requests that were made meanwhile."""
        with self._at_work:
            try:
                yield
            except DeviceError as lost:
                self._lose(lost)
        self.serve_snapshots()

    def _advance(self, most: int | None) -> None:
        """Iterate until the next check, and judge every row."""
        recurrence, judge = self._recurrence, self._judge
        assert recurrence is not None
        count = self._interval.next(
            self.history,
            self.setup.unscaled_norm(judge.confirm_below),
            judge.best[1],
            longest=recurrence.longest_interval,
            most=most,
            elapsed=self.iteration_seconds,
        )
        above = judge.divergence if self.history.count else math.inf
        rows, seconds = recurrence.advance(count, judge.confirm_below, above, self.history.count)
        self._interval.note(count, seconds)
        self._judge_rows(recurrence, rows, seconds)
        if judge.restart_from is not None and self.ending is None:
            recurrence.resolve()
            # The last reference but that of the run.
            del recurrence
            self._restart()
        self._writer.confirm_if_due(ended=self.ending is not None)
        if self._recurrence:
            self._recurrence.resolve()

    def _judge_rows(self, recurrence: Recurrence, rows: Rows, seconds: float) -> None:
        """Append the rows to the history, and end the run where the judge does."""
        for place in range(self._writer.append_at_once(rows, seconds, self._judge), rows.count):
            last = place == rows.count - 1
            row = self._writer.append(rows, place, seconds, recurrence.workspace, last=last)
            self._judge.note(row, last=last)
            if self.ending is None and self._judge.restart_from is None:
                self.ending = self._judge.verdict(row, recurrence.workspace, last=last)

    def _restart(self) -> None:
        """Restart the recurrence where the judge says. The run ends where the device has no room for that."""
        x, self._judge.restart_from = self._judge.restart_from, None
        clock = self._recurrence.clock if self._recurrence else None
        # Its vectors are freed first: there may be no room for two recurrences.
        self._recurrence = None
        try:
            self.setup.x = x
            self.setup.begin_at(x)
            self._recurrence = self._made_recurrence(clock)
            self._recurrence.start()
        except InputError as error:
            self.ending = Ending(
                self._judge.without_restart, f"at iteration {self.iterations}, without a restart: {error}"
            )

    def _made_recurrence(self, clock: Clock | None) -> Recurrence:
        stopping = self.configuration.stopping
        about = self.setup, Norm(stopping.norm), stopping.check_every, clock
        if self.configuration.precision == MIXED:
            return MixedRecurrence(*about, self._measures)
        return Recurrence(*about)

    def _lose(self, lost: DeviceError) -> None:
        """End with the device, and release the run's memory there; the next run opens the device again."""
        self.ending = Ending(Reason.DEVICE_LOST, f"at iteration {self.iterations}: {lost}")
        self._recurrence = None
        for part in (self._judge, self._measures, self.setup):
            part.release()
        devices.forget(self.setup.device)
