"""Jobs that can be paused, resumed and stepped; a paused one has no slot in the run queue."""

from __future__ import annotations

import threading
from collections.abc import Callable

from workbench.run.jobs.job import State
from workbench.run.jobs.run_queue import QueueSlot
from workbench.run.jobs.thread_job import ThreadJob

SERVE_EVERY = 0.1
"""Seconds between two tests for requests of views while a job is paused."""


class PausableJob(ThreadJob):
    """A job of many short steps in a worker thread. Every method but `join` returns at once; calls that do not apply to
    the present state do nothing.

    It holds its slot in the run queue while it works, and releases it while it is paused. Its body waits in
    `_wait_until` before each step, and calls `_stepped` after it.
    """

    def __init__(
        self,
        work: Callable[[], object],
        name: str,
        slot: QueueSlot,
        on_end: Callable[..., object] | None = None,
    ) -> None:
        super().__init__(work, name, slot, on_end)
        self._go = threading.Event()
        self._single = threading.Event()
        self._paused_after_setup = False

    @property
    def state(self) -> State:
        """The state; PAUSED and QUEUED also while the work has begun, but is paused or waits for its slot."""
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
        """True while the job works and no request is pending."""
        return super().steady and not self._single.is_set()

    @property
    def pausing(self) -> bool:
        """True while a job that is asked to pause finishes its step; it holds its slot until then."""
        return self.state is State.PAUSED and self.slot.held

    def start(self, *, paused: bool = False) -> None:
        """Start, or queue; with `paused` it waits before its first step."""
        with self._changing:
            if self._state is State.IDLE:
                self._state = State.QUEUED
                self._paused_after_setup = paused
                if not paused:
                    self._go.set()
                # Here and not in the thread, so that jobs are queued in the order in which they are started.
                self.slot.enqueue()
                self._thread.start()

    def pause(self) -> None:
        """Pause, and release the slot."""
        self._go.clear()
        self.slot.wake()

    def resume(self) -> None:
        """Continue, from the end of the queue; a pending single step becomes a resume."""
        self._single.clear()
        self._continue()

    def step(self) -> None:
        """Make one step and pause; starts an idle job."""
        self.start(paused=True)
        self._single.set()
        self._continue()

    def stop(self) -> None:
        """End the job; results so far stay."""
        super().stop()
        # After the request, so that no further step begins.
        self._go.set()

    @property
    def _may_set_up(self) -> bool:
        return self._paused_after_setup or self._go.is_set()

    def _continue(self) -> None:
        # With the lock held, so that a job that ends meanwhile is not queued for ever.
        with self._changing:
            if self._state in (State.QUEUED, State.SETUP, State.RUNNING):
                self.slot.enqueue()
                self._go.set()

    def _stepped(self) -> None:
        """Pause again if the step that has been made was a single one."""
        if self._single.is_set():
            self._single.clear()
            self._go.clear()

    def _wait_until(self, wanted: Callable[[], bool], meanwhile: Callable[[], object] = lambda: None) -> None:
        """Wait until the job is wanted and holds the slot, or is cancelled. The slot is released while not wanted."""
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
