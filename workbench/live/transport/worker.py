"""Threads for work that is too long for a callback: all of it one after the other, or only the last request."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable

REST = 2.0
"""Seconds without a job after which the thread ends; the next job begins another."""


class InOrder:
    """Runs jobs in the order in which they were asked for. A job that waits is replaced by the next of the same key."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._jobs: deque[tuple[object, Callable[[], None]]] = deque()
        self._condition = threading.Condition()
        self._busy = self._closed = False
        self._thread: threading.Thread | None = None

    def ask(self, job: Callable[[], None], key: object = None) -> None:
        """Run this after what was asked for before; returns at once. The job reports its errors itself.

        key: None for a job that nothing replaces.
        """
        with self._condition:
            if self._closed:
                return
            if key is not None and self._jobs and self._jobs[-1][0] == key:
                self._jobs.pop()
            self._jobs.append((key, job))
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
                self._thread.start()
            self._condition.notify_all()

    def overtaken(self, within: float = 0.0) -> bool:
        """True if another job is asked for, or will be within `within` seconds; asked by the job under way."""
        with self._condition:
            return self._condition.wait_for(lambda: bool(self._jobs), within)

    def close(self) -> None:
        """Take no more jobs, and end when the present one is done."""
        with self._condition:
            self._closed = True
            self._jobs.clear()
            self._condition.notify_all()

    def wait(self, timeout: float) -> bool:
        """Wait until all is done; False when that takes longer than `timeout` seconds. A job itself does not wait."""
        if threading.current_thread() is self._thread:
            return True
        with self._condition:
            return self._condition.wait_for(lambda: not self._jobs and not self._busy, timeout)

    def _work(self) -> None:
        while job := self._next():
            try:
                job()
            # The next job must be done whatever went wrong with this one.
            except Exception:
                logging.getLogger(__name__).exception("%s could not do what it was asked for", self._name)
            # Objects of the job may be freed while nothing is asked for.
            del job

    def _next(self) -> Callable[[], None] | None:
        """The next job; None when the thread is to end."""
        with self._condition:
            self._busy = False
            self._condition.notify_all()
            self._condition.wait_for(lambda: bool(self._jobs) or self._closed, REST)
            if not self._jobs:
                self._thread = None
                return None
            self._busy = True
            return self._jobs.popleft()[1]


class LatestOnly(InOrder):
    """Runs the job asked for last; jobs that were overtaken while they waited are dropped."""

    def ask(self, job: Callable[[], None], key: object = "the latest") -> None:
        """Run this next; returns at once."""
        super().ask(job, key)
