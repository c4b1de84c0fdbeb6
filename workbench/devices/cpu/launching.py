"""The launch latency of a kernel: one that runs on all cores and touches a few words."""

from __future__ import annotations

import statistics
import time

import numpy as np

from workbench.devices.cpu.compiled import kernel
from workbench.devices.cpu.threads import WORTH_SHARING, cores, launch
from workbench.devices.cpu.work_stealing import lanes, shared

LAUNCHES = 2000


@kernel()
def _next_to_nothing(turns, a):
    for lane in lanes(turns):
        for k in shared(turns, lane, a.size):
            a[k] += 1.0


def launch_latency(launches: int = LAUNCHES) -> float:
    """Seconds of one such launch, the median. Kernels under 131072 elements use one core and cost less."""
    a = np.zeros(cores())
    launch(WORTH_SHARING, _next_to_nothing, a)
    times = []
    for _ in range(launches):
        start = time.perf_counter()
        launch(WORTH_SHARING, _next_to_nothing, a)
        times.append(time.perf_counter() - start)
    return statistics.median(times)
