"""Who reaches a tolerance first in a race, counted in iterations, seconds or bytes."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from workbench.errors import InputError
from workbench.registry import unknown_name
from workbench.run.races import Lane

MEASURES = ("iterations", "seconds", "bytes")


HELD_UP = 5.0
"""An iteration that takes this many times the median of its run was held up by other work on the machine."""


@dataclasses.dataclass(frozen=True)
class Finish:
    """Where a lane first had ||r|| <= tolerance ||b||, by its recurrence.

    iterations until then; amount: in the measure asked for, so iterations, seconds or bytes. setup: the seconds of the
    amount that the setup took, 0 where it is not counted.
    """

    lane: Lane
    iterations: int
    amount: float
    setup: float = 0.0


@dataclasses.dataclass(frozen=True)
class Ranking:
    """finished: the lanes that reached the tolerance, the winner first. open: those that may still come in before it,
    because they have spent less. parted: those whose true residual had parted from the recurrence's by then, so that
    reaching the tolerance says nothing. uncounted: those whose bytes cannot be counted. with_setup: seconds count the
    setup too."""

    tolerance: float
    measure: str
    finished: tuple[Finish, ...]
    open: tuple[Lane, ...]
    parted: tuple[Lane, ...]
    uncounted: tuple[Lane, ...]
    with_setup: bool = True

    @property
    def winners(self) -> tuple[Finish, ...]:
        """The first, and whoever needed exactly as much."""
        return tuple(finish for finish in self.finished if finish.amount == self.finished[0].amount)


def standings(
    lanes: Sequence[Lane], tolerance: float, measure: str = "iterations", *, with_setup: bool = True
) -> Ranking:
    """The order of the lanes at a relative residual, by one of `MEASURES`, as far as they have come.

    with_setup: seconds are those of setup and iterations together, which is what one waits for when a system is solved
    once; without it they are those of the iterations, which is what counts when many follow one setup.

    Raises InputError for another measure, and for a tolerance that is not above 0.
    """
    if measure not in MEASURES:
        raise InputError(unknown_name("measure", measure, MEASURES))
    if not (math.isfinite(tolerance) and tolerance > 0):
        raise InputError(f"the tolerance must be a finite number above 0, got {tolerance}")
    finished, parted, uncounted, running = [], [], [], []
    for lane in lanes:
        # In this order: the history may grow meanwhile, and what was spent must be known at that iteration.
        at = _reached(lane, tolerance)
        setup = lane.run.setup_seconds if lane.run is not None and measure == "seconds" and with_setup else 0.0
        spent = _spent(lane, measure, setup)
        if spent is None:
            uncounted += [lane]
            continue
        if at is None:
            running += [] if lane.ended else [(lane, spent[-1] if spent.size else 0.0)]
        elif _parted(lane, at):
            parted += [lane]
        else:
            finished += [Finish(lane, at, float(spent[at]), setup)]
    finished.sort(key=lambda finish: (finish.amount, finish.lane.number))
    best = finished[0].amount if finished else math.inf
    still = tuple(lane for lane, amount in running if amount < best)
    return Ranking(tolerance, measure, tuple(finished), still, tuple(parted), tuple(uncounted), with_setup)


def held_up_seconds(seconds: np.ndarray) -> float:
    """How much of a run's clock, in s, went to iterations that were held up: what they took beyond the median.

    seconds: a history's column, shape (iterations + 1,). The kernels of an iteration hardly differ from one to the
    next, so that one which takes `HELD_UP` times the median has waited for a core or for Python.
    """
    each = np.diff(seconds)
    if not each.size:
        return 0.0
    median = float(np.median(each))
    return float((each[each > HELD_UP * median] - median).sum())


def _spent(lane: Lane, measure: str, setup: float) -> np.ndarray | None:
    """What was spent up to each iteration, shape (iterations + 1,); None where it cannot be counted. setup: in s."""
    if lane.run is None:
        return np.empty(0)
    if measure == "seconds":
        return setup + lane.run.history["seconds"]
    iterations = np.arange(lane.run.history.count, dtype=np.float64)
    if measure == "iterations":
        return iterations
    return None if lane.iteration_bytes is None else iterations * lane.iteration_bytes


def _reached(lane: Lane, tolerance: float) -> int | None:
    if lane.run is None:
        return None
    norm = lane.run.norm_of_b
    found = np.flatnonzero(lane.run.history["residual"] <= tolerance * (norm if norm > 0 else 1.0))
    return int(found[0]) if found.size else None


def _parted(lane: Lane, at: int) -> bool:
    parted = lane.run.history.residual_gap_at if lane.run is not None else None
    return parted is not None and parted <= at
