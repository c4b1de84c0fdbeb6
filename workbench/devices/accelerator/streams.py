"""What runs beside the kernels of an accelerator: copies in streams of their own, and the points where work waits."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np


class Signal(Protocol):
    """A point in the work of a device: it is reached when all that was asked for before it is done."""

    def wait(self) -> None:
        """The calling thread waits until the point is reached."""
        ...

    def span(self) -> tuple[float, float]:
        """Of a copy: start and end in seconds of the device's own clock, once it is done."""
        ...


class Stream(Protocol):
    """Copies in the order in which they are asked for, at the same time as kernels and as copies of other streams.

    Calls return at once. The host's arrays must be contiguous, page-locked for the copy to be truly beside the
    kernels, and left alone until the signal is reached; so must the memory of the device. `after` is a signal of the
    same runtime; `offset` counts bytes from the start of device memory.
    """

    def to_host(self, values: np.ndarray, handle: Any, after: Any = None, offset: int = 0) -> Signal:
        """Fill an array from device memory, not before `after` is reached."""
        ...

    def to_device(self, handle: Any, values: np.ndarray, after: Any = None, offset: int = 0) -> Signal:
        """Copy an array to device memory, not before `after` is reached."""
        ...
