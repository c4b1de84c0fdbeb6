"""The heap of the C library, which keeps what is freed until it is asked to give it back."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable


def give_back() -> None:
    """Return freed memory to the system, where the C library can (glibc). Takes some milliseconds for each 100 MB."""
    if trim := _malloc_trim():
        trim(0)


@functools.cache
def _malloc_trim() -> Callable[[int], int] | None:
    try:
        return ctypes.CDLL(None).malloc_trim
    # Another C library, or another system.
    except (AttributeError, OSError, TypeError):
        return None
