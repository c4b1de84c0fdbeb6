"""The check interval: how many iterations an accelerator makes before the host reads their norms."""

from __future__ import annotations

import math

import numpy as np

GROWTH = 4
"""Largest ratio of two consecutive batches; geometric growth keeps the checks few, however long the run is."""
SECONDS = 0.02
"""Longest batch, in seconds. A check takes 0.25 ms, so that longer ones gain nothing, and snapshots and time slices
of a race wait for the end of a batch."""


def next_batch(
    norms: np.ndarray,
    target: float,
    *,
    before: int,
    least: int,
    most: int,
    seconds: float,
    may_end_in: float = math.inf,
) -> int:
    """Iterations until the next check of the norms.

    norms: of all iterations so far, the start included, shape (count,). target: the norm at which the host checks
    the true residual. before: the length of the last batch, 0 at the start. seconds: of one iteration, 0 if unknown.
    may_end_in: iterations after which the run may end for another reason, an upper bound of the result.

    The device stops by itself at the iteration that meets the target, so a batch that is too long costs empty launches,
    and one that is too short costs one check more. A batch therefore ends where the norm would meet the target at the
    fastest average rate so far, rounded down to multiples of `least`: CG converges faster towards its end, where an
    early check costs less than the launches.
    """
    longest = min(most, GROWTH * before if before else least, remaining(norms, target, before))
    if seconds > 0:
        longest = min(longest, SECONDS / seconds)
    whole = max(least, int(longest) // least * least)
    return int(max(1, min(whole, may_end_in)))


def remaining(norms: np.ndarray, target: float, window: int) -> float:
    """Iterations until a norm meets the target at the fastest of three average rates, inf where it does not fall.

    The rates are those of the last `window` iterations, of the second half of all and of all of them. Cost: three
    entries of the array, whatever its length.
    """
    last = norms.size - 1
    if last < 1 or not 0 < target < norms[-1] < math.inf:
        return 0.0 if last >= 1 and norms[-1] <= target else math.inf
    rates = [
        math.log(norms[place] / norms[-1]) / (last - place)
        for place in {max(0, last - max(1, window)), last // 2, 0}
        if place < last and 0 < norms[place] < math.inf
    ]
    fastest = max(rates, default=0.0)
    return math.log(norms[-1] / target) / fastest if fastest > 0 else math.inf
