"""The runtime protocol, implemented for OpenCL and CUDA, vectors in device memory, and streams of copies that are
concurrent with the kernels.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from workbench.devices.kernels.kernel_text import KernelText
from workbench.devices.kernels.prelude import Layout

if TYPE_CHECKING:
    Returned = TypeVar("Returned")

Handle = Any
Function = Any


class Runtime(Protocol):
    """One device of one programming interface; one in-order queue of kernels and copies.

    name: as in `--device`. title: name by the driver. largest: bytes of the largest single array, memory: of all
    its memory. Every method raises InputError with a sentence that names the device when its memory is full, and
    DeviceError when it does not answer.
    """

    name: str
    title: str
    layout: Layout
    largest: int
    memory: int
    recording: bool
    """Launches are being recorded, not carried out."""
    multiprocessors: int
    """Multiprocessors whose groups may wait for one another in one launch; 0 where none may."""

    def allocate(self, nbytes: int) -> Handle:
        """Memory that is freed when the handle is dropped; not filled."""
        ...

    def upload(self, handle: Handle, values: np.ndarray) -> None:
        """Copy an array to the start of the memory; it may be changed as soon as the call returns."""
        ...

    def download(self, handle: Handle, values: np.ndarray) -> None:
        """Fill an array from the start of the memory; waits for all work enqueued before."""
        ...

    def copy(self, target: Handle, source: Handle, nbytes: int, *, target_at: int = 0, source_at: int = 0) -> None:
        """Copy on the device, from and to these bytes of the memory."""
        ...

    def part(self, handle: Handle, first: int, nbytes: int) -> Handle | None:
        """A part of the memory as a handle of its own; None where parts may not begin at any byte."""
        ...

    def clear(self, handle: Handle, nbytes: int) -> None:
        """Fill with zeros."""
        ...

    def compile(self, prelude: str, kernel: KernelText) -> Function:
        """A kernel behind its prelude; compiled once."""
        ...

    def launch(
        self,
        function: Function,
        groups: int,
        group: int,
        arguments: tuple[Handle | np.generic, ...],
        *,
        spread: bool = False,
    ) -> None:
        """Enqueue a kernel on handles and NumPy scalars. spread: any smaller number of groups gives the same result."""
        ...

    def resident(self, function: Function, group: int) -> int:
        """Groups of a kernel that run at the same time; 0 where groups must not wait for one another."""
        ...

    def launch_together(
        self, function: Function, groups: int, group: int, arguments: tuple[Handle | np.generic, ...]
    ) -> None:
        """Enqueue a kernel whose groups wait for one another, at most `resident` of them."""
        ...

    def synchronize(self) -> None:
        """Wait for all work."""
        ...

    def flush(self) -> None:
        """Submit the work enqueued so far, without waiting for it."""
        ...

    def pinned(self, nbytes: int) -> np.ndarray:
        """Page-locked host memory, shape (nbytes,), dtype uint8: which copies concurrent with kernels need."""
        ...

    def stream(self) -> Stream:
        """A new stream for copies."""
        ...

    def mark(self) -> Signal:
        """A signal that is reached when all kernels enqueued so far are done."""
        ...

    def hold(self, signal: Any) -> None:
        """Kernels enqueued from now on wait for the signal; the host does not."""
        ...

    def record(self, work: Callable[[], None]) -> Callable[[], None] | None:
        """One call that repeats the launches and copies of `work`, which is not carried out now; None if it cannot be.

        `work` neither allocates nor waits, and its arguments do not change.
        """
        ...

    def repeated(self, work: Callable[[], None], unit: int, scalars: Vector) -> Callable[[int], None] | None:
        """A function of a count (at least 1) that repeats `work`, one iteration on a workspace's scalars; None if it
        cannot be recorded.

        unit: iterations that are recorded together. They may become one persistent kernel instead, whose sums are those
        of separate launches up to rounding.
        """
        ...

    def compile_ahead(self, work: Callable[[], None], texts: tuple[str, ...] = ()) -> None:
        """Run `work`, which does not wait, with launches suppressed: it compiles and allocates.

        texts: its lines, where it may be left out if it was run before for the same lines and the same iteration, which
        `repeated` has just recorded on this thread.
        """
        ...

    def timed(self, work: Callable[[], Returned], name: str) -> tuple[Returned, Span | None]:
        """Run `work`; returns its result, and the span of the work that it enqueued, or None if it enqueued none."""
        ...

    def now(self) -> float:
        """The present time of the device's clock, in seconds, once all work is done."""
        ...


Span = Callable[[], tuple[float, float]]
"""Start and end in seconds of the device's own clock; callable once the work is done."""


class Vector:
    """An array in device memory, C-ordered; freed when dropped."""

    __slots__ = ("__weakref__", "dropped", "dtype", "handle", "shape")

    def __init__(self, handle: Handle, shape: tuple[int, ...], dtype: np.dtype) -> None:
        self.handle, self.shape, self.dtype = handle, shape, dtype
        self.dropped: Callable[[int], None] | None = None
        """Gets the bytes when the vector is dropped: a setup makes hundreds, and finalizers of weak references take
        longer than allocation."""

    def __del__(self) -> None:
        if self.dropped:
            self.dropped(-self.nbytes)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    def __array__(self, *_: object, **__: object) -> np.ndarray:
        raise TypeError("this vector is in device memory; device.to_host(vector) copies it to the host")


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
