"""A thread for what must be done one after the other and is too long for a callback."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable


class InOrder:
    """Runs jobs in the order in which they were asked for. A job that waits is replaced by the next of the same key."""

    def __init__(self, name: str) -> None:
        self._jobs: deque[tuple[object, Callable[[], None]]] = deque()
        self._condition = threading.Condition()
        self._busy = False
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)

    def ask(self, job: Callable[[], None], key: object = None) -> None:
        """Run this after what was asked for before; returns at once. key: None for a job that nothing replaces."""
        with self._condition:
            if key is not None and self._jobs and self._jobs[-1][0] == key:
                self._jobs.pop()
            self._jobs.append((key, job))
            if self._thread.ident is None:
                self._thread.start()
            self._condition.notify_all()

    def wait(self, timeout: float) -> bool:
        """Wait until all is done; False when that takes longer than so many seconds. A job itself does not wait."""
        if threading.current_thread() is self._thread:
            return True
        with self._condition:
            return self._condition.wait_for(lambda: not self._jobs and not self._busy, timeout)

    def _work(self) -> None:
        while True:
            with self._condition:
                self._busy = False
                self._condition.notify_all()
                self._condition.wait_for(lambda: bool(self._jobs))
                _, job = self._jobs.popleft()
                self._busy = True
            try:
                job()
            # What was asked for next must be done whatever went wrong with this one.
            except Exception:
                logging.getLogger(__name__).exception("a change could not be made")
