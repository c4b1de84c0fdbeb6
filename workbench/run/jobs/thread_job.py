"""A job in a worker thread."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from workbench.errors import error_message
from workbench.run.cancellation import StoppedError
from workbench.run.jobs.job import ENDED, Job, State
from workbench.run.jobs.run_queue import QueueSlot


class ThreadJob(Job):
    """A job whose work is done by its own thread; every method but `join` returns at once.

    work: the body; it may raise StoppedError after a cancellation request, any other error is a failure. on_end: called
    with the job, after its last change of state: in its thread, or by `stop` if it was not started.
    """

    def __init__(
        self, work: Callable[[], object], name: str, slot: QueueSlot, on_end: Callable[[Any], object] | None = None
    ) -> None:
        super().__init__(slot)
        self._work, self._on_end = work, on_end
        self._listeners: tuple[Callable[[], object], ...] = ()
        self._thread = threading.Thread(target=self._run_to_end, name=name, daemon=True)

    @property
    def working(self) -> bool:
        """Its thread is running, `on_end` and listeners included."""
        return self._thread.is_alive()

    def when_over(self, act: Callable[[], object]) -> None:
        """Call `act` when the job is over, after `on_end` and where that is called; at once if it is over."""
        with self._changing:
            if self._state not in ENDED:
                self._listeners = (*self._listeners, act)
                return
        act()

    def start(self) -> None:
        """Start the thread, unless the job has been started or stopped."""
        with self._changing:
            if self._state is State.IDLE:
                self._state = State.RUNNING
                self._thread.start()

    def stop(self) -> None:
        """Request cancellation; results so far stay. A job that was not started has ended: `on_end` and listeners are
        called here, since its thread never runs."""
        with self._changing:
            idle = self._state is State.IDLE
            self._request_cancellation()
            if idle:
                self._state = State.DONE
        self.slot.wake()
        if idle:
            self._announce_end()

    def join(self, timeout: float | None = None) -> None:
        """Wait until the thread has ended."""
        if self._thread.ident is not None:
            self._thread.join(timeout)

    def _run_to_end(self) -> None:
        state = State.DONE
        try:
            self._work()
        except StoppedError:
            pass
        # Errors of this thread can be reported nowhere else: each must reach the view as a sentence. A function of the
        # user may raise what is no Exception.
        except BaseException as error:
            self.error, state = error_message(error), State.FAILED
        finally:
            with self._changing:
                self._state = state
                self.slot.release()
        self._announce_end()

    def _announce_end(self) -> None:
        """Call `on_end` and the listeners. The lock is not held: they may ask for the state."""
        if self._on_end:
            self._on_end(self)
        for act in self._listeners:
            act()
