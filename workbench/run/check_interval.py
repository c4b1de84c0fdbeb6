"""How many iterations an accelerator makes before the host looks at their norms again."""

from __future__ import annotations

import math

import numpy as np

GROWTH = 4
"""Far from the target a batch is this many times as long as the one before: few looks, whenever the run ends."""
SECONDS = 0.02
"""Longer batches gain nothing: a look takes a quarter of a millisecond. Pictures and the turns of a race come between
two looks, and should not wait."""


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
    """Iterations until the next look.

    norms: of all iterations so far, the start included, shape (count,). target: the norm at which the host wants to
    look. before: the length of the last batch, 0 at the start. seconds: what an iteration takes, 0 where that is not
    known. may_end_in: iterations after which the run may end for another reason; these are not exceeded.

    The device stops by itself at the iteration that meets the target, so a batch that is too long costs launches that
    do nothing, and one that is too short costs a look more. So a batch reaches to where the norm would meet the target
    if it kept falling as fast as it ever did on average, in whole multiples of `least`: CG converges faster towards
    its end, and looking too early costs less there than the launches.
    """
    longest = min(most, GROWTH * before if before else least, remaining(norms, target, before))
    if seconds > 0:
        longest = min(longest, SECONDS / seconds)
    whole = max(least, int(longest) // least * least)
    return int(max(1, min(whole, may_end_in)))


def remaining(norms: np.ndarray, target: float, window: int) -> float:
    """Iterations until a norm meets the target at the fastest of three average rates, inf where it does not fall.

    The rates are those of the last `window` iterations, of the second half of all and of all of them. Cost: three looks
    at the array, however long it is.
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
