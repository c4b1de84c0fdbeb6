"""The only loop: it steps a solver until the judge ends the run. Timing, recording, pausing, cancelling live here."""

from __future__ import annotations

import contextlib
import datetime
import math
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from workbench import devices
from workbench.devices.rows import Rows
from workbench.errors import DeviceError, InputError
from workbench.problems import LinearSystem
from workbench.recording import History
from workbench.run.check_interval import next_batch
from workbench.run.configuration import Configuration
from workbench.run.judge import Judge, Row
from workbench.run.measures import Measures
from workbench.run.report import provenance_of, summary_of
from workbench.run.result import Result
from workbench.run.setup import SolveSetup, set_up
from workbench.run.snapshots import SnapshotRequests
from workbench.run.stopping import Norm, Reason
from workbench.run.tracing import noting, start_trace
from workbench.run.vectorized_check import MANY_ROWS, best_so_far, root, roots

LONGEST_BATCH = 0.05
"""Seconds that iterations between two looks may take together: a wish to stop is heard between them."""
DRIFT_EVERY = 10
"""Iterations between two looks at ||Z^H r||, each of which reads r once; they are not counted as iteration time."""
_SQUARES = {Norm.RESIDUAL: "rr", Norm.PRECONDITIONED: "uu", Norm.NATURAL: "gamma"}
"""The scalar that is the square of each norm."""


class Run:
    """One solve that can be stepped: create it, call `step` until it returns False, take `result`.

    Creating it does the whole setup (raises InputError); `step` makes one iteration and appends to `history`, or a few
    at once where the norms lie in an accelerator's memory and looking at them takes longer than an iteration. With
    `trace` every kernel of `step` is noted in `trace`, which grows until the run ends and never after. stopped: asked
    between the parts of the setup; once it is true, creating the run raises StoppedError instead.
    """

    def __init__(
        self,
        configuration: Configuration,
        system: LinearSystem | None = None,
        x0: np.ndarray | None = None,
        *,
        trace: bool = False,
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        begun = time.perf_counter()
        self.configuration = configuration
        self.history = History()
        self.reason: Reason | None = None
        self.detail = ""
        self.iteration_seconds = 0.0
        self.started = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        self.setting: SolveSetup = set_up(configuration, system, x0, stopped)
        self.deflation_vectors = self.setting.projection.count if self.setting.projection else 0
        self.entries = self.setting.operator.nnz
        """Non-zero entries of A, None where they are not known; counted now, so that nobody who stops waits for it."""
        self._stopping = configuration.stopping
        self._norm = Norm(self._stopping.norm)
        if self._norm is Norm.ERROR and self.setting.exact is None:
            raise InputError("norm error needs a known solution; use the right-hand side ones-scaled")
        self._limit = self._stopping.limit(self.setting.operator.shape[0])
        self._measures: Any = Measures(self.setting)
        self._judge = Judge(configuration, self.setting, self._measures, self.history, self._limit)
        if not math.isfinite(self.norm_of_b):
            raise InputError("||b|| is above 1.8e308, the largest number there is; scale b down")
        self._next_drift = 0
        self.looks = SnapshotRequests()
        """Looks at the vectors, taken after the step that is under way."""
        self._at_work = threading.Lock()
        self._pace, self._made = 0.0, 0
        self.trace, self._clock = start_trace(self.setting) if trace else (None, None)
        self._generator = self._fresh_recurrence()
        self.setup_seconds = time.perf_counter() - begun

    @property
    def iterations(self) -> int:
        """Iterations done."""
        return max(0, self.history.count - 1)

    @property
    def x(self) -> np.ndarray:
        """The present solution, shape (N,); with zero mean where it is defined up to a constant.

        A new array while the run goes on; once it has ended, the run's own where that is the solution. NaN where the
        device was lost and x with it.
        """
        if self.reason is Reason.DEVICE_LOST:
            return np.full(self.setting.operator.shape[0], np.nan, self.setting.operator.dtype)
        x = self._measures.returned_x()
        return x if self.reason is not None or self.setting.singular else np.array(x)

    def cancel(self) -> None:
        """End the run at the user's wish; the result so far stays. A run that has ended stays as it ended."""
        if self.reason is None:
            self.reason, self.detail = Reason.CANCELLED, f"at iteration {self.iterations}"

    @property
    def norm_of_b(self) -> float:
        """||b||."""
        return self.setting.unscaled_norm(self._judge.norm_of_b)

    @property
    def threshold(self) -> float:
        """The norm at which the run ends."""
        return self.setting.unscaled_norm(self._judge.tolerance)

    def step(self, most: int | None = None) -> bool:
        """Do one iteration (the first call: the start), or up to `most` at once. False when the run has ended.

        Several are made only on accelerators, where they are those until the next look at the norms. They end with the
        iteration that meets the tolerance or breaks down, and every one of them has its row in the history.
        """
        with self._working():
            if self.reason is None:
                with noting(self._clock):
                    self._advance(most)
        return self.reason is None

    def serve_snapshots(self) -> None:
        """Take the looks that wait, unless the run is at work, which takes them when it is done."""
        # Again once the lock is free: whoever asked while it was held could not take them.
        while self.looks and self._at_work.acquire(blocking=False):
            try:
                self.looks.take(self)
            except DeviceError as lost:
                self._lose(lost)
            finally:
                self._at_work.release()

    def true_residual(self) -> Any:
        """b - A x computed afresh, a vector on the device that is good until the next step. One product with A."""
        self._measures.true_residual()
        return self._measures.residual

    @contextlib.contextmanager
    def _working(self) -> Iterator[None]:
        """Nobody looks at the vectors inside; looks that were asked for meanwhile are taken after it."""
        with self._at_work:
            try:
                yield
            except DeviceError as lost:
                self._lose(lost)
        self.serve_snapshots()

    def _advance(self, most: int | None) -> None:
        """Iterate, and judge every row."""
        count = self._batch(most)
        highest = self._judge.divergence if self.history.count else math.inf
        self._watch.arm(_SQUARES.get(self._norm, ""), self._judge.confirm_below, highest)
        begun = time.perf_counter()
        self._made = count
        if self._clock:
            for ahead in range(count):
                self._clock.iteration = self.history.count + ahead
                self._watch.make(self._generator, 1)
        else:
            self._watch.make(self._generator, count, alike=self.setting.solver.alike)
        rows = self._rows()
        seconds = self._pace = (time.perf_counter() - begun) / rows.count
        for place in range(self._record_at_once(rows, seconds), rows.count):
            self.iteration_seconds += seconds
            last = place == rows.count - 1
            row = self._record(rows, place, last=last)
            if self.reason is None and (ending := self._judge.verdict(row, self.workspace, last=last)):
                self.reason, self.detail = ending
        if self._judge.restart_is_due and self.reason is None:
            self._restart()
        self._measure_now_and_then()
        if self._clock:
            self._clock.resolve()

    def _lose(self, lost: DeviceError) -> None:
        """End with the device, and let go of the run's memory there; the next run asks for the device anew."""
        self.reason, self.detail = Reason.DEVICE_LOST, f"at iteration {self.iterations}: {lost}"
        self.setting.release()
        self._judge.release()
        self._generator, self.workspace = iter(()), None
        self._watch = self._rows = self._measures = self._clock = None
        devices.forget(self.setting.device)

    def _batch(self, most: int | None) -> int:
        """Iterations until the next look: 1 at the start, never more than are left or than are over soon."""
        if self.history.count == 0:
            return 1
        every = self._watch.every if most is None else min(most, self._watch.every)
        # Who says how often to look means it.
        if not self._stopping.check_every and every > 1:
            every = min(every, self._until_worth_a_look())
            if self._pace * every > LONGEST_BATCH:
                every = int(LONGEST_BATCH / self._pace)
        often = self._stopping.true_every
        until_measured = often - self.iterations % often if often else every
        return max(1, min(every, until_measured, self._limit - self.iterations))

    def _until_worth_a_look(self) -> int:
        """Iterations until the norm may be near the tolerance, or the run may end for another reason."""
        stalled = self._judge.best[1] + self._stopping.stagnation + 1 - self.iterations
        left = math.inf
        if self._stopping.max_seconds is not None and self._pace > 0:
            left = (self._stopping.max_seconds - self.iteration_seconds) / self._pace
        return next_batch(
            self.history[self._norm.value],
            self.setting.unscaled_norm(self._judge.confirm_below),
            before=self._made if self.iterations else 0,
            least=self.setting.device.check_every,
            most=self._watch.every,
            seconds=self._pace,
            may_end_in=min(stalled, left),
        )

    def result(self) -> Result:
        """The outcome; valid at any time, final once `step` has returned False."""
        true_residual = math.nan
        if self.reason is not Reason.DEVICE_LOST:
            with self._working():
                true_residual = self._measures.returned_residual()
        if self._clock:
            self._clock.resolve()
        iterations = self.iterations
        residual = float(self.history["residual"][-1]) if self.history.count else math.nan
        reason = self.reason or Reason.CANCELLED
        relative, true_relative = self.relative(residual), self._judge.relative(true_residual)
        return Result(
            x=self.x,
            converged=reason.converged,
            reason=reason,
            detail=self.detail,
            iterations=iterations,
            relative_residual=relative,
            true_relative_residual=true_relative,
            setup_seconds=self.setup_seconds,
            iteration_seconds=self.iteration_seconds,
            history=self.history,
            summary=summary_of(self, relative, true_relative),
            provenance=provenance_of(self),
            trace=self.trace,
        )

    def _fresh_recurrence(self) -> Iterator[None]:
        """The recurrence from the present x, compiled but not yet started."""
        setting = self.setting
        self.workspace: Any = setting.device.workspace(
            setting.b.size,
            setting.b.dtype,
            vectors={"b": setting.seen_b, "x": setting.x},
            operators={"A": setting.A, "M": setting.M},
            clock=self._clock,
        )
        generator = setting.solver.iterates(self.workspace)
        every = self._stopping.check_every or setting.device.longest_batch
        # The A-norm of the error takes a product with x as it is after every iteration, and a solver that decides by
        # itself would decide once more after the device has stopped.
        alone = self._norm is Norm.ERROR or not setting.solver.alike
        self._watch: Any = setting.device.watch(self.workspace, 1 if alone else every)
        self._watch.prepare(_SQUARES.get(self._norm, ""), alike=setting.solver.alike)
        self._rows: Any = self._clock.reading(self._watch.rows) if self._clock else self._watch.rows
        return generator

    def _record_at_once(self, rows: Rows, seconds: float) -> int:
        """Append all rows but the last if none of them can end the run, and return how many were appended.

        Looking at them one by one takes longer than an iteration of a small problem on a GPU.
        """
        if rows.count < MANY_ROWS:
            return 0
        columns = {norm.value: roots(rows.column(square)) for norm, square in _SQUARES.items()}
        norms, at = columns[self._norm.value], self.history.count + np.arange(rows.count - 1)
        best, found = best_so_far(self._judge.best, norms, at)
        within = (norms > self._judge.confirm_below) & (norms <= self._judge.divergence)
        improving = at - found <= self._stopping.stagnation
        if not np.all(within & improving & (rows.column("delta") > 0) & (rows.column("gamma") > 0)):
            return 0
        columns = {name: self.setting.unscaled_norm(column) for name, column in columns.items()}
        columns |= {name: rows.column(name) for name in ("alpha", "beta")}
        self.history.extend(**columns, seconds=self.iteration_seconds + seconds * np.arange(1, rows.count))
        self.iteration_seconds += seconds * (rows.count - 1)
        self._judge.best = float(best[-1]), int(found[-1])
        return rows.count - 1

    def _record(self, rows: Rows, place: int, *, last: bool) -> Row:
        """Append a row to the history and return what is judged of it. last: the vectors are those of this row."""

        def scalar(name: str) -> float:
            return rows.scalar(place, name)

        # The recurrence's scalars of a step that was not made yet are zero, not values.
        first = self.history.count == 0
        drift_is_due = last and self.history.count >= self._next_drift
        norms = {norm.value: root(scalar(square)) for norm, square in _SQUARES.items()}
        norms["drift"] = self._measures.drift(self.workspace) if drift_is_due else math.nan
        if self._norm is Norm.ERROR:
            norms["error"] = self._measures.error_norm()
        if drift_is_due:
            self._next_drift = self.history.count + DRIFT_EVERY
        self.history.append(
            **{name: self.setting.unscaled_norm(value) for name, value in norms.items()},
            alpha=math.nan if first else scalar("alpha"),
            beta=math.nan if first else scalar("beta"),
            seconds=self.iteration_seconds,
        )
        row = Row(
            self.iterations,
            norms[self._norm.value],
            norms["residual"],
            math.inf if first else scalar("delta"),
            scalar("gamma"),
            self.iteration_seconds,
        )
        self._judge.note(row, last=last)
        return row

    def _restart(self) -> None:
        """Restart the recurrence from the present x."""
        self._judge.restart_is_due = False
        self._generator = self._fresh_recurrence()
        next(self._generator)

    def _measure_now_and_then(self) -> None:
        """The true residual into the history where it is due, and at the end of a run that measures it."""
        often, iteration = self._stopping.true_every, self.iterations
        if not often or (iteration % often and self.reason is None):
            return
        if iteration not in self.history.true_residuals[-1:, 0]:
            self.history.confirm(iteration, self.setting.unscaled_norm(self._measures.true_residual()))

    def relative(self, norm: float) -> float:
        """A norm over ||b||, or as it is where b = 0."""
        return norm / self.norm_of_b if self.norm_of_b > 0 else norm
