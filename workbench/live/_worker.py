"""A thread for work that is too long for a callback and worth doing only for the latest wish."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable


class LatestOnly:
    """Runs the job asked for last; jobs that were overtaken while they waited are dropped.

    Its thread lives from the first job until `close`.
    """

    def __init__(self, name: str) -> None:
        self._job: Callable[[], None] | None = None
        self._condition = threading.Condition()
        self._busy = self._closed = False
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)

    def ask(self, job: Callable[[], None]) -> None:
        """Run this next; returns at once. The job tells the user of its errors itself."""
        with self._condition:
            if self._closed:
                return
            self._job = job
            if self._thread.ident is None:
                self._thread.start()
            self._condition.notify_all()

    def overtaken(self, within: float = 0.0) -> bool:
        """For a job under way: whether another is asked for, or will be within so many seconds."""
        with self._condition:
            return self._condition.wait_for(lambda: self._job is not None, within)

    def close(self) -> None:
        """Take no more jobs, and end when the present one is done."""
        with self._condition:
            self._closed, self._job = True, None
            self._condition.notify_all()

    def wait(self, timeout: float) -> bool:
        """Wait until nothing is asked for any more; False when that takes longer."""
        with self._condition:
            return self._condition.wait_for(lambda: self._job is None and not self._busy, timeout)

    def _work(self) -> None:
        while True:
            with self._condition:
                self._busy = False
                self._condition.notify_all()
                job = None  # What it refers to may be let go while nothing is asked for.
                self._condition.wait_for(lambda: self._job is not None or self._closed)
                job, self._job, self._busy = self._job, None, True
                if job is None:
                    self._busy = False
                    return
            try:
                job()
            # The next wish must be served whatever went wrong with this one.
            except Exception:
                logging.getLogger(__name__).exception("a picture could not be made")
