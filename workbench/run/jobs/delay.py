"""The delay of a run by other work on the machine."""

from __future__ import annotations

import numpy as np

HELD_UP = 5.0
"""An iteration that takes more than this many times the median of its run was delayed by other work on the machine."""


def held_up(seconds: np.ndarray) -> tuple[float, np.ndarray]:
    """Seconds on a run's clock by which other work on the machine delayed its iterations, and which these were.

    seconds: a history's column, shape (iterations + 1,). All iterations run the same kernels, so that one that takes
    more than `HELD_UP` times the median has waited for a core or for Python's lock; its excess over the median counts.
    """
    each = np.diff(seconds)
    if not each.size:
        return 0.0, np.empty(0, int)
    median = float(np.median(each))
    late = np.flatnonzero(each > HELD_UP * median)
    return float((each[late] - median).sum()), late + 1
