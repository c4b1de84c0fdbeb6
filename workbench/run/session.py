"""A run in a worker thread, with the buttons of a player: start, pause, resume, step, stop, wait."""

from __future__ import annotations

import enum
import threading
from collections.abc import Callable

from workbench.errors import InputError, sentence_of
from workbench.problems import LinearSystem
from workbench.run.cancellation import GRACE, STOPPED_EARLY, STOPPED_IN_SETUP, CancelToken, StoppedError
from workbench.run.configuration import Configuration
from workbench.run.driver import Run
from workbench.run.result import Result
from workbench.run.run_queue import MACHINE, QueueSlot, RunQueue

LOOK_EVERY = 0.1
"""Seconds between two tests whether someone wants to look at a run that is held."""


class State(enum.StrEnum):
    """Where a session is."""

    IDLE = "idle"
    QUEUED = "queued"
    SETUP = "setting up"
    RUNNING = "running"
    PAUSED = "paused"
    DONE = "done"
    FAILED = "failed"


ENDED = (State.DONE, State.FAILED)


class Session:
    """One run in a thread of its own, so that buttons and views stay alive while kernels run outside the GIL.

    Every method returns at once but `wait`; calls that make no sense in the present state do nothing. Callbacks run in
    the worker thread. `run` is None until the setup is done, `error` is the sentence when the run failed, or was
    stopped before it had made anything.

    Sessions of one process take turns on the machine, in the order in which they were started: it is theirs while they
    set up and iterate, and the next one's while they are held. turn: the queue, None to run beside all others.

    Once `stop` is called the state is DONE within a fifth of a second. What cannot be interrupted, an iteration or a
    setup, ends in the background (`lingering`) and keeps the turn until then. An iteration is made whole, so that x
    belongs to the last row of the history; what a setup makes is thrown away.
    """

    def __init__(
        self,
        configuration: Configuration,
        system: LinearSystem | None = None,
        *,
        trace: bool = False,
        on_end: Callable[[Session], None] | None = None,
        queue: RunQueue | None = MACHINE,
    ) -> None:
        self.configuration = configuration
        self.run: Run | None = None
        self.result: Result | None = None
        self.error = ""
        self._system = system
        self._trace = trace
        self._on_end = on_end
        self._hearers: tuple[Callable[[], object], ...] = ()
        self._state = State.IDLE
        self._changing = threading.Lock()
        self._go = threading.Event()
        self._single = threading.Event()
        self._token = CancelToken()
        self._slot = QueueSlot(queue if queue is not None else RunQueue())
        self._held_after_setup = False
        self._thread = threading.Thread(target=self._work, name="workbench-solve", daemon=True)

    @property
    def state(self) -> State:
        state = self._state
        if state in (State.QUEUED, State.SETUP, State.RUNNING) and self._token.overdue:
            return State.DONE
        if state is State.QUEUED:
            return State.QUEUED if self._may_set_up else State.PAUSED
        if state is State.RUNNING and not self._token.cancelled:
            if not self._go.is_set():
                return State.PAUSED
            return State.RUNNING if self._slot.held else State.QUEUED
        return state

    @property
    def alive(self) -> bool:
        """The run has been started and has not ended."""
        return self.state not in (State.IDLE, *ENDED)

    @property
    def ending(self) -> bool:
        """It was wished to end and has not yet, which takes `GRACE` seconds at most."""
        return self._token.cancelled and self.alive

    @property
    def steady(self) -> bool:
        """It iterates, and goes on until it has converged or somebody wishes something."""
        return self.state is State.RUNNING and not (self._token.cancelled or self._single.is_set())

    @property
    def lingering(self) -> bool:
        """It counts as stopped, but what was under way goes on in the background; `result` may come with its end."""
        return self._token.overdue and self._state in (State.SETUP, State.RUNNING)

    @property
    def ahead(self) -> int:
        """How many have or get the machine before this one, while it is queued."""
        return self._slot.ahead

    def when_over(self, act: Callable[[], object]) -> None:
        """Call this in the worker thread when all has ended, after `on_end`; at once if it has."""
        with self._changing:
            if self._state not in ENDED:
                self._hearers = (*self._hearers, act)
                return
        act()

    def start(self, *, paused: bool = False) -> None:
        """Begin, or queue; with `paused` the run waits before its first iteration."""
        with self._changing:
            if self._state is State.IDLE:
                self._state = State.QUEUED
                self._held_after_setup = paused
                if not paused:
                    self._go.set()
                # Here and not in the thread: who is started first comes first.
                self._slot.enqueue()
                self._thread.start()

    def pause(self) -> None:
        """Hold the run, and let the next one in the queue begin."""
        self._go.clear()
        self._slot.wake()

    def resume(self) -> None:
        """Let a held run go on, at the end of the queue; a single step that is under way goes on too."""
        self._single.clear()
        self._go_on()

    def step(self) -> None:
        """Make one iteration and pause; starts an idle session."""
        self.start(paused=True)
        self._single.set()
        self._go_on()

    def stop(self) -> None:
        """End the run; what was computed stays."""
        with self._changing:
            self._token.cancel()
            if self._state is State.IDLE:
                self._state, self.error = State.DONE, STOPPED_EARLY
            elif self._state is State.QUEUED:
                self.error = STOPPED_EARLY
            elif self._state is State.SETUP:
                self.error = STOPPED_IN_SETUP
        self._go.set()
        self._slot.wake()

    def wait(self, timeout: float | None = None) -> Result:
        """Wait for the end and return the result. Interrupting the wait stops the run.

        Raises InputError with the sentence of a run that failed or was stopped before its first iteration, TimeoutError
        when it takes longer than `timeout` seconds.
        """
        if self._state is State.IDLE:
            self.start()
        try:
            self._join(timeout)
        except KeyboardInterrupt:
            self.stop()
            self._join(None)
        if self.result is not None:
            return self.result
        if self.error:
            raise InputError(self.error)
        raise TimeoutError(f"the run is still {self.state.value} after {timeout} s; stop() ends it")

    def _go_on(self) -> None:
        # Under the lock, so that one that ends meanwhile does not stand in the queue for ever.
        with self._changing:
            if self._state in (State.QUEUED, State.SETUP, State.RUNNING):
                self._slot.enqueue()
                self._go.set()

    def _join(self, timeout: float | None) -> None:
        """Wait for the thread; a setup that was stopped leaves nothing to wait for."""
        if self._thread.ident is not None:
            self._thread.join(GRACE if self._token.cancelled and self.run is None else timeout)

    def _work(self) -> None:
        state = State.DONE
        try:
            self._set_up_and_iterate()
        except StoppedError:
            pass
        # The thread is the last place that can report: whatever went wrong must reach the view as a sentence. What a
        # function of the user's raises may be no Exception.
        except BaseException as error:
            # What somebody did not want any more has not failed.
            if not (self._token.cancelled and self.run is None):
                self.error, state = sentence_of(error), State.FAILED
        finally:
            with self._changing:
                self._state = state
                self._slot.release()
        if self._on_end:
            self._on_end(self)
        for act in self._hearers:
            act()

    def _set_up_and_iterate(self) -> None:
        self._wait_until(lambda: self._may_set_up)
        self._enter(State.SETUP)
        run = Run(self.configuration, self._system, trace=self._trace, stopped=lambda: self._token.cancelled)
        self._enter(State.RUNNING, run)
        going = True
        while going:
            # A run that is held is looked at by this thread too.
            self._wait_until(self._go.is_set, meanwhile=run.serve_snapshots)
            if self._token.cancelled:
                run.cancel()
                break
            going = run.step(1 if self._single.is_set() else None)
            if self._single.is_set():
                self._single.clear()
                self._go.clear()
        self.result = run.result()

    @property
    def _may_set_up(self) -> bool:
        return self._held_after_setup or self._go.is_set()

    def _enter(self, state: State, run: Run | None = None) -> None:
        """The next state, unless somebody has wished for the end: then `stop` has said already what was stopped."""
        with self._changing:
            if self._token.cancelled:
                raise StoppedError
            self.run, self._state = run, state

    def _wait_until(self, wanted: Callable[[], bool], meanwhile: Callable[[], object] = lambda: None) -> None:
        """Until the run is wanted and has the turn, or is to end. While it is not wanted the turn is others'."""
        while not self._token.cancelled:
            if not wanted():
                self._slot.release()
                while not (self._token.cancelled or self._go.wait(LOOK_EVERY)):
                    meanwhile()
            elif self._slot.held or self._slot.acquire(unless=lambda: self._token.cancelled or not wanted()):
                return
