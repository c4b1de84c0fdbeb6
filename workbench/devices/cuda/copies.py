"""Copies in a separate CUDA stream, and of large host arrays through two page-locked buffers.

CUDA copies pageable memory on one thread, at a tenth of the speed of the bus. Here all cores copy to or from one buffer
while the other one is transferred.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.devices.host.memory import copy_bytes

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


CHUNK = 8 << 20
"""Bytes of a buffer: a transfer of 0.2 ms, of which the start of the cores is a small part."""
LEAST = 2 << 20
"""Bytes of the smallest array that is copied so; for a smaller one the start of the cores takes too long."""


class Staging:
    """Two buffers of one device, for one thread at a time; transfers are in a stream, in the order of its kernels."""

    def __init__(self, cupy: ModuleType, stream: Any) -> None:
        cuda = cupy.cuda
        self._runtime, self._stream = cuda.runtime, stream
        self._buffers = [np.frombuffer(cuda.alloc_pinned_memory(CHUNK), np.uint8, CHUNK) for _ in range(2)]
        self._transferred = [cuda.Event(disable_timing=True) for _ in range(2)]

    def upload(self, pointer: int, values: np.ndarray) -> None:
        """Copy a contiguous array to device memory; the last transfers may be under way when it returns."""
        source, kind = _as_bytes(values), self._runtime.memcpyHostToDevice
        for number, low in enumerate(range(0, source.size, CHUNK)):
            part = source[low : low + CHUNK]
            room, transferred = self._buffers[number % 2][: part.size], self._transferred[number % 2]
            transferred.synchronize()
            copy_bytes(part, room)
            self._transfer(pointer + low, room.ctypes.data, part.size, kind, transferred)

    def download(self, pointer: int, values: np.ndarray) -> None:
        """Fill a contiguous array from device memory; waits for the kernels before."""
        target, kind = _as_bytes(values), self._runtime.memcpyDeviceToHost
        lows = range(0, target.size, CHUNK)
        for number in range(len(lows) + 1):
            if number < len(lows):
                size = min(CHUNK, target.size - lows[number])
                room, transferred = self._buffers[number % 2], self._transferred[number % 2]
                self._transfer(room.ctypes.data, pointer + lows[number], size, kind, transferred)
            if number:
                part = target[lows[number - 1] : lows[number - 1] + CHUNK]
                self._transferred[(number - 1) % 2].synchronize()
                copy_bytes(self._buffers[(number - 1) % 2][: part.size], part)

    def _transfer(self, target: int, source: int, nbytes: int, kind: int, transferred: Any) -> None:
        self._runtime.memcpyAsync(target, source, nbytes, kind, self._stream.ptr)
        transferred.record(self._stream)


def _as_bytes(values: np.ndarray) -> np.ndarray:
    return values.reshape(-1).view(np.uint8)
