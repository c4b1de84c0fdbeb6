"""Modelled seconds of an iteration of each schedule, by the bytes that it moves: for choosing one, not a prediction.

Words per unknown of a pass count every vector that it reads or writes once, with element-wise M. The copies of hybrid 3
count as whole halves of m.
"""

from __future__ import annotations

import numpy as np

from workbench.devices.pair.rates import Rates

UPDATES = 20
"""Lines 10 to 17 and 21 in one pass: ten vectors and 1/D read, nine written."""
ALONE = 15
"""The same where u and q = M^-1 s are not stored, and with the dot products: all of pipelined CG but A."""
DOTS = 3
"""w, r and u read."""
HIDING = 10
"""Lines 11, 12, 15 and 16: q, m, s, w, r, u read, four written."""
NEEDING_N = 8
"""Lines 10, 17, 19 and 21: n, z, w, u and 1/D read, three written."""
FIRST_HALF = 14
"""Lines 11 to 16: q, m, s, w, p, u, x, r read, six written."""
SECOND_HALF = 10
"""NEEDING_N, and the result of the local block written and read once more."""
SMALL_KERNELS = 3
"""Launches of an iteration on an accelerator that move few bytes: scalars in, and sums."""


def iteration_seconds(rates: Rates, size: int, dtype: np.dtype) -> dict[str, float]:
    """Seconds of an iteration for size unknowns, by the name of the schedule.

    `pipecg-cpu` is pipelined CG on the cores alone, `pipecg` the same on the accelerator alone.
    """
    word = size * np.dtype(dtype).itemsize

    def cpu(words: float) -> float:
        return rates.cpu_launch + words * word / rates.cpu_bandwidth

    def accelerator(words: float) -> float:
        return rates.accelerator_launch + words * word / rates.accelerator_bandwidth

    def to_host(words: float) -> float:
        return rates.to_host_latency + words * word / rates.to_host_bandwidth

    def to_device(words: float) -> float:
        return rates.to_device_latency + words * word / rates.to_device_bandwidth

    launches = SMALL_KERNELS * rates.accelerator_launch
    product = rates.accelerator_launch + rates.product_accelerator
    hidden = max(to_host(1), cpu(HIDING))
    alone = rates.accelerator_launch if rates.repeated else launches + 2 * rates.accelerator_launch
    far = rates.product_cpu / (rates.product_cpu + rates.product_accelerator)
    near = 1 - far
    halves = max(
        cpu(near * FIRST_HALF) + near * rates.product_cpu * rates.assembled,
        accelerator(far * FIRST_HALF) + far * (rates.accelerator_launch + rates.product_accelerator * rates.assembled),
        to_host(far),
        to_device(near),
    )
    return {
        "pipecg-cpu": rates.product_cpu + cpu(ALONE),
        "pipecg": alone + rates.product_accelerator + ALONE * word / rates.accelerator_bandwidth,
        "hybrid1": launches + accelerator(UPDATES) + max(product, 2 * rates.to_host_latency + to_host(3) + cpu(DOTS)),
        "hybrid2": launches + max(accelerator(UPDATES) + product, hidden + cpu(NEEDING_N)),
        "hybrid3": launches + halves + max(cpu(near * SECOND_HALF), accelerator(far * SECOND_HALF)) + to_host(0),
    }
