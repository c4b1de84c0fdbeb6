"""Time spent on the compilation of kernels, or on waiting for it: for progress, and to keep it apart from the setup."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Generator
from concurrent.futures import Future, TimeoutError
from typing import TypeVar

PATIENCE = 0.5
"""Seconds between two calls of a listener."""

T = TypeVar("T")

_listeners: list[Callable[[float | None], None]] = []
_since: dict[int, float] = {}
"""The beginning of the wait, by the identifier of each thread that compiles or waits."""


class _Spent(threading.local):
    """The seconds that a thread has spent on kernels in all, and when the present wait would have begun for them."""

    seconds = 0.0
    begun = 0.0


_spent = _Spent()


class Kernels:
    """The kernels that a thread has asked a compiler for, and those of them that are there."""

    def __init__(self) -> None:
        self.asked = self.done = 0
        self._changing = threading.Lock()

    def ask(self) -> Callable[[object], None]:
        """Count one more kernel; returns the function to be called, with anything, when it is there."""
        with self._changing:
            self.asked += 1
        return self._finish

    def _finish(self, _result: object) -> None:
        with self._changing:
            self.done += 1


class _Counting(threading.local):
    kernels = Kernels()


_counting = _Counting()


@contextlib.contextmanager
def counted() -> Generator[Kernels]:
    """A context in which the kernels of this thread are counted from 0."""
    before, made = _counting.kernels, Kernels()
    _counting.kernels = made
    try:
        yield made
    finally:
        _counting.kernels = before


def asking() -> Callable[[object], None]:
    """Count a kernel that this thread asks a compiler for; see `Kernels.ask`."""
    return _counting.kernels.ask()


@contextlib.contextmanager
def listening(listener: Callable[[float | None], None]) -> Generator[None]:
    """Call listener(seconds) twice a second on any thread that waits for kernels, with the seconds that it has waited
    in all, and listener(None) when no thread waits any more. It may not raise."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def seconds() -> float | None:
    """The longest time that a thread has been waiting for kernels; None while none does."""
    begun = min(_since.values(), default=None)
    return None if begun is None else time.monotonic() - begun


def spent() -> float:
    """Seconds that this thread has spent on kernels in all: compiling, waiting for a compiler, or loading on an
    accelerator. It grows once a kernel is there."""
    return _spent.seconds


def active(thread: int) -> bool:
    """True while the thread of this identifier compiles, or waits for kernels."""
    return thread in _since


def wait(coming: Future[T]) -> T:
    """The result of a future, with listeners notified meanwhile."""
    with here():
        while True:
            try:
                return coming.result(PATIENCE)
            except TimeoutError:
                _report()


@contextlib.contextmanager
def here(*, at_once: bool = False) -> Generator[None]:
    """A context in which this thread compiles. at_once: notify listeners now, since nothing can while it compiles."""
    thread = threading.get_ident()
    if thread in _since:
        yield
        return
    begun = _since[thread] = time.monotonic()
    _spent.begun = begun - spent()
    if at_once or begun - _spent.begun > PATIENCE:
        _report()
    try:
        yield
    finally:
        del _since[thread]
        _spent.seconds = time.monotonic() - _spent.begun
        if not _since:
            for listener in tuple(_listeners):
                listener(None)


def _report() -> None:
    for listener in tuple(_listeners):
        listener(time.monotonic() - _spent.begun)
