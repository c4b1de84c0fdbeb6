"""The only loop: it steps a solver until the stopping test ends the run."""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Callable, Generator
from typing import Any

import numpy as np

from workbench import devices
from workbench.arrays.validation import read_only
from workbench.devices.operator_protocols import DeviceVector
from workbench.errors import DeviceError
from workbench.problems import LinearSystem
from workbench.process.forks import WorkLock
from workbench.records.film import Film
from workbench.run.choices.configuration import Configuration
from workbench.run.choices.stopping import Reason
from workbench.run.loop.iteration_state import Termination
from workbench.run.loop.iterations import RunState
from workbench.run.loop.result import Result
from workbench.run.loop.tracing import start_trace
from workbench.run.machine_use import MACHINE_USE
from workbench.run.results.filming import Camera
from workbench.run.results.report import result_of
from workbench.run.results.snapshots import SnapshotRequests
from workbench.run.setup.prepare import prepare
from workbench.run.setup.setup_phases import PLAN, SetupPhases
from workbench.run.setup.this_rank import this_rank


class Run:
    """One solve, step by step: create it, call `step` until it returns False, take `result`.

    The constructor does the whole setup. `step` makes one iteration and appends its row to `history`, or several where
    the norms are in an accelerator's memory and checking them takes longer than an iteration. system: by default the
    configuration's problem is assembled; a b of shape (N, s) has many right-hand sides, whose history is a
    `BlockHistory`, and which are solved in chunks, one after another, where they do not fit the memory of the device at
    once. x0: of the shape of b, by default the configuration's. trace: record every kernel of `step` in `trace`.
    stopped: cancellation request, tested between the parts of the setup. phases: where those of the setup are noted.
    camera: takes the frames of a film between two steps.
    Raises InputError for what cannot be solved, StoppedError once `stopped` returns True.

    Examples:
        >>> from workbench.run import Run, configure
        >>> run = Run(configure("two-layer", n=16))
        >>> run.step(), run.step(), run.iterations, run.x.shape
        (True, True, 1, (256,))
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
        camera: Camera | None = None,
    ) -> None:
        self._use = MACHINE_USE.watch()
        self.started = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        self.configuration = configuration
        self.ending: Termination | None = None
        """Why the run has ended; None while it can be stepped."""
        self.snapshots = SnapshotRequests()
        """Snapshot requests, served between two steps."""
        self._at_work = WorkLock(
            "a run was at work in another thread when this process was forked, which has it half-made; start another "
            "one here"
        )
        phases = phases or SetupPhases()
        with phases.whole():
            # Few runs have ranks, or many right-hand sides.
            if configuration.ranks > 1 and this_rank() is None:
                from workbench.run.loop.start_on_ranks import start_on_ranks

                self.setup, self._iterations, self.trace = start_on_ranks(
                    configuration, system, x0, trace=trace, stopped=stopped, phases=phases
                )
            else:
                self.setup = prepare(configuration, system, x0, stopped, phases=phases)
                with self.setup.closed_on_error(), phases(PLAN):
                    self.trace, clock = start_trace(self.setup) if trace else (None, None)
                    if self.setup.sides:
                        from workbench.run.loop.block.iterations import BlockIterations as Made
                    else:
                        from workbench.run.loop.single.iterations import SingleIterations as Made
                    self._iterations = Made(configuration, self.setup, clock)
        self._camera = camera

    @property
    def history(self) -> Any:
        """The rows so far: a `History`, or a `BlockHistory` of many right-hand sides."""
        return self._iterations.history

    @property
    def iterations(self) -> int:
        """Iterations done."""
        return max(0, self.history.count - 1)

    @property
    def film(self) -> Film | None:
        """The frames so far; None where the run is not filmed."""
        return self._camera.film if self._camera else None

    @property
    def setup_seconds(self) -> float:
        """Wall-clock time of the setup, in s, without the compilation of kernels."""
        return self.setup.phases.seconds

    @property
    def compile_seconds(self) -> float:
        """Seconds of compiling kernels, which are in no other time."""
        return self.setup.phases.compile_seconds

    @property
    def iteration_seconds(self) -> float:
        """Wall-clock time of the iterations, in s, without setup, snapshots and measurements."""
        return self._iterations.seconds

    @property
    def reason(self) -> Reason | None:
        """Why the run has ended; None while it can be stepped."""
        return self.ending.reason if self.ending else None

    @property
    def detail(self) -> str:
        """The iteration and value at which it ended."""
        return self.ending.detail if self.ending else ""

    @property
    def workspace(self) -> Any:
        """The workspace of the recurrence, another one after a restart and for other right-hand sides; None once the
        device is lost, and where it had no room for a restart."""
        return self._iterations.workspace

    @property
    def chunks(self) -> list[slice]:
        """The right-hand sides that are solved at once, one chunk after another."""
        return self._iterations.chunks

    @property
    def x(self) -> np.ndarray:
        """The present solution, of the shape of b, orthogonal to the null space of A.

        A copy while the run can be stepped; afterwards read-only, the run's own array where that is the solution. NaN
        once the device is lost.
        """
        if self.reason is Reason.DEVICE_LOST:
            return self._iterations.lost().x
        x = self._iterations.x()
        if self.ending:
            return read_only(x)
        return x if self.setup.null_space else np.array(x)

    @property
    def norm_of_b(self) -> float:
        """||b||; 1 with many right-hand sides, whose history is relative to ||b_j||."""
        return self._iterations.norm_of_b

    @property
    def threshold(self) -> float:
        """The norm at which the run ends; with many right-hand sides that over ||b_j|| at which a column does."""
        return self._iterations.threshold

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
            vectors=self._iterations,
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
            self.ending = Termination(reason, f"at iteration {self.iterations}")
            with self._working():
                self._film()
        self._close()

    def wake(self) -> None:
        """Let suspended ranks continue, so that a step that waits for them ends."""
        self._iterations.wake()

    def step(self, most: int | None = None) -> bool:
        """Make one iteration (the first call: the start), or up to `most` at once. False when the run has ended.

        Several are made only on accelerators: those until the next check of the norms. They end with the iteration that
        meets the tolerance or breaks down, and each of them has a row in the history.
        """
        with self.setup.closed_on_error(), self._working():
            if self.ending is None:
                self.ending = self._iterations.advance(most)
                self._film()
        if self.ending:
            self._close()
        return self.ending is None

    def gather(self) -> None:
        """Let `step` make up to 64 iterations at once on the cores too, where their norms need not be seen one by one.

        A check of the norms takes longer than an iteration of a small system. The run converges at the same iteration;
        one that does not may end at another, with an x of another iteration.
        """
        self._iterations.gather()

    def result(self, *, writable: bool = False) -> Result:
        """The result, valid between any two steps; final once `step` has returned False, and its x then read-only, as
        it was verified. writable: for the last caller, whose changes of x are those of the run's own."""
        found = None
        if self.reason is not Reason.DEVICE_LOST:
            with self._working():
                found = self._iterations.found(self.ending)
        found = found or self._iterations.lost()
        if self.ending and not writable:
            found = found._replace(x=read_only(found.x))
        return result_of(self.state, found, self.trace, self.film)

    def true_residual(self) -> DeviceVector:
        """b - A x, recomputed: a vector on the device, valid until the next step. Cost: one application of A."""
        return self._iterations.true_residual(0)

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
    def _working(self) -> Generator[None]:
        """Exclude snapshots while the vectors change, and serve the requests that were made meanwhile."""
        with self._at_work:
            try:
                yield
            except DeviceError as lost:
                self._lose(lost)
        self.serve_snapshots()

    def _film(self) -> None:
        if self._camera:
            self._camera.take(self.state)

    def _lose(self, lost: DeviceError) -> None:
        """End with the device, and release the run's memory there; the next run opens the device again."""
        self.ending = Termination(Reason.DEVICE_LOST, f"at iteration {self.iterations}: {lost}")
        for part in (self._iterations, self.setup):
            part.release()
        devices.forget(self.setup.device)

    def _close(self) -> None:
        """End what iterates, and leave the machine to others, and the workers of a cluster."""
        self._iterations.close()
        self._use.close()
        self.setup.close()
