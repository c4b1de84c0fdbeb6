"""Cancellation of a run: the request, and the time after which the run counts as stopped."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

GRACE = 0.03
"""Seconds from the cancellation request until a run counts as stopped. Kernels, factorizations and compilers cannot be
interrupted: they finish in the background, and the result of a setup is discarded."""
STOPPED_EARLY = "stopped before it began"
STOPPED_IN_SETUP = "stopped during the setup"
STOPPED = (STOPPED_EARLY, STOPPED_IN_SETUP)
"""Errors of runs that their user has stopped before there was a result."""


class StoppedError(Exception):
    """Raised inside a setup after a cancellation request, and by a prepared solve, to whoever passed the request."""


def check_stopped(stopped: Callable[[], bool]) -> None:
    """Raise StoppedError once `stopped` returns True."""
    if stopped():
        raise StoppedError


class CancelToken:
    """An irrevocable cancellation request."""

    def __init__(self) -> None:
        self._since = math.inf

    def cancel(self) -> None:
        """Request cancellation; later calls change nothing."""
        self._since = min(self._since, time.monotonic())

    @property
    def cancelled(self) -> bool:
        return self._since < math.inf

    @property
    def overdue(self) -> bool:
        """The request is more than `GRACE` seconds old."""
        return time.monotonic() - self._since > GRACE
