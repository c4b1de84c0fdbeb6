"""Time spent waiting for the compilation of kernels, for progress on a terminal or a page."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, TimeoutError
from typing import TypeVar

PATIENCE = 0.5
"""Seconds between two calls of a listener."""

T = TypeVar("T")

_listeners: list[Callable[[float | None], None]] = []
_since: list[float] = []
_spent = threading.local()


@contextlib.contextmanager
def listening(listener: Callable[[float | None], None]) -> Iterator[None]:
    """Call listener(seconds) twice a second on any thread that waits for kernels, with how long that has waited in
    all, and listener(None) when no thread waits any more. It may not raise."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def seconds() -> float | None:
    """The longest time that a thread has been waiting for kernels; None while none does."""
    begun = min(_since, default=None)
    return None if begun is None else time.monotonic() - begun


def wait(coming: Future[T]) -> T:
    """The result of a future, with listeners notified meanwhile."""
    with here(report=False):
        while True:
            try:
                return coming.result(PATIENCE)
            except TimeoutError:
                _report()


@contextlib.contextmanager
def here(*, report: bool = True) -> Iterator[None]:
    """A context in which this thread compiles, with listeners notified."""
    begun = time.monotonic()
    _since.append(begun)
    _spent.begun = begun - getattr(_spent, "seconds", 0.0)
    if report:
        _report()
    try:
        yield
    finally:
        _since.remove(begun)
        _spent.seconds = time.monotonic() - _spent.begun
        if not _since:
            for listener in tuple(_listeners):
                listener(None)


def _report() -> None:
    for listener in tuple(_listeners):
        listener(time.monotonic() - _spent.begun)
