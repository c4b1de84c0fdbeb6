"""Sessions: one run in a worker thread, with start, pause, resume, step, stop and wait."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np

from workbench.errors import InputError
from workbench.problems import LinearSystem
from workbench.run.cancellation import GRACE
from workbench.run.configuration import Configuration
from workbench.run.filming import Camera
from workbench.run.job import State
from workbench.run.result import Result
from workbench.run.run_queue import MACHINE, QueueSlot, RunQueue
from workbench.run.thread_job import ThreadJob

SERVE_EVERY = 0.1
"""Seconds between two tests for snapshot requests while a run is held."""


class Session(ThreadJob):
    """One run in a worker thread, so that widgets stay responsive while kernels run without Python's lock.

    Every method but `wait` and `join` returns at once; calls that do not apply to the present state do nothing. `run`
    is None until the setup is done, `result` until the end. on_end: see `ThreadJob`. x0, trace, camera: see `Run`.

    Sessions of one process use the machine one at a time, in the order in which they were started. A session holds its
    slot in the run queue during setup and iterations, and releases it while it is paused. queue: None for a queue of
    its own, so that it runs concurrently with all other jobs. together: a session that has its slot in common with this
    one, so that both run at the same time.

    `stop` sets the state to DONE within `GRACE` seconds; a lingering session keeps its slot, see `Job`.

    Examples:
        >>> from workbench.run import Session, configure
        >>> session = Session(configure("two-layer", n=16))
        >>> session.start()
        >>> session.wait().converged, session.state.name
        (True, 'DONE')
    """

    def __init__(
        self,
        configuration: Configuration,
        system: LinearSystem | None = None,
        x0: np.ndarray | None = None,
        *,
        trace: bool = False,
        on_end: Callable[[Session], object] | None = None,
        queue: RunQueue | None = MACHINE,
        camera: Camera | None = None,
        together: Session | None = None,
    ) -> None:
        slot = QueueSlot(queue if queue is not None else RunQueue(), together.slot if together else None)
        super().__init__(self._set_up_and_iterate, "workbench-solve", slot, on_end)
        self.configuration = configuration
        self.result: Result | None = None
        self._system, self._x0 = system, x0
        self.traced, self._camera = trace, camera
        self._go = threading.Event()
        self._single = threading.Event()
        self._paused_after_setup = False

    @property
    def state(self) -> State:
        """The state; PAUSED and QUEUED also while the run exists, but is held or waits for its slot."""
        state = super().state
        if state is State.QUEUED:
            return State.QUEUED if self._may_set_up else State.PAUSED
        if state is State.RUNNING and not self.stopping:
            if not self._go.is_set():
                return State.PAUSED
            return State.RUNNING if self.slot.held else State.QUEUED
        return state

    @property
    def steady(self) -> bool:
        """It iterates, with no request pending."""
        return super().steady and not self._single.is_set()

    @property
    def pausing(self) -> bool:
        """It is to pause, and finishes the iteration that is in progress; it holds its slot until then."""
        return self.state is State.PAUSED and self.slot.held

    def start(self, *, paused: bool = False) -> None:
        """Start, or queue; with `paused` the run waits before its first iteration."""
        with self._changing:
            if self._state is State.IDLE:
                self._state = State.QUEUED
                self._paused_after_setup = paused
                if not paused:
                    self._go.set()
                # Here and not in the thread, so that sessions are queued in the order in which they are started.
                self.slot.enqueue()
                self._thread.start()

    def pause(self) -> None:
        """Hold the run, and release its slot."""
        self._go.clear()
        self.slot.wake()

    def resume(self) -> None:
        """Continue a held run, at the end of the queue; a pending single step becomes a resume."""
        self._single.clear()
        self._continue()

    def step(self) -> None:
        """Make one iteration and pause; starts an idle session."""
        self.start(paused=True)
        self._single.set()
        self._continue()

    def stop(self) -> None:
        """End the run; results so far stay."""
        super().stop()
        # After the request, so that no further iteration begins.
        self._go.set()

    def wait(self, timeout: float | None = None) -> Result:
        """Start unless started, wait for the end and return the result. Interrupting the wait stops the run.

        Raises InputError with the sentence of a run that failed or was stopped before its first iteration, TimeoutError
        if it takes longer than `timeout` seconds.
        """
        if self._state is State.IDLE:
            self.start()
        try:
            self.join(timeout)
        except KeyboardInterrupt:
            self.stop()
            self.join()
        if self.result is not None:
            return self.result
        if self.error:
            raise InputError(self.error)
        raise TimeoutError(f"the run is still {self.state.value} after {timeout} s; stop() ends it")

    def join(self, timeout: float | None = None) -> None:
        """Wait until the thread has ended; a cancelled setup leaves nothing to wait for."""
        super().join(GRACE if self.stopping and self.run is None else timeout)

    @property
    def _may_set_up(self) -> bool:
        return self._paused_after_setup or self._go.is_set()

    def _continue(self) -> None:
        # With the lock held, so that a session that ends meanwhile is not queued for ever.
        with self._changing:
            if self._state in (State.QUEUED, State.SETUP, State.RUNNING):
                self.slot.enqueue()
                self._go.set()

    def _set_up_and_iterate(self) -> None:
        self._wait_until(lambda: self._may_set_up)
        with self._entering(State.SETUP):
            pass
        run = self._new_run(self.configuration, self._system, self._x0, trace=self.traced, camera=self._camera)
        with self._entering(State.RUNNING):
            self.run = run
        active = True
        while active:
            # This thread serves the snapshots of a held run too.
            self._wait_until(self._go.is_set, meanwhile=run.serve_snapshots)
            if self.stopping:
                run.cancel()
                break
            active = run.step(1 if self._single.is_set() else None)
            if self._single.is_set():
                self._single.clear()
                self._go.clear()
        self.result = run.result()

    def _wait_until(self, wanted: Callable[[], bool], meanwhile: Callable[[], object] = lambda: None) -> None:
        """Wait until the run is wanted and holds the slot, or is cancelled. The slot is released while not wanted."""
        while not self.stopping:
            if not wanted():
                self.slot.release()
                while not (self.stopping or self._go.wait(SERVE_EVERY)):
                    meanwhile()
            elif not self.slot.held:
                # It may be paused while it is woken, so that what is wanted is tested again.
                self.slot.acquire(unless=lambda: self.stopping or not wanted())
            else:
                return
