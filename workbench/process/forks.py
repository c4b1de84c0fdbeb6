"""Locks in a forked process, where the thread that held one as the process was forked does not exist."""

from __future__ import annotations

import os
import threading
import weakref
from types import TracebackType

from workbench.errors import InputError

_known: weakref.WeakSet[WorkLock] = weakref.WeakSet()


class WorkLock:
    """A lock around work that leaves an object half-made meanwhile; also a context.

    In a process that was forked during the work of another thread, `acquire` raises InputError with `refusal`. Without
    one the lock is free there, for what is never half-made.
    """

    def __init__(self, refusal: str = "") -> None:
        self._refusal, self._lock, self._lost = refusal, threading.Lock(), False
        self.worker = 0
        """The number of the thread that holds it, 0 for none."""
        _known.add(self)

    def acquire(self, *, blocking: bool = True) -> bool:
        """Take it; whether that is done."""
        if self._lost:
            raise InputError(self._refusal)
        taken = self._lock.acquire(blocking)
        if taken:
            self.worker = threading.get_ident()
        return taken

    def release(self) -> None:
        """Let another thread take it."""
        self.worker = 0
        self._lock.release()

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.release()

    def forked(self) -> None:
        """Note in a forked process that its holder is gone. The thread that forked exists, and keeps it."""
        if self._lock.locked() and self.worker != threading.get_ident():
            self._lost = bool(self._refusal)
            self._lock, self.worker = threading.Lock(), 0


def _forked() -> None:
    for lock in list(_known):
        lock.forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
