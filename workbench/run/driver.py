"""The only loop: it steps a solver and decides when to stop. Timing, recording, pausing and cancelling live here."""

from __future__ import annotations

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
from workbench.run.batch import MANY_ROWS, best_so_far, root, roots
from workbench.run.breakdown import measured_energies, suspects
from workbench.run.configuration import Configuration
from workbench.run.looking import Looks
from workbench.run.measures import Measures
from workbench.run.outcome import provenance_of, summary_of
from workbench.run.result import Result
from workbench.run.setting import Setting, set_up
from workbench.run.stopping import Norm, Reason
from workbench.run.tracing import start_trace

DIVERGENCE = 1e12
"""A norm this many times max(||b||, its start) counts as divergence: CG may rise by sqrt(cond) before it falls."""
RECHECK = 0.9
"""After a true residual that does not confirm convergence, the next look is when the norm has fallen by this factor."""
PARTED = 0.1
"""When the recurrence is this factor below a tolerance that the true residual misses, the two have parted."""
AGREEMENT = 1.01
"""How far the true residual may lie above the recurrence's when another norm decides."""
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
    `trace` every kernel after the setup is noted in `trace`, which grows while the run goes on. stopped: asked between
    the parts of the setup; once it is true, creating the run raises StoppedError instead.
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
        self.setting: Setting = set_up(configuration, system, x0, stopped)
        self.deflation_vectors = self.setting.projection.count if self.setting.projection else 0
        self.entries = self.setting.operator.nnz
        """Non-zero entries of A, None where they are not known; counted now, so that nobody who stops waits for it."""
        self._stopping = configuration.stopping
        self._norm = Norm(self._stopping.norm)
        if self._norm is Norm.ERROR and self.setting.exact is None:
            raise InputError("norm error needs a known solution; use the right-hand side ones-scaled")
        self._limit = self._stopping.limit(self.setting.operator.shape[0])
        self._measures: Any = Measures(self.setting)
        self._scale, self._norm_of_b = self._measures.references(self._norm)
        self.threshold = max(self._stopping.rtol * self._scale, self._stopping.atol)
        """The norm at which the run ends."""
        self._next_look = self.threshold
        self._restarts = 0
        self._best = (math.inf, 0)
        self._next_drift = 0
        self.looks = Looks()
        """Looks at the vectors, taken after the step that is under way."""
        self._at_work = threading.Lock()
        self._pace = 0.0
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
        x = self.setting.device.to_host(self.setting.solution(self.setting.x))
        if self.setting.singular:
            return x - x.mean()
        return x if self.reason is not None else np.array(x)

    def cancel(self) -> None:
        """End the run at the user's wish; the result so far stays. A run that has ended stays as it ended."""
        if self.reason is None:
            self._end(Reason.CANCELLED, f"at iteration {self.iterations}")

    @property
    def norm_of_b(self) -> float:
        """||b||."""
        return self._norm_of_b

    def step(self, most: int | None = None) -> bool:
        """Do one iteration (the first call: the start), or up to `most` at once. False when the run has ended.

        Several are made only on accelerators, where `most` is `check_every` unless it is given. They end with the
        iteration that meets the tolerance or breaks down, and every one of them has its row in the history.
        """
        with self._at_work:
            try:
                if self.reason is None:
                    self._advance(most)
                if self.looks:
                    self.looks.take(self)
            except DeviceError as lost:
                self._lose(lost)
        return self.reason is None

    def take_looks(self) -> None:
        """Take the looks that wait, unless a step is under way, which takes them at its end."""
        if self.looks and self._at_work.acquire(blocking=False):
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

    def _advance(self, most: int | None) -> None:
        """Iterate, and judge every row."""
        count = self._batch(most)
        self._watch.arm(_SQUARES.get(self._norm, ""), self._next_look)
        begun = time.perf_counter()
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
            norm = self._record(rows, place, last=last)
            if self.reason is None:
                self._judge(norm, last=last)
        self._measure_now_and_then()
        if self._clock:
            self._clock.resolve()

    def _lose(self, lost: DeviceError) -> None:
        """End with the device, and let go of the run's memory there; the next run asks for the device anew."""
        self._end(Reason.DEVICE_LOST, f"at iteration {self.iterations}: {lost}")
        self.setting.release()
        self._generator, self.workspace = iter(()), None
        self._watch = self._rows = self._measures = self._clock = None
        devices.forget(self.setting.device.runtime)

    def _batch(self, most: int | None) -> int:
        """Iterations until the next look: 1 at the start, never more than are left or than are over soon."""
        if self.history.count == 0:
            return 1
        every = self._watch.every if most is None else min(most, self._watch.every)
        # Who says how often to look means it.
        if not self._stopping.check_every and self._pace * every > LONGEST_BATCH:
            every = int(LONGEST_BATCH / self._pace)
        often = self._stopping.true_every
        until_measured = often - self.iterations % often if often else every
        return max(1, min(every, until_measured, self._limit - self.iterations))

    def result(self) -> Result:
        """The outcome; valid at any time, final once `step` has returned False."""
        true_residual = math.nan
        if self.reason is not Reason.DEVICE_LOST:
            try:
                with self._at_work:
                    true_residual = self._measures.true_residual()
            except DeviceError as lost:
                self._lose(lost)
        if self._clock:
            self._clock.resolve()
        iterations = self.iterations
        residual = float(self.history["residual"][-1]) if self.history.count else math.nan
        reason = self.reason or Reason.CANCELLED
        relative, true_relative = self.relative(residual), self.relative(true_residual)
        return Result(
            x=self.x,
            converged=reason is Reason.CONVERGED,
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
        every = self._stopping.check_every or setting.device.check_every
        # The A-norm of the error takes a product with x as it is after every iteration, and a solver that decides by
        # itself would decide once more after the device has stopped.
        alone = self._norm is Norm.ERROR or not setting.solver.alike
        self._watch: Any = setting.device.watch(self.workspace, 1 if alone else every)
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
        best, found = best_so_far(self._best, norms, at)
        highest = DIVERGENCE * max(self._scale, self._first_norm())
        going_on = (norms > self._next_look) & (norms <= highest) & (at - found <= self._stopping.stagnation)
        if not np.all(going_on & (rows.column("delta") > 0) & (rows.column("gamma") > 0)):
            return 0
        columns |= {name: rows.column(name) for name in ("alpha", "beta")}
        self.history.extend(**columns, seconds=self.iteration_seconds + seconds * np.arange(1, rows.count))
        self.iteration_seconds += seconds * (rows.count - 1)
        self._best = float(best[-1]), int(found[-1])
        return rows.count - 1

    def _record(self, rows: Rows, place: int, *, last: bool) -> float:
        """Append a row to the history and return the norm of choice. last: the vectors are those of this row."""

        def scalar(name: str) -> float:
            return rows.scalar(place, name)

        # The recurrence's scalars of a step that was not made yet are zero, not values.
        first = self.history.count == 0
        drift_is_due = last and self.history.count >= self._next_drift
        row = {
            "residual": root(scalar("rr")),
            "preconditioned": root(scalar("uu")),
            "natural": root(scalar("gamma")),
            "alpha": math.nan if first else scalar("alpha"),
            "beta": math.nan if first else scalar("beta"),
            "drift": self._measures.drift(self.workspace) if drift_is_due else math.nan,
            "seconds": self.iteration_seconds,
        }
        if self._norm is Norm.ERROR:
            row["error"] = self._measures.error_norm()
        if drift_is_due:
            self._next_drift = self.history.count + DRIFT_EVERY
        self.history.append(**row)
        self._curvature = math.inf if first else scalar("delta")
        self._gamma = scalar("gamma")
        return row[self._norm.value]

    def _judge(self, norm: float, *, last: bool) -> None:
        """Decide whether the run ends with the newest row. Only the last one of a batch can be confirmed."""
        iteration = self.iterations
        if not math.isfinite(norm):
            self._end(Reason.NOT_FINITE, f"the {self._norm.value} norm is {norm} at iteration {iteration}")
        elif norm <= self._next_look and last:
            self._confirm(norm)
        elif math.isnan(self._curvature):
            self._end(Reason.NOT_FINITE, f"(p, A p) is NaN at iteration {iteration}")
        elif not self._curvature > 0:
            self._break_down("(p, A p)", self._curvature)
        elif self._gamma <= 0:
            self._break_down("(r, M^-1 r)", self._gamma)
        elif norm > DIVERGENCE * max(self._scale, self._first_norm()):
            self._end(Reason.DIVERGED, f"the {self._norm.value} norm is {norm:.3g} at iteration {iteration}")
        elif norm < self._best[0]:
            self._best = (norm, iteration)
        elif iteration - self._best[1] > self._stopping.stagnation:
            self._end(Reason.STAGNATED, f"the smallest norm, {self._best[0]:.3g}, was at iteration {self._best[1]}")
        if self.reason is None and iteration >= self._limit:
            self._end(Reason.MAXITER, f"{iteration} iterations")
        limit = self._stopping.max_seconds
        if self.reason is None and limit is not None and self.iteration_seconds >= limit:
            self._end(Reason.TIME, f"{self.iteration_seconds:.3g} s")

    def _first_norm(self) -> float:
        return float(self.history[self._norm.value][0])

    def _confirm(self, norm: float) -> None:
        """The recurrence says converged: ask the true residual before saying so."""
        true_residual = self._measures.true_residual()
        self.history.confirm(self.iterations, true_residual)
        recurrence = float(self.history["residual"][-1])
        # Other norms than the residual's cannot be had from the true residual without another product with M; there the
        # two residuals must agree.
        allowed = self.threshold if self._norm is Norm.RESIDUAL else AGREEMENT * recurrence
        allowed_restarts = self.setting.solver.restarts
        if true_residual <= allowed or self._norm is Norm.ERROR:
            self._end(Reason.CONVERGED, f"at iteration {self.iterations}")
        elif norm > PARTED * self.threshold:
            self._next_look = RECHECK * norm
        elif self._restarts == allowed_restarts:
            after = f" after {allowed_restarts} restarts" if allowed_restarts else ""
            reason = Reason.OWN_APART if self.setting.solver.own_lines else Reason.INACCURATE
            self._end(reason, f"true residual {self.relative(true_residual):.3g} of ||b||{after}")
        else:
            self._restarts += 1
            self._next_look = self.threshold
            self._generator = self._fresh_recurrence()
            next(self._generator)

    def _measure_now_and_then(self) -> None:
        """The true residual into the history where it is due, and at the end of a run that measures it."""
        often, iteration = self._stopping.true_every, self.iterations
        if not often or (iteration % often and self.reason is None):
            return
        if iteration not in self.history.true_residuals[-1:, 0]:
            self.history.confirm(iteration, self._measures.true_residual())

    def _break_down(self, name: str, value: float) -> None:
        """A dot product that A and M, being positive definite, would make positive is not.

        Where rounding alone can do that, because the product belongs to vectors that come from recurrences, both dot
        products are taken afresh before the matrix is blamed.
        """
        detail = f"{name} = {value:.6g} at iteration {self.iterations}"
        solver = self.setting.solver
        if solver.own_lines:
            self._end(Reason.OWN_LINES, detail)
            return
        derived = not solver.measures_energies
        if derived and (afresh := measured_energies(self.setting, self.workspace, solver)):
            energies = f"(p, A p) = {afresh[0]:.6g} and (r, M^-1 r) = {afresh[1]:.6g}"
            if min(afresh) > 0:
                truth = f"true residual {self.relative(self._measures.true_residual()):.3g} of ||b||"
                self._end(Reason.ROUNDING, f"{detail} by the recurrence; computed afresh, {energies}; {truth}")
                return
            detail += f"; computed afresh, {energies}"
        self._end(Reason.INDEFINITE, detail)

    def relative(self, norm: float) -> float:
        """A norm over ||b||, or as it is where b = 0."""
        return norm / self._norm_of_b if self._norm_of_b > 0 else norm

    def _end(self, reason: Reason, detail: str) -> None:
        def drifted() -> float:
            return self._measures.drift(self.workspace) / float(self.history["residual"][-1] or math.nan)

        advice = self.configuration.coarse.advice
        self.reason, self.detail = reason, detail + suspects(reason, self.setting, drifted, advice)
