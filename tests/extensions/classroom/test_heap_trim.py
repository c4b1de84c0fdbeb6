"""Memory of ended pages is given back: when, and that the C library does so."""

import ctypes
import heapq
import itertools

import pytest

from workbench.extensions.classroom.server import heap_trim
from workbench.extensions.classroom.server.heap_trim import HeapTrim, malloc_trim


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


def test_the_heap_is_trimmed_until_the_memory_of_the_last_page_is_free(clock):
    trims = []

    def trim(kept):
        assert kept == 0
        trims.append(clock.now)
        return 1

    heap = HeapTrim(35, trim)
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


def test_another_c_library_is_left_alone(clock, monkeypatch):
    monkeypatch.setattr(heap_trim.ctypes, "CDLL", lambda _name: object())
    assert malloc_trim() is None
    HeapTrim(35, malloc_trim()).page_ended()
    clock.run_until(100)


@pytest.mark.skipif(malloc_trim() is None, reason="the C library is not glibc")
def test_glibc_gives_back_what_lies_before_what_stays():
    library = ctypes.CDLL(None)
    library.malloc.restype = ctypes.c_void_p
    library.free.argtypes = [ctypes.c_void_p]
    blocks = [library.malloc(60_000) for _ in range(100)]
    for block in blocks:
        ctypes.memset(block, 1, 60_000)
    *freed, last = blocks
    for block in freed:
        library.free(block)
    assert malloc_trim()(0) == 1
    library.free(last)
