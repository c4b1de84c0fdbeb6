"""When the memory of ended pages is given back."""

import heapq
import itertools

import pytest

from workbench.extensions.classroom.server import heap_trim
from workbench.extensions.classroom.server.heap_trim import HeapTrim


class Clock:
    """In place of an event loop, one whose time is set."""

    def __init__(self):
        self.now, self._waiting, self._order = 0.0, [], itertools.count()

    def time(self):
        return self.now

    def call_later(self, delay, act, *arguments):
        heapq.heappush(self._waiting, (self.now + delay, next(self._order), act, arguments))
        return act

    def run_until(self, end):
        while self._waiting and self._waiting[0][0] <= end:
            self.now, _, act, arguments = heapq.heappop(self._waiting)
            act(*arguments)
        self.now = end


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(heap_trim.asyncio, "get_running_loop", lambda: made)
    return made


def test_the_heap_is_trimmed_until_the_memory_of_the_last_page_is_free(clock, monkeypatch):
    trims = []
    monkeypatch.setattr(heap_trim, "give_back", lambda: trims.append(clock.now))
    heap = HeapTrim(35)
    clock.run_until(100)
    assert trims == []
    # Those of a class that leaves are trimmed together.
    for _ in range(30):
        heap.page_ended()
    clock.run_until(200)
    assert trims == [110, 120, 130, 140]
    heap.page_ended()
    clock.run_until(225)
    heap.page_ended()
    clock.run_until(400)
    assert trims[4:] == [210, 220, 230, 240, 250, 260]
