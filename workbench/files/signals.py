"""SIGTERM and SIGHUP end a process in order, and not within a block that must be whole."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from typing import Any


class EndedBySignal(SystemExit):
    """A signal ends the process: what keeps any other error, such as a row of a sweep, lets this one pass."""


_unbroken: list[None] = []
"""One entry for each block of `unbroken` that is entered."""
_late: list[int] = []
"""Signals that arrived meanwhile."""


@contextlib.contextmanager
def unbroken() -> Iterator[None]:
    """A block of the main thread that signals handled by `ended_in_order` end only after its last line, as what it
    starts would continue in threads of its own. In other threads, which no signal ends, it does nothing."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _unbroken.append(None)
    try:
        yield
    finally:
        _unbroken.pop()
        if _late and not _unbroken:
            number = _late[0]
            _late.clear()
            raise EndedBySignal(128 + number)


@contextlib.contextmanager
def ended_in_order(received: list[int] | None = None) -> Iterator[None]:
    """SIGTERM and SIGHUP raise EndedBySignal inside, with the status that shells give for them, so that what the block
    and those around it have opened is closed; received: the list that they are added to.

    Only in the main thread, and where nothing else handles them.
    """

    def end(number: int, _frame: Any) -> None:
        if received is not None:
            received.append(number)
        if _unbroken:
            _late.append(number)
            return
        raise EndedBySignal(128 + number)

    mine = threading.current_thread() is threading.main_thread()
    numbers = [number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) is signal.SIG_DFL]
    try:
        for number in numbers if mine else ():
            signal.signal(number, end)
        yield
    finally:
        for number in numbers if mine else ():
            signal.signal(number, signal.SIG_DFL)
