"""Copies of large host arrays through two page-locked buffers.

CUDA copies pageable memory on one thread, at a tenth of the speed of the bus. Here all cores copy to or from one buffer
while the other one is transferred.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.devices.host.copies import copy_bytes

if TYPE_CHECKING:
    from types import ModuleType

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
