"""The delay of a run by other work on the machine."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

DELAYED_FROM = 5.0
"""Multiple of the median time of a run's iterations above which one was delayed by other work on the machine."""


class Delay(NamedTuple):
    """The seconds that a run lost to other work on the machine, and the numbers of the iterations that lost them."""

    seconds: float
    iterations: np.ndarray


def delay(clock: np.ndarray) -> Delay:
    """The delay of a run by other work on the machine.

    clock: seconds since the start of the run, the column of a history, shape (iterations + 1,). All iterations run the
    same kernels, so that one that takes more than `DELAYED_FROM` times the median has waited for a core or for Python's
    lock; its excess over the median is lost.
    """
    durations = np.diff(clock)
    if not durations.size:
        return Delay(0.0, np.empty(0, int))
    median = float(np.median(durations))
    late = np.flatnonzero(durations > DELAYED_FROM * median)
    return Delay(float((durations[late] - median).sum()), late + 1)
