"""Copies in a separate CUDA stream."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from types import ModuleType

    from workbench.devices.accelerator.runtime import Handle

Guard = Callable[[], AbstractContextManager[None]]


class CudaSignal:
    """An event of CUDA, and for a copy the one at its start."""

    def __init__(self, event: Any, guarded: Guard, seconds: Callable[[Any], float], start: Any = None) -> None:
        self.event = event
        self._guarded, self._seconds, self._start = guarded, seconds, start or event

    def wait(self) -> None:
        with self._guarded():
            self.event.synchronize()

    def span(self) -> tuple[float, float]:
        with self._guarded():
            return self._seconds(self._start), self._seconds(self.event)


class CudaStream:
    """A non-blocking stream for copies, next to that for kernels."""

    def __init__(self, cupy: ModuleType, guarded: Guard, seconds: Callable[[Any], float]) -> None:
        self._cuda, self._guarded, self._seconds = cupy.cuda, guarded, seconds
        with guarded():
            self._stream = cupy.cuda.Stream(non_blocking=True)

    def to_host(
        self, values: np.ndarray, handle: Handle, after: CudaSignal | None = None, offset: int = 0
    ) -> CudaSignal:
        kind = self._cuda.runtime.memcpyDeviceToHost
        return self._copy(values.ctypes.data, handle.data.ptr + offset, values.nbytes, kind, after)

    def to_device(
        self, handle: Handle, values: np.ndarray, after: CudaSignal | None = None, offset: int = 0
    ) -> CudaSignal:
        kind = self._cuda.runtime.memcpyHostToDevice
        return self._copy(handle.data.ptr + offset, values.ctypes.data, values.nbytes, kind, after)

    def _copy(self, target: int, source: int, nbytes: int, kind: int, after: CudaSignal | None) -> CudaSignal:
        with self._guarded():
            start, end = self._cuda.Event(), self._cuda.Event()
            if after:
                self._stream.wait_event(after.event)
            start.record(self._stream)
            self._cuda.runtime.memcpyAsync(target, source, nbytes, kind, self._stream.ptr)
            end.record(self._stream)
        return CudaSignal(end, self._guarded, self._seconds, start)
