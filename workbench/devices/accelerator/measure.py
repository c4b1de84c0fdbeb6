"""Measured bandwidth, launch latency and copy rates of an accelerator."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from workbench.devices.accelerator.device import Accelerator

if TYPE_CHECKING:
    from workbench.devices.accelerator.runtime import Handle

LAUNCHES = 500
ROUNDS = 9
SMALL = 8
"""Bytes of a copy that measures latency."""


def triad_bandwidth(device: Accelerator, elements: int) -> float:
    """Bytes per second of a = b + 3 c over vectors of double precision, 24 bytes per element; median of rounds."""
    vectors = {name: device.zeros(elements, np.dtype(np.float64)) for name in "abc"}
    space = device.workspace(elements, np.dtype(np.float64), vectors=vectors)
    (triad,) = space.lines("a = b + 3*c")
    return triad.bytes / _seconds(device, triad, 5)


def launch_latency(device: Accelerator) -> float:
    """Seconds per launch of an almost empty kernel, of many in a row."""
    scalars = device.scalars(1, np.dtype(np.float64))
    return _seconds(device, lambda: device.write_scalar(scalars, 0, 1.0), LAUNCHES)


def copy_to_device(device: Accelerator, nbytes: int) -> tuple[float, float]:
    """Bytes per second of a large copy from pinned host memory, and seconds of a tiny one."""
    return _copy(device, device.runtime.upload, nbytes)


def copy_to_host(device: Accelerator, nbytes: int) -> tuple[float, float]:
    """Bytes per second of a large copy to pinned host memory, and seconds of a tiny one."""
    return _copy(device, device.runtime.download, nbytes)


def _copy(device: Accelerator, copy: Callable[[Handle, np.ndarray], None], nbytes: int) -> tuple[float, float]:
    handle = device.runtime.allocate(nbytes)
    large, small = device.runtime.pinned(nbytes), device.runtime.pinned(SMALL)
    large[:], small[:] = 1, 1
    latency = _seconds(device, lambda: copy(handle, small), 20)
    seconds = _seconds(device, lambda: copy(handle, large), 1)
    return nbytes / max(seconds - latency, 1e-12), latency


def _seconds(device: Accelerator, work: Callable[[], object], repeats: int) -> float:
    """Seconds of one call: the median of rounds, after some to warm up."""
    for _ in range(5):
        work()
    found = []
    for _ in range(ROUNDS):
        device.runtime.synchronize()
        begun = time.perf_counter()
        for _ in range(repeats):
            work()
        device.runtime.synchronize()
        found.append((time.perf_counter() - begun) / repeats)
    return statistics.median(found)
