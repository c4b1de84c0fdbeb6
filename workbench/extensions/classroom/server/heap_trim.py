"""Memory of pages that have ended goes back to the system.

glibc keeps what is freed, in pieces between what stays. After 50 pages, each with a megabyte of text in its widgets, 69
MB of its 130 MB were free; once they were given back, the server had 181 MB in place of 235.
"""

from __future__ import annotations

import asyncio

from workbench.machines.heap import give_back

EVERY = 10.0
"""Seconds between two trims."""


class HeapTrim:
    """Trims the heap of this process while pages end, and for some time after the last one.

    lasting: that time in seconds. A trim costs 2 to 7 ms of a core for heaps of 68 to 130 MB. Used in the thread of an
    event loop.
    """

    def __init__(self, lasting: float) -> None:
        self._lasting = lasting
        self._last = 0.0
        """The time from which on no trim follows."""
        self._timer: asyncio.TimerHandle | None = None

    def page_ended(self) -> None:
        """Trim `EVERY` seconds from now, and again until the memory of a page that has ended now is free."""
        loop = asyncio.get_running_loop()
        self._last = loop.time() + self._lasting
        if self._timer is None:
            self._timer = loop.call_later(EVERY, self._trim)

    def _trim(self) -> None:
        give_back()
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(EVERY, self._trim) if loop.time() < self._last else None
