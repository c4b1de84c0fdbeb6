"""How often something may be done: a rate that holds on the average, whatever the ticks of the one who asks."""

from __future__ import annotations

import time

PERIOD = 0.09
"""Seconds between two pictures: a little less than a tenth, since they wait for ticks and iterations too."""


class Pace:
    """Says when it is time for the next one, at most every `period` seconds on the average."""

    def __init__(self, period: float = PERIOD) -> None:
        self._period = period
        self._next = 0.0

    def is_due(self) -> bool:
        """Whether it is time; if so, the next is due a period later."""
        now = time.monotonic()
        if now < self._next:
            return False
        # From when it was due and not from now, so that ticks that come a little late do not halve the rate.
        self._next = max(self._next, now - self._period) + self._period
        return True
