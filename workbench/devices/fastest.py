"""The fastest device of this machine, by a triad on each, measured once."""

from __future__ import annotations

import functools
import time

import numpy as np

from workbench.errors import InputError

SIZE = 1 << 23
"""Elements of a vector, 64 MiB: more than most caches hold."""
REPEATS = 5
WORTH = 1.2
"""Minimal speedup over cpu: PoCL computes on the same cores, and noise should not decide."""


@functools.cache
def fastest() -> str:
    """The device with the highest bandwidth; cpu unless another is `WORTH` times as fast. Costs two seconds, once."""
    measured = {name: bandwidth(name) for name in ("cpu", "opencl", "cuda")}
    best = max(measured, key=lambda name: measured[name])
    return best if measured[best] > WORTH * measured["cpu"] else "cpu"


def bandwidth(name: str, size: int = SIZE) -> float:
    """Bytes per second of a = b + s c with a sum of a; 0 where the device cannot be used."""
    from workbench.devices import device

    try:
        made = device(name)
        vectors = {letter: made.zeros(size, np.dtype(np.float64)) for letter in "abc"}
        space = made.workspace(size, np.dtype(np.float64), vectors=vectors)
        (triad,) = space.lines("s = 3\na = b + s*c\ng = (a, c)")
        times = []
        for _ in range(1 + REPEATS):
            begun = time.perf_counter()
            triad()
            space.scalar("g")
            times.append(time.perf_counter() - begun)
    except (InputError, MemoryError):
        return 0.0
    return triad.bytes / min(times[1:])
