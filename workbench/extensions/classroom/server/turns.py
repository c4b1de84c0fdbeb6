"""Turns of pages on the machine: first come, first served, and given back after some seconds while others wait."""

from __future__ import annotations

import asyncio
import dataclasses
import math
from collections.abc import Callable
from typing import Protocol

SLICE = 4.0
"""Seconds of a turn after which it goes to a page that waits."""
AGAIN = 30.0
"""Seconds by which a request that has had its turn comes behind one that has not. A longer run so waits while short
ones come, but not for ever."""


class TurnTaker(Protocol):
    """A page that asks for turns."""

    def say_turn(self, request: int, ahead: int) -> None:
        """Take the number of requests before its own; 0: it has its turn, and not 0 after that: it has no longer."""
        ...


@dataclasses.dataclass(eq=False)
class _Request:
    """page, number: who asks, and the number that it has given. rank: of two requests the one with less comes first.
    since: when its turn began, infinite without one. said: the number of requests before it as the page knows it."""

    page: TurnTaker
    number: int
    rank: float
    since: float = math.inf
    said: int | None = None


class Turns:
    """Requests of pages, each with at most one. at_once: turns at the same time, 0 for any number.

    A turn ends when the page says so, or is taken back after `SLICE` seconds if another page waits: the run stops
    between two of its iterations, waits behind the requests that are there, and continues. A setup is one step, and
    continues without a turn; the next page does not wait for it. now: seconds, from any moment on. changed: called
    before pages hear of their turns. All methods are called in the thread of an event loop.
    """

    def __init__(self, at_once: int, now: Callable[[], float] | None = None) -> None:
        self.at_once = at_once
        self.changed: Callable[[], object] = lambda: None
        self._now = now
        self._requests: list[_Request] = []
        self._timer: asyncio.TimerHandle | None = None

    def has(self, page: TurnTaker) -> bool:
        """True while a page has a turn."""
        return any(each.page is page and each.since < math.inf for each in self._requests)

    def ask(self, page: TurnTaker, number: int) -> None:
        """Take a request of a page, in place of the one that it has."""
        self._requests = [each for each in self._requests if each.page is not page]
        self._requests.append(_Request(page, number, self._time()))
        self.update()

    def done(self, page: TurnTaker) -> None:
        """Forget the request of a page."""
        self._requests = [each for each in self._requests if each.page is not page]
        self.update()

    def update(self) -> None:
        """Take turns back that have lasted, give those that are free, and say so to the pages."""
        now, most = self._time(), self.at_once or len(self._requests)
        queue = sorted((each for each in self._requests if each.since == math.inf), key=lambda each: each.rank)
        holding = [each for each in self._requests if each.since < math.inf]
        lasted = sorted((each for each in holding if now - each.since >= SLICE), key=lambda each: each.since)
        # As many as wait and find no free one.
        for each in lasted[: max(0, len(queue) - max(0, most - len(holding)))]:
            each.since, each.rank = math.inf, now + AGAIN
            holding.remove(each)
            queue.append(each)
        queue.sort(key=lambda each: each.rank)
        free = max(0, most - len(holding))
        for each in queue[:free]:
            each.since = now
        self.changed()
        for each in holding + queue[:free]:
            self._say(each, 0)
        for place, each in enumerate(queue[free:], most):
            self._say(each, place)
        self._watch(now, holding + queue[:free], bool(queue[free:]))

    def _watch(self, now: float, holding: list[_Request], waited: bool) -> None:
        """Look again when the oldest turn has lasted, while a page waits."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if waited and holding:
            oldest = min(each.since for each in holding)
            # A little later, so that it has lasted by then.
            rest = max(0.0, oldest + SLICE - now) + 0.01
            self._timer = asyncio.get_running_loop().call_later(rest, self.update)

    def _say(self, request: _Request, ahead: int) -> None:
        if request.said != ahead:
            request.said = ahead
            request.page.say_turn(request.number, ahead)

    def _time(self) -> float:
        return self._now() if self._now is not None else asyncio.get_running_loop().time()
