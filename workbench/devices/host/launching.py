"""The launch latency of a kernel: one that runs on all cores and touches a few words."""

from __future__ import annotations

import statistics
import time

import numpy as np

from workbench.compiler.words import shared, threads
from workbench.jit.compiled import kernel
from workbench.jit.threads import WORTH_SHARING, cores, launch

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
