"""Jobs: what is queued, watched and cancelled, be it a solve, an entry of a race or a sweep."""

from __future__ import annotations

import contextlib
import enum
import threading
from collections.abc import Generator

import numpy as np

from workbench.problems import LinearSystem
from workbench.run.cancellation import STOPPED_EARLY, STOPPED_IN_SETUP, CancelToken, StoppedError
from workbench.run.choices.configuration import Configuration
from workbench.run.driver import Run
from workbench.run.jobs.run_queue import QueueSlot
from workbench.run.results.filming import Camera
from workbench.run.setup.setup_phases import SetupPhases


class State(enum.StrEnum):
    """The state of a job.

    Examples:
        >>> from workbench.run import Session, State, configure
        >>> Session(configure("two-layer", n=16)).state is State.IDLE
        True
    """

    IDLE = "idle"
    QUEUED = "queued"
    SETUP = "setting up"
    RUNNING = "running"
    PAUSED = "paused"
    DONE = "done"
    FAILED = "failed"


ENDED = (State.DONE, State.FAILED)


class Job:
    """A computation that can be cancelled: its state, its cancellation request, and its slot in the run queue.

    `run` is its solve, None before the setup is done and for jobs of many solves. `error` is the sentence of a failure,
    or of a cancellation before the first iteration.

    A cancelled job counts as ended `GRACE` seconds after the request. An iteration or a setup, which cannot be
    interrupted, then finishes in the background (`lingering`): the iteration is kept, so that x belongs to the last row
    of the history, and the result of a setup is discarded.

    Examples:
        >>> from workbench.run import Job, Session, configure
        >>> session = Session(configure("two-layer", n=16))
        >>> isinstance(session, Job), session.alive
        (True, False)
    """

    def __init__(self, slot: QueueSlot) -> None:
        self.run: Run | None = None
        self.error = ""
        self.slot = slot
        self.phases = SetupPhases()
        """The phases of the setup of its solve, so far; with many solves of the present one."""
        self._token = CancelToken()
        self._changing = threading.Lock()
        self._state = State.IDLE

    @property
    def state(self) -> State:
        """The state; that of an end once a cancellation request is overdue."""
        return self._cancelled_state if self._token.overdue and not self.over else self._state

    @property
    def alive(self) -> bool:
        """It has been started and has not ended."""
        return self.state not in (State.IDLE, *ENDED)

    @property
    def ended(self) -> bool:
        """It counts as ended."""
        return self.state in ENDED

    @property
    def over(self) -> bool:
        """It has ended, and nothing of it is running in the background."""
        return self._state in ENDED

    @property
    def stopping(self) -> bool:
        """Its cancellation has been requested."""
        return self._token.cancelled

    @property
    def ending(self) -> bool:
        """Its cancellation has been requested, and it has not ended yet, which takes `GRACE` seconds at most."""
        return self.stopping and self.alive

    @property
    def steady(self) -> bool:
        """It iterates, with no request pending."""
        return self.state is State.RUNNING and not self.stopping

    @property
    def lingering(self) -> bool:
        """It counts as ended, but an iteration or a setup is finishing in the background."""
        return self._token.overdue and self._state in (State.SETUP, State.RUNNING)

    @property
    def ahead(self) -> int:
        """The number of jobs before this one in the run queue, the active one included; 0 when not queued."""
        return self.slot.ahead

    @property
    def waited(self) -> float:
        """Seconds in the run queue, see `QueueSlot.waited`."""
        return self.slot.waited

    def stop(self) -> None:
        """Request cancellation; results so far stay."""
        with self._changing:
            self._request_cancellation()

    @property
    def _cancelled_state(self) -> State:
        """The state in which a cancelled job ends."""
        return State.DONE

    def _request_cancellation(self) -> None:
        """Request cancellation, and record what is cancelled. To be called with the lock held."""
        self._token.cancel()
        if self._state in (State.IDLE, State.QUEUED):
            self.error = STOPPED_EARLY
        elif self._state is State.SETUP:
            self.error = STOPPED_IN_SETUP

    @contextlib.contextmanager
    def _entering(self, state: State) -> Generator[None]:
        """Change the state after the block. Raises StoppedError before it if cancellation has been requested."""
        with self._changing:
            if self.stopping:
                raise StoppedError
            yield
            self._state = state

    def _new_run(
        self,
        configuration: Configuration,
        system: LinearSystem | None = None,
        x0: np.ndarray | None = None,
        *,
        trace: bool = False,
        camera: Camera | None = None,
    ) -> Run:
        """Set up a run. Raises StoppedError for whatever goes wrong after a cancellation request."""
        self.phases = SetupPhases()
        try:
            stopped = lambda: self.stopping  # noqa: E731
            return Run(configuration, system, x0, trace=trace, stopped=stopped, phases=self.phases, camera=camera)
        except BaseException:
            # A cancelled setup has not failed.
            if self.stopping:
                raise StoppedError from None
            raise
