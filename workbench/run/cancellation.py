"""How a run is stopped from outside: a wish, and how long it may take until nobody waits for it any more."""

from __future__ import annotations

import math
import time

GRACE = 0.03
"""Seconds from the wish to stop until a run counts as stopped, wherever it is. Kernels, factorizations and compilers
cannot be interrupted: what is under way then ends in the background, and what comes of a setup is thrown away."""
STOPPED_EARLY = "stopped before it began"
STOPPED_IN_SETUP = "stopped during the setup"


class StoppedError(Exception):
    """Raised inside a setup when somebody has wished that it ends. It never leaves this package."""


class CancelToken:
    """Somebody's wish that a run ends; it is never taken back."""

    def __init__(self) -> None:
        self._since = math.inf

    def make(self) -> None:
        """From now on."""
        self._since = min(self._since, time.monotonic())

    @property
    def made(self) -> bool:
        return self._since < math.inf

    @property
    def overdue(self) -> bool:
        """It was made more than `GRACE` seconds ago."""
        return time.monotonic() - self._since > GRACE
