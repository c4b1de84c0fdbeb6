"""Copy streams and signals, concurrent with the kernels of an accelerator."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np


class Signal(Protocol):
    """A point in the work of a device, reached when all work enqueued before it is done (an event)."""

    def wait(self) -> None:
        """Block the calling thread until the point is reached."""
        ...

    def span(self) -> tuple[float, float]:
        """Start and end of a copy in seconds of the device's own clock, once it is done."""
        ...


class Stream(Protocol):
    """An in-order queue of copies, concurrent with kernels and with copies of other streams.

    Calls return at once. The host's arrays must be contiguous, page-locked for the copy to overlap with kernels, and
    unchanged until the signal is reached; so must the memory of the device. `after` is a signal of the
    same runtime; `offset` counts bytes from the start of device memory.
    """

    def to_host(self, values: np.ndarray, handle: Any, after: Any = None, offset: int = 0) -> Signal:
        """Fill an array from device memory, not before `after` is reached."""
        ...

    def to_device(self, handle: Any, values: np.ndarray, after: Any = None, offset: int = 0) -> Signal:
        """Copy an array to device memory, not before `after` is reached."""
        ...
