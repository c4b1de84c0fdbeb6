"""The runtime of an accelerator that is not there, and vectors without memory."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np


class Unfilled:
    """A vector of which nothing is there but its length and type; a slice of it is another."""

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
    """Does nothing that it is asked for; `launched` counts what would have gone to the accelerator.

    It is what `HybridClock` and `lanes` ask of a runtime: whatever launches meanwhile belongs to the accelerator's
    lane, and no event takes time.
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
        """There is nothing to wait for."""

    def flush(self) -> None:
        """Nothing waits to be begun."""

    def pinned(self, nbytes: int) -> np.ndarray:
        """Real memory: of the scalars alone, which are few."""
        return np.zeros(nbytes, np.uint8)

    def stream(self) -> Streamed:
        return Streamed()

    def mark(self) -> Reached:
        return Reached()

    def hold(self, signal: Any) -> None:
        """Whom a kernel waits for is noted by the clock."""


class Reached:
    """A signal that is reached from the start."""

    def wait(self) -> None:
        """At once."""

    def span(self) -> tuple[float, float]:
        return no_time()


class Streamed:
    """Copies of nothing."""

    def to_host(self, values: Any, handle: Any, after: Any = None, offset: int = 0) -> Reached:
        return Reached()

    def to_device(self, handle: Any, values: Any, after: Any = None, offset: int = 0) -> Reached:
        return Reached()


def no_time() -> tuple[float, float]:
    """The span of every event."""
    return 0.0, 0.0
