"""How long other work on the machine delayed a run."""

from __future__ import annotations

import numpy as np

HELD_UP = 5.0
"""An iteration that takes more than this many times the median of its run was delayed by other work on the machine."""


def held_up_seconds(seconds: np.ndarray) -> float:
    """Seconds on a run's clock by which other work on the machine delayed its iterations.

    seconds: a history's column, shape (iterations + 1,). All iterations run the same kernels, so that one that takes
    more than `HELD_UP` times the median has waited for a core or for Python's lock; its excess over the median counts.
    """
    each = np.diff(seconds)
    if not each.size:
        return 0.0
    median = float(np.median(each))
    return float((each[each > HELD_UP * median] - median).sum())
