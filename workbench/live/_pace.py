"""How often something may be done: a rate that holds on the average, whatever the ticks of the one who asks."""

from __future__ import annotations

import time

PERIOD = 0.095
"""Seconds between two pictures: a little less than a tenth, since they wait for iterations too."""


class Pace:
    """Says when it is time for the next one, at most every `period` seconds on the average.

    early: seconds before it is due at which it may be done as well, so that who ticks need not put it off to the next.
    """

    def __init__(self, period: float = PERIOD, early: float = 0.0) -> None:
        self._period = period
        self._early = early
        self._next = 0.0

    @property
    def wait(self) -> float:
        """Seconds until it is due, 0 where it is."""
        return max(0.0, self._next - time.monotonic())

    @property
    def due(self) -> bool:
        """Whether it is time."""
        return self.wait <= self._early

    def take(self) -> bool:
        """Whether it is time; if so, it is done."""
        due = self.due
        if due:
            self.done()
        return due

    def done(self) -> None:
        """It was done now, due or not; the next is due a period later."""
        now = time.monotonic()
        # From when it was due and not from now, so that ticks that come a little late do not lower the rate.
        on_time = -self._early <= now - self._next < self._period
        self._next = (self._next if on_time else now) + self._period
