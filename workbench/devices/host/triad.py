"""The memory bandwidth of the processor, by a triad a = b + s c or an update a = a + s b on arrays that no cache holds.

The update shows what the bus moves: it needs the cache lines of its target, which a triad reads only to overwrite them.
The launch latency is that of a kernel that runs on all cores and touches a few words.
"""

from __future__ import annotations

import dataclasses
import statistics
import time

import numpy as np

from workbench.compiler.words import shared, threads
from workbench.jit.compiled import Kernel, kernel
from workbench.jit.threads import WORTH_SHARING, chunks_of, cores, launch

LAUNCHES = 2000


@kernel()
def _almost_empty(taken, a):
    for thread in threads(taken):
        for k in shared(taken, thread, a.size):
            a[k] += 1.0


def launch_latency(launches: int = LAUNCHES) -> float:
    """Seconds of one such launch, the median. Kernels under 131072 elements use one core and cost less."""
    a = np.zeros(cores())
    launch(WORTH_SHARING, _almost_empty, a)
    times = []
    for _ in range(launches):
        start = time.perf_counter()
        launch(WORTH_SHARING, _almost_empty, a)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


BYTES_PER_ELEMENT = 24
"""Two reads and one write of a float64. The read of the target's cache line before it is written is not counted."""

DEFAULT_ARRAY_BYTES = 128 << 20
MINIMAL_REPEATS = 5


@dataclasses.dataclass(frozen=True)
class Triad:
    """Bandwidths in bytes per second, counted without write-allocate; `array_bytes` is the size of each of 3 arrays."""

    median: float
    best: float
    repeats: int
    array_bytes: int
    threads: int


@kernel()
def _triad(taken, a, b, c, chunks):
    n = a.size
    for thread in threads(taken):
        for k in shared(taken, thread, chunks):
            A = a[n * k // chunks : n * (k + 1) // chunks]
            B = b[n * k // chunks : n * (k + 1) // chunks]
            C = c[n * k // chunks : n * (k + 1) // chunks]
            for i in range(A.size):
                A[i] = B[i] + 3.0 * C[i]


@kernel()
def _update(taken, a, b, c, chunks):
    n = a.size
    for thread in threads(taken):
        for k in shared(taken, thread, chunks):
            A = a[n * k // chunks : n * (k + 1) // chunks]
            B = b[n * k // chunks : n * (k + 1) // chunks]
            for i in range(A.size):
                A[i] = A[i] + 1e-9 * B[i]


# First touch: each thread writes the part that it will use first, which places it in the memory of its processor.
@kernel()
def _touch(taken, a, b, c, chunks):
    n = a.size
    for thread in threads(taken):
        for k in shared(taken, thread, chunks):
            A = a[n * k // chunks : n * (k + 1) // chunks]
            B = b[n * k // chunks : n * (k + 1) // chunks]
            C = c[n * k // chunks : n * (k + 1) // chunks]
            for i in range(A.size):
                A[i] = 0.0
                B[i] = 1.0
                C[i] = 2.0


def triad_bandwidth(seconds: float = 0.5, array_bytes: int = DEFAULT_ARRAY_BYTES) -> Triad:
    """Run the triad on all threads for about `seconds`, at least 5 times.

    `array_bytes` should be several times the last-level cache; three such arrays are allocated for the time being.
    Costs 2 s more the first time on a machine, for compiling. Raises MemoryError where the arrays do not fit.
    """
    return _bandwidth(_triad, seconds, array_bytes)


def update_bandwidth(seconds: float = 0.5, array_bytes: int = DEFAULT_ARRAY_BYTES) -> Triad:
    """Run the update as `triad_bandwidth` runs the triad; both move 24 bytes per element."""
    return _bandwidth(_update, seconds, array_bytes)


def _bandwidth(kernel: Kernel, seconds: float, array_bytes: int) -> Triad:
    a, b, c = (np.empty(max(1, array_bytes // 8)) for _ in range(3))
    chunks = chunks_of(a.size)
    launch(a.size, _touch, a, b, c, chunks)
    launch(a.size, kernel, a, b, c, chunks)
    times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < MINIMAL_REPEATS or time.perf_counter() < end:
        start = time.perf_counter()
        launch(a.size, kernel, a, b, c, chunks)
        times.append(time.perf_counter() - start)
    moved = BYTES_PER_ELEMENT * a.size
    return Triad(moved / statistics.median(times), moved / min(times), len(times), a.nbytes, cores())
