"""A runtime that executes nothing: an `Accelerator` over it plans its programs and counts launches."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from workbench.devices.accelerator.runtime import Span
from workbench.devices.kernels.kernel_text import KernelText
from workbench.devices.kernels.prelude import Layout

if TYPE_CHECKING:
    from workbench.devices.clock import Returned


class ShapeOnlyRuntime:
    """The runtime protocol without memory, compiler or work. In its clock every launch takes one second.

    Thus the span of an event is the number of its launches, and only what launches belongs to the accelerator.
    """

    name = title = "dry run"
    layout = Layout("opencl", group=256, finish=256, chunked=False, least=1024, groups=1024)
    largest = memory = 1 << 62
    recording = False
    multiprocessors = 0

    def __init__(self) -> None:
        self.launched = 0

    def allocate(self, nbytes: int) -> object:
        return object()

    def upload(self, handle: object, values: np.ndarray) -> None:
        """No memory to fill."""

    def download(self, handle: object, values: np.ndarray) -> None:
        """No memory to read: the array keeps its entries."""

    def copy(self, target: object, source: object, nbytes: int, *, target_at: int = 0, source_at: int = 0) -> None:
        """No memory to copy."""

    def part(self, handle: object, first: int, nbytes: int) -> object:
        return object()

    def clear(self, handle: object, nbytes: int) -> None:
        """No memory to clear."""

    def compile(self, prelude: str, kernel: KernelText) -> object:
        return object()

    def launch(
        self, function: object, groups: int, group: int, arguments: tuple[object, ...], *, spread: bool = False
    ) -> None:
        self.launched += 1

    def resident(self, function: object, group: int) -> int:
        return 0

    def launch_together(self, function: object, groups: int, group: int, arguments: tuple[object, ...]) -> None:
        self.launched += 1

    def timed(self, work: Callable[[], Returned], name: str) -> tuple[Returned, Span | None]:
        before = self.launched
        returned = work()
        launches = self.launched - before
        return returned, (lambda: (0.0, float(launches))) if launches else None

    def now(self) -> float:
        return time.perf_counter()

    def synchronize(self) -> None:
        """All work is done at once."""

    def flush(self) -> None:
        """No work is queued."""

    def pinned(self, nbytes: int) -> np.ndarray:
        """Real memory; only the scalars, which are few, are copied to it."""
        return np.zeros(nbytes, np.uint8)

    def stream(self) -> ShapeOnlyStream:
        return ShapeOnlyStream()

    def mark(self) -> Reached:
        return Reached()

    def hold(self, signal: object) -> None:
        """The clock records what a kernel waits for."""

    def record(self, work: Callable[[], None]) -> None:
        """Nothing can be recorded."""

    def repeated(self, work: Callable[[], None], unit: int, scalars: object) -> None:
        """Nothing can be recorded."""

    def compile_ahead(self, work: Callable[[], None], texts: tuple[str, ...] = ()) -> None:
        """No compiler."""


class Reached:
    """A signal that is reached from the start."""

    def wait(self) -> None:
        """Return at once."""

    def span(self) -> tuple[float, float]:
        return 0.0, 0.0


class ShapeOnlyStream:
    """A stream whose copies do nothing."""

    def to_host(self, values: np.ndarray, handle: object, after: object = None, offset: int = 0) -> Reached:
        return Reached()

    def to_device(self, handle: object, values: np.ndarray, after: object = None, offset: int = 0) -> Reached:
        return Reached()
