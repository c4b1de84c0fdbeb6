"""A limit on how often something is done, which holds on average, whatever the ticks of the caller."""

from __future__ import annotations

import math
import time

PERIOD = 0.095
"""Seconds between two pictures: a little less than a tenth, since pictures wait for iterations too."""

NEAR = 0.001
"""Seconds before its time at which anything may be done as well: timers are not more exact."""


class RateLimit:
    """Says when it is time for the next one: at the multiples of `period` on the clock, so that all who keep one period
    act together, and ticks that come a little late do not lower the rate.

    early: seconds before it is due at which it may be done as well, so that a tick just before need not be missed.
    """

    def __init__(self, period: float = PERIOD, early: float = NEAR) -> None:
        self._period = period
        self._early = early
        self._next = 0.0

    @property
    def wait(self) -> float:
        """Seconds until it is due, 0 where it is."""
        return max(0.0, self._next - time.monotonic())

    @property
    def due(self) -> bool:
        """True if it is time for the next one."""
        return self.wait <= self._early

    def take(self) -> bool:
        """True if it is time for the next one, which then counts as done."""
        due = self.due
        if due:
            self.done()
        return due

    def done(self) -> None:
        """Note that it was done now, due or not; the next is due at the next multiple that is not near."""
        self._next = (math.floor((time.monotonic() + self._early) / self._period) + 1) * self._period
