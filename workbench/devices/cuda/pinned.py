"""Copies between the host's pages and a CUDA device, through pinned memory, in the order of the device's own stream."""

from __future__ import annotations

from typing import Any

import numpy as np

BLOCK = 4 << 20
"""Bytes of one of the two pinned blocks: enough for the link's full speed, and soon filled."""


class Staging:
    """Two pinned blocks: while one is on the link, the host fills or empties the other. Not for two threads at once."""

    def __init__(self, cupy: Any, stream: Any) -> None:
        self._cuda, self._stream = cupy.cuda, stream
        self._memory = [cupy.cuda.alloc_pinned_memory(BLOCK) for _ in range(2)]
        self._blocks = [np.frombuffer(memory, np.uint8, BLOCK) for memory in self._memory]
        self._passed = [cupy.cuda.Event(disable_timing=True) for _ in range(2)]

    def upload(self, address: int, values: np.ndarray) -> None:
        """Copy to the device; the array may be changed as soon as this returns."""
        runtime, flat = self._cuda.runtime, _bytes_of(values)
        for number, start in enumerate(range(0, flat.size, BLOCK)):
            side, part = number % 2, flat[start : start + BLOCK]
            # What lay in the block may still be under way, also from the copy before this one.
            self._passed[side].synchronize()
            self._blocks[side][: part.size] = part
            self._send(address + start, self._memory[side].ptr, part.size, runtime.memcpyHostToDevice, side)

    def download(self, address: int, values: np.ndarray) -> None:
        """Copy from the device, once all work before is done; returns when the array is filled."""
        runtime, flat = self._cuda.runtime, _bytes_of(values)
        starts = range(0, flat.size, BLOCK)
        for number, start in enumerate(starts):
            side, size = number % 2, min(BLOCK, flat.size - start)
            if number > 1:
                self._take(flat, starts[number - 2], side)
            self._send(self._memory[side].ptr, address + start, size, runtime.memcpyDeviceToHost, side)
        for number in range(max(0, len(starts) - 2), len(starts)):
            self._take(flat, starts[number], number % 2)

    def _send(self, target: int, source: int, size: int, kind: int, side: int) -> None:
        self._cuda.runtime.memcpyAsync(target, source, size, kind, self._stream.ptr)
        self._passed[side].record(self._stream)

    def _take(self, flat: np.ndarray, start: int, side: int) -> None:
        """Empty a block into its place once the copy has passed."""
        self._passed[side].synchronize()
        part = flat[start : start + BLOCK]
        part[:] = self._blocks[side][: part.size]


def _bytes_of(values: np.ndarray) -> np.ndarray:
    """A view of a contiguous array as bytes."""
    return values.reshape(-1).view(np.uint8)
