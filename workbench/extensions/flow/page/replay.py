"""The replay of a flow: its kept steps one after another, by the clock, without a solve."""

from __future__ import annotations

import time

SECONDS = 15.0
"""Seconds of the replay of a long flow."""
RATE = 10.0
"""Steps per second of a short one, and pictures per second of all."""


class Replay:
    """The step that a replay shows now. It begins at `first` and ends with the last step."""

    def __init__(self) -> None:
        self._begun: float | None = None
        self._first = 1
        self._last = 1

    @property
    def playing(self) -> bool:
        """True from `start` until the last step is reached, or until `stop`."""
        return self._begun is not None

    def start(self, first: int, last: int) -> None:
        """Show the steps from first to last."""
        self._begun, self._first, self._last = time.monotonic(), first, last

    def stop(self) -> None:
        """Stay at the step that is shown."""
        self._begun = None

    def step(self) -> int:
        """The step to show now; the last one ends the replay."""
        if self._begun is None:
            return self._last
        rate = max(RATE, self._last / SECONDS)
        step = min(self._last, self._first + int(rate * (time.monotonic() - self._begun)))
        if step == self._last:
            self._begun = None
        return step
