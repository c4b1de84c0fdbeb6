"""The ranking of a race: which entry reaches a tolerance first, in iterations, seconds or bytes.

A time that was measured several times is the median, with an interval that contains it with a probability of 90%.
Two entries whose intervals overlap are too close to call.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from workbench.errors import InputError
from workbench.registry import unknown_name
from workbench.run.jobs.race_entry import RaceEntry

MEASURES = ("seconds", "iterations", "bytes")
UNCERTAIN = 0.1
"""Share by which a time that was measured once, or a few times, may be off: what times of short runs vary by on a quiet
machine."""
LEVEL = 0.9
"""Probability that an interval contains the median."""
DELAYED_FROM = 5.0
"""Multiple of the median time of a run's iterations above which one was delayed by other work on the machine."""


@dataclasses.dataclass(frozen=True)
class Sample:
    """The clock of one more run of an entry. setup: in s. seconds: at each iteration, shape (iterations + 1,)."""

    setup: float
    seconds: np.ndarray

    @property
    def total(self) -> float:
        """Seconds of the setup and all iterations."""
        return self.setup + float(self.seconds[-1])


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


def middle(samples: Sequence[Sample]) -> Sample:
    """The run whose total time is the median, of an even number the faster one of the two in the middle; of at least
    one.

    Examples:
        >>> import numpy as np
        >>> from workbench.run.jobs.ranking import Sample, middle
        >>> middle([Sample(setup, np.array([0.0, 1.0])) for setup in (3.0, 1.0, 2.0)]).setup
        2.0
    """
    ordered = sorted(samples, key=lambda sample: sample.total)
    return ordered[(len(ordered) - 1) // 2]


@dataclasses.dataclass(frozen=True)
class Median:
    """A median, and the interval that contains that of all runs with the probability `LEVEL`; of few numbers it is from
    the least to the largest.

    Examples:
        >>> from workbench.run.jobs.ranking import Median
        >>> Median.of([3.0, 1.0, 2.0, 9.0, 4.0])
        Median(value=3.0, low=1.0, high=9.0, count=5)
    """

    value: float
    low: float
    high: float
    count: int = 1

    @classmethod
    def of(cls, numbers: Sequence[float]) -> Median:
        """The median of at least one number, of an even number the lower one of the two in the middle, so that it is
        always one that was measured. The interval is that of order statistics, whatever the distribution: the
        k-th least and the k-th largest with the largest k for which 1 - 2 P(B < k) >= `LEVEL`, B binomial (n, 1/2)."""
        found, count = sorted(numbers), len(numbers)
        k, outside = 1, 1 / 2**count
        while (outside := outside + math.comb(count, k) / 2**count) <= (1 - LEVEL) / 2:
            k += 1
        return cls(float(found[(count - 1) // 2]), found[k - 1], found[-k], count)

    @property
    def certain(self) -> bool:
        """True if the interval has the probability `LEVEL`, for which it takes some numbers."""
        return 1 - 2 / 2**self.count >= LEVEL

    @property
    def spread(self) -> float:
        """Half the interval over the median; 0 for a median of 0."""
        return (self.high - self.low) / 2 / self.value if self.value > 0 else 0.0

    def close_to(self, other: Median) -> bool:
        """True if the credible intervals overlap: the order of the two is not known."""
        one, two = self._credible, other._credible
        return one[0] <= two[1] and two[0] <= one[1]

    @property
    def _credible(self) -> tuple[float, float]:
        if self.certain:
            return self.low, self.high
        # A few numbers may agree by chance; of one the interval is a point.
        return min(self.value * (1 - UNCERTAIN), self.low), max(self.value * (1 + UNCERTAIN), self.high)


@dataclasses.dataclass(frozen=True)
class Finish:
    """The first iteration of an entry with ||r|| <= tolerance ||b||, by its recurrence.

    amount: spent until then, in the unit of the measure (iterations, seconds or bytes); of seconds the median of the
    runs. setup: the seconds of the amount that belong to the setup, 0 where it is not counted. times: the median with
    its interval, where seconds were measured several times. run: the one of them whose amount is that median.
    """

    entry: RaceEntry
    iterations: int
    amount: float
    setup: float = 0.0
    times: Median | None = None
    run: Sample | None = None

    def close_to(self, other: Finish, measure: str) -> bool:
        """True if their intervals overlap: the order of the two is not known. Iterations and bytes are exact."""
        if measure != "seconds":
            return self.amount == other.amount
        one, two = (each.times or Median.of([each.amount]) for each in (self, other))
        return one.close_to(two)


@dataclasses.dataclass(frozen=True)
class Ranking:
    """The order of the entries of a race at a tolerance.

    finished: the entries that reached the tolerance, the winner first. open: entries that have not ended and have spent
    less than the winner, so that they may still be first; those that ended above the tolerance are in no list.
    residual_gap: entries with a residual gap at that iteration, where reaching the tolerance means nothing. uncounted:
    entries whose bytes are unknown. failed: entries that an error or a cancellation ended before. with_setup: seconds
    include the setup.
    """

    tolerance: float
    measure: str
    finished: tuple[Finish, ...]
    open: tuple[RaceEntry, ...]
    residual_gap: tuple[RaceEntry, ...]
    uncounted: tuple[RaceEntry, ...]
    failed: tuple[RaceEntry, ...] = ()
    with_setup: bool = True

    @property
    def winners(self) -> tuple[Finish, ...]:
        """The first finish, and all others that are too close to it to call."""
        return tuple(finish for finish in self.finished if finish.close_to(self.finished[0], self.measure))


Samples = Mapping[RaceEntry, Sequence[Sample]]
"""The later runs of entries."""


def timed_runs(found: Ranking, samples: Samples) -> dict[RaceEntry, Sample]:
    """By entry that was run again, the run whose clock stands for it: that of its median time to the tolerance; where
    seconds do not decide, or it did not reach the tolerance, that of its median total time."""
    ranked = {finish.entry: finish.run for finish in found.finished if finish.run is not None}
    return {entry: middle(runs) for entry, runs in samples.items() if runs} | ranked


def rank(
    entries: Sequence[RaceEntry],
    tolerance: float,
    measure: str = "iterations",
    *,
    with_setup: bool = True,
    samples: Samples | None = None,
) -> Ranking:
    """Rank the entries at a relative residual, by one of `MEASURES`, from their histories so far.

    samples: of entries that were run again, see `workbench.run.jobs.repeats`; seconds are then their medians, without
    the first run, whose setup loads kernels.

    with_setup: seconds are those of setup and iterations, the time to solution of a single system; without it they are
    those of the iterations, which decide where many systems share one setup.

    Raises InputError for another measure, and for a tolerance that is not finite and above 0.
    """
    if measure not in MEASURES:
        raise InputError(unknown_name("measure", measure, MEASURES))
    if not (math.isfinite(tolerance) and tolerance > 0):
        raise InputError(f"the tolerance must be a finite number above 0, got {tolerance}")
    finished, gaps, uncounted, running, failed = [], [], [], [], []
    for entry in entries:
        # In this order: the history may grow meanwhile, and the amount must be known at that iteration.
        at = _reached(entry, tolerance)
        setup = entry.made.setup_seconds if entry.made is not None and measure == "seconds" and with_setup else 0.0
        if at is None and entry.error:
            failed += [entry]
            continue
        spent = _spent(entry, measure, setup)
        if spent is None:
            uncounted += [entry]
            continue
        if at is None:
            running += [] if entry.ended else [(entry, spent[-1] if spent.size else 0.0)]
        elif _has_gap(entry, at):
            gaps += [entry]
        else:
            more = (samples or {}).get(entry, ()) if measure == "seconds" else ()
            finished += [_finish(entry, at, float(spent[at]), setup, more, with_setup=with_setup)]
    finished.sort(key=lambda finish: (finish.amount, finish.entry.number))
    best = finished[0].amount if finished else math.inf
    still = tuple(entry for entry, amount in running if amount < best)
    return Ranking(tolerance, measure, tuple(finished), still, tuple(gaps), tuple(uncounted), tuple(failed), with_setup)


def _finish(
    entry: RaceEntry, at: int, amount: float, setup: float, more: Sequence[Sample], *, with_setup: bool
) -> Finish:
    if not more:
        return Finish(entry, at, amount, setup)
    # Where sums are added in another order, a run may take an iteration less.
    amounts = [
        (sample.setup if with_setup else 0.0) + float(sample.seconds[min(at, sample.seconds.size - 1)])
        for sample in more
    ]
    times = Median.of(amounts)
    run = more[amounts.index(times.value)]
    return Finish(entry, at, times.value, run.setup if with_setup else 0.0, times, run)


def _spent(entry: RaceEntry, measure: str, setup: float) -> np.ndarray | None:
    """The amount spent up to each iteration, shape (iterations + 1,); None if it is unknown. setup: in s."""
    if entry.made is None:
        return np.empty(0)
    if measure == "seconds":
        return setup + entry.made.history["seconds"]
    iterations = np.arange(entry.made.history.count, dtype=np.float64)
    if measure == "iterations":
        return iterations
    return None if entry.iteration_bytes is None else iterations * entry.iteration_bytes


def _reached(entry: RaceEntry, tolerance: float) -> int | None:
    """The first iteration at the tolerance, None before."""
    if entry.made is None:
        return None
    norm = entry.made.norm_of_b
    found = np.flatnonzero(entry.made.history["residual"] <= tolerance * (norm if norm > 0 else 1.0))
    return int(found[0]) if found.size else None


def _has_gap(entry: RaceEntry, iteration: int) -> bool:
    """True if a residual gap was measured up to an iteration."""
    first = entry.made.history.residual_gap_at if entry.made is not None else None
    return first is not None and first <= iteration
