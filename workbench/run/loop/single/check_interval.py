"""The check interval: how many iterations an accelerator makes before the host reads their norms."""

from __future__ import annotations

import math

import numpy as np

from workbench.records import History
from workbench.run.choices.stopping import Stopping

GROWTH = 4
"""Largest ratio of two consecutive intervals; geometric growth keeps the checks few, however long the run is."""
CHECK_SECONDS = 0.25e-3
"""Seconds of a check, and of the iterations by which an interval may be too long or too short."""
SECONDS = 0.02
"""Longest interval, in seconds. Compared with a check, longer ones gain nothing, and snapshots and time slices of a
race wait for the end of an interval."""
LONGEST_SECONDS = 0.05
"""Seconds that one interval may take in any case: cancellation requests are served between intervals."""


def next_interval(
    norms: np.ndarray,
    target: float,
    *,
    before: int,
    least: int,
    most: int,
    seconds: float,
    may_end_in: float = math.inf,
    stops: bool = False,
) -> int:
    """Iterations until the next check of the norms.

    norms: of all iterations so far, the start included, shape (count,). target: the norm at which the host checks
    the true residual. before: the length of the last interval, 0 at the start. seconds: of one iteration, 0 if unknown.
    may_end_in: iterations after which the run may end for another reason, an upper bound of the result. stops: whether
    nothing is launched after the iteration that meets the target.

    The device stops by itself at the iteration that meets the target, so an interval that is too long costs empty
    launches, and one that is too short costs one check more. An interval therefore ends where the norm would meet the
    target at the fastest average rate so far, rounded down to multiples of `least`: CG converges faster towards its
    end, where an early check costs less than the launches. Iterations that take longer are counted more closely.
    """
    longest = most
    if not stops:
        longest = min(most, GROWTH * before if before else least, remaining(norms, target, before))
    if seconds > 0:
        longest = min(longest, SECONDS / seconds)
        least = max(1, int(min(least, CHECK_SECONDS / seconds)))
    whole = max(least, int(longest) // least * least)
    return int(max(1, min(whole, may_end_in)))


def remaining(norms: np.ndarray, target: float, recent: int) -> float:
    """Iterations until a norm meets the target at the fastest of three average rates, inf where it does not fall.

    The rates are those of the last `recent` iterations, of the second half of all and of all of them. Cost: three
    entries of the array, whatever its length.
    """
    last = norms.size - 1
    if last < 1 or not 0 < target < norms[-1] < math.inf:
        return 0.0 if last >= 1 and norms[-1] <= target else math.inf
    rates = [
        math.log(norms[place] / norms[-1]) / (last - place)
        for place in {max(0, last - max(1, recent)), last // 2, 0}
        if place < last and 0 < norms[place] < math.inf
    ]
    fastest = max(rates, default=0.0)
    return math.log(norms[-1] / target) / fastest if fastest > 0 else math.inf


class CheckInterval:
    """The lengths of the intervals of one run: iterations between two checks of its norms.

    limit: iterations at most. least: what intervals are multiples of. length, seconds: of the last interval, and of one
    of its iterations. stops: see `next_interval`. expected: iterations of a similar run, 0 where there was none.
    """

    def __init__(self, stopping: Stopping, limit: int, least: int, *, stops: bool = False, expected: int = 0) -> None:
        self._stopping, self._limit, self._least, self._stops = stopping, limit, least, stops
        self._expected = expected
        self.length, self.seconds = 0, 0.0

    def note(self, length: int, seconds: float) -> None:
        """Record the last interval."""
        self.length, self.seconds = length, seconds

    def next(
        self, history: History, target: float, best: int, *, longest: int, most: int | None, elapsed: float
    ) -> int:
        """The length of the next interval: 1 at the start, never beyond the iteration limit or a due true residual.

        target: the norm at which the true residual is measured next. best: the iteration of the smallest norm. longest:
        what the device can make at once. most: an upper bound of the caller's. elapsed: iteration time so far, in s.
        """
        if history.count == 0:
            return 1
        iterations = history.count - 1
        every = longest if most is None else min(most, longest)
        # An explicit check_every is kept as it is.
        if not self._stopping.check_every and every > 1:
            every = min(every, self._adapted(history, target, best, longest, elapsed))
            if self.seconds * every > LONGEST_SECONDS:
                every = int(LONGEST_SECONDS / self.seconds)
        often = self._stopping.true_every
        until_measured = often - iterations % often if often else every
        return max(1, min(every, until_measured, self._limit - iterations))

    def _adapted(self, history: History, target: float, best: int, longest: int, elapsed: float) -> int:
        """Iterations until the norm may be near its target, or until the run may end for another reason."""
        iterations, limit = history.count - 1, self._stopping.max_seconds
        stalled = best + self._stopping.stagnation + 1 - iterations
        if self._expected and not iterations and not self._stops:
            # An iteration more costs empty launches, one too few another check.
            longest = min(longest, self._expected + 1)
        left = (limit - elapsed) / self.seconds if limit is not None and self.seconds > 0 else math.inf
        return next_interval(
            history[self._stopping.norm],
            target,
            before=self.length if iterations else 0,
            least=self._least,
            most=longest,
            seconds=self.seconds,
            may_end_in=min(stalled, left),
            stops=self._stops,
        )
