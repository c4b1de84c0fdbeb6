"""A run in a worker thread, with the buttons of a player: start, pause, resume, step, stop, wait."""

from __future__ import annotations

import enum
import threading
from collections.abc import Callable

from workbench.errors import InputError
from workbench.problems import LinearSystem
from workbench.run.configuration import Configuration
from workbench.run.driver import Run
from workbench.run.result import Result

LOOK_EVERY = 0.1
"""Seconds between two tests whether someone wants to look at a run that is held."""


class State(enum.StrEnum):
    """Where a session is."""

    IDLE = "idle"
    SETUP = "setting up"
    RUNNING = "running"
    PAUSED = "paused"
    DONE = "done"
    FAILED = "failed"


class Session:
    """One run in a thread of its own, so that buttons and views stay alive while kernels run outside the GIL.

    Every method returns at once but `wait`; calls that make no sense in the present state do nothing. Callbacks run in
    the worker thread. `run` is None until the setup is done, `error` is the sentence when the run failed.
    """

    def __init__(
        self,
        configuration: Configuration,
        system: LinearSystem | None = None,
        *,
        trace: bool = False,
        on_end: Callable[[Session], None] | None = None,
    ) -> None:
        self.configuration = configuration
        self.run: Run | None = None
        self.result: Result | None = None
        self.error = ""
        self._system = system
        self._trace = trace
        self._on_end = on_end
        self._state = State.IDLE
        self._go = threading.Event()
        self._stop = threading.Event()
        self._single = threading.Event()
        self._thread = threading.Thread(target=self._work, name="workbench-solve", daemon=True)

    @property
    def state(self) -> State:
        if self._state is State.RUNNING and not self._go.is_set():
            return State.PAUSED
        return self._state

    @property
    def alive(self) -> bool:
        """The run has been started and has not ended."""
        return self._state in (State.SETUP, State.RUNNING)

    def start(self, *, paused: bool = False) -> None:
        """Begin; with `paused` the run waits before its first iteration."""
        if self._state is State.IDLE:
            self._state = State.SETUP
            if not paused:
                self._go.set()
            self._thread.start()

    def pause(self) -> None:
        self._go.clear()

    def resume(self) -> None:
        self._go.set()

    def step(self) -> None:
        """Make one iteration and pause; starts an idle session."""
        self.start(paused=True)
        self._single.set()
        self._go.set()

    def stop(self) -> None:
        """End the run; what was computed stays."""
        self._stop.set()
        self._go.set()

    def wait(self, timeout: float | None = None) -> Result:
        """Wait for the end and return the result. Interrupting the wait stops the run.

        Raises InputError with the sentence of a failed setup, TimeoutError when it takes longer than `timeout` seconds.
        """
        if self._state is State.IDLE:
            self.start()
        try:
            self._thread.join(timeout)
        except KeyboardInterrupt:
            self.stop()
            self._thread.join()
        if self._thread.is_alive():
            raise TimeoutError(f"the run is still {self.state.value} after {timeout} s; stop() ends it")
        if self.result is None:
            raise InputError(self.error)
        return self.result

    def _work(self) -> None:
        try:
            run = Run(self.configuration, self._system, trace=self._trace)
            self.run = run
            self._state = State.RUNNING
            self._iterate(run)
            self.result = run.result()
            self._state = State.DONE
        # The thread is the last place that can report: whatever went wrong must reach the view as a sentence.
        except Exception as error:
            self.error = str(error) or type(error).__name__
            self._state = State.FAILED
        if self._on_end:
            self._on_end(self)

    def _iterate(self, run: Run) -> None:
        going = True
        while going:
            # A run that is held is looked at by this thread too.
            while not self._go.wait(LOOK_EVERY):
                run.take_looks()
            if self._stop.is_set():
                run.cancel()
                return
            going = run.step(1 if self._single.is_set() else None)
            if self._single.is_set():
                self._single.clear()
                self._go.clear()
