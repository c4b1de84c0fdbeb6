"""A runtime that executes nothing, and shape-only vectors."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np


class Unfilled:
    """A shape-only placeholder for a vector."""

    handle = None

    def __init__(self, size: int, dtype: np.dtype) -> None:
        self.size, self.dtype = size, np.dtype(dtype)

    @property
    def shape(self) -> tuple[int]:
        return (self.size,)

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        return self.size * self.itemsize


class Nothing:
    """A runtime that executes nothing; `launched` counts the launches.

    It has what `PairClock` and `lanes` need: a call that launches belongs to the accelerator's lane, and no event
    takes time.
    """

    def __init__(self) -> None:
        self.launched = 0

    def launch(self) -> None:
        """A kernel, or a few that count as one step."""
        self.launched += 1

    def timed(self, work: Callable[[], Any], name: str) -> tuple[Any, Callable[[], tuple[float, float]] | None]:
        before = self.launched
        returned = work()
        return returned, no_time if self.launched > before else None

    def now(self) -> float:
        return time.perf_counter()

    def synchronize(self) -> None:
        """All work is done at once."""

    def flush(self) -> None:
        """No work is queued."""

    def pinned(self, nbytes: int) -> np.ndarray:
        """Real memory; only the scalars, which are few, are copied."""
        return np.zeros(nbytes, np.uint8)

    def stream(self) -> Streamed:
        return Streamed()

    def mark(self) -> Reached:
        return Reached()

    def hold(self, signal: Any) -> None:
        """The clock records what a kernel waits for."""


class Reached:
    """A signal that is reached from the start."""

    def wait(self) -> None:
        """Return at once."""

    def span(self) -> tuple[float, float]:
        return no_time()


class Streamed:
    """A stream whose copies do nothing."""

    def to_host(self, values: Any, handle: Any, after: Any = None, offset: int = 0) -> Reached:
        return Reached()

    def to_device(self, handle: Any, values: Any, after: Any = None, offset: int = 0) -> Reached:
        return Reached()


def no_time() -> tuple[float, float]:
    """The span of every event."""
    return 0.0, 0.0
