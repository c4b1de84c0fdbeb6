"""Numba's cache on disk, used by several processes at once.

Numba writes the index of a function's machine code and then the code itself, each under a temporary name. Two processes
that compile one function for different types at the same time may so read the same old index, choose the same name for
their code, and leave an index that gives one of them the other's code. Here whoever reads or writes holds a lock.
"""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable
from typing import Any

from numba.core.caching import IndexDataCacheFile

try:
    import fcntl
except ImportError:  # Windows refuses to replace a file that is open, so that numba gives up there by itself.
    fcntl = None

LOCK = "workbench.lock"
"""A file of no content beside the code."""


def share_cache() -> None:
    """Let one process at a time read or write an entry, from now on. Costs about 10 microseconds an entry."""
    if fcntl is None:
        return
    for name in ("save", "load"):
        method = getattr(IndexDataCacheFile, name)
        if not hasattr(method, "alone"):
            setattr(IndexDataCacheFile, name, _alone(method))


def _alone(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(cache: Any, *arguments: Any) -> Any:
        assert fcntl is not None
        try:
            lock = os.open(os.path.join(cache._cache_path, LOCK), os.O_RDWR | os.O_CREAT, 0o600)
        # A folder that can only be read, or is not there yet, has nobody who writes.
        except OSError:
            return method(cache, *arguments)
        try:
            # Some network file systems have no locks; there nothing waits.
            with contextlib.suppress(OSError):
                fcntl.flock(lock, fcntl.LOCK_EX)
            return method(cache, *arguments)
        finally:
            os.close(lock)

    call.alone = True  # type: ignore[attr-defined]
    return call
