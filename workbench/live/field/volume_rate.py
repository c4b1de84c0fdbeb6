"""The rate of snapshots of a run: that of the page, but for no more than a small share of the solver's time."""

from __future__ import annotations

from workbench.live.transport.rate_limit import PERIOD, RateLimit
from workbench.run.results.snapshots import SnapshotRequests

SHARE = 0.03
"""Share of the solver's time that snapshots may take."""
MOST_SECONDS = 0.06
"""Seconds that one snapshot counts at most, so that there is a picture every two seconds. A first one may compile."""


class ShareLimit(RateLimit):
    """A pace whose period grows with the measured cost of a snapshot."""

    def __init__(self) -> None:
        super().__init__()
        self._count, self._seconds, self._cost = 0, 0.0, 0.0

    @property
    def period(self) -> float:
        """Seconds between two snapshots."""
        return self._period

    def keep(self, rate: float, requests: SnapshotRequests | None) -> None:
        """At most `rate` snapshots per second, and fewer where one of those in `requests` takes long."""
        if requests is None:
            self._count, self._seconds, self._cost = 0, 0.0, 0.0
        elif requests.count > self._count:
            # The time is added after the count, so that a snapshot may be counted with the next one.
            count, seconds = requests.count, requests.seconds
            self._cost = min((seconds - self._seconds) / (count - self._count), MOST_SECONDS)
            self._count, self._seconds = count, seconds
        self._period = max(PERIOD, 0.95 / rate, self._cost / SHARE)
