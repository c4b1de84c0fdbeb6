"""The ranking of a race: which entry reaches a tolerance first, in iterations, seconds or bytes."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from workbench.errors import InputError
from workbench.registry import unknown_name
from workbench.run.jobs.races import RaceEntry

MEASURES = ("seconds", "iterations", "bytes")


@dataclasses.dataclass(frozen=True)
class Finish:
    """The first iteration of an entry with ||r|| <= tolerance ||b||, by its recurrence.

    amount: spent until then, in the unit of the measure (iterations, seconds or bytes). setup: the seconds of the
    amount that belong to the setup, 0 where it is not counted.
    """

    entry: RaceEntry
    iterations: int
    amount: float
    setup: float = 0.0


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
        """The first finish, and all others with the same amount."""
        return tuple(finish for finish in self.finished if finish.amount == self.finished[0].amount)


def rank(
    entries: Sequence[RaceEntry], tolerance: float, measure: str = "iterations", *, with_setup: bool = True
) -> Ranking:
    """Rank the entries at a relative residual, by one of `MEASURES`, from their histories so far.

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
        setup = entry.run.setup_seconds if entry.run is not None and measure == "seconds" and with_setup else 0.0
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
            finished += [Finish(entry, at, float(spent[at]), setup)]
    finished.sort(key=lambda finish: (finish.amount, finish.entry.number))
    best = finished[0].amount if finished else math.inf
    still = tuple(entry for entry, amount in running if amount < best)
    return Ranking(tolerance, measure, tuple(finished), still, tuple(gaps), tuple(uncounted), tuple(failed), with_setup)


def _spent(entry: RaceEntry, measure: str, setup: float) -> np.ndarray | None:
    """The amount spent up to each iteration, shape (iterations + 1,); None if it is unknown. setup: in s."""
    if entry.run is None:
        return np.empty(0)
    if measure == "seconds":
        return setup + entry.run.history["seconds"]
    iterations = np.arange(entry.run.history.count, dtype=np.float64)
    if measure == "iterations":
        return iterations
    return None if entry.iteration_bytes is None else iterations * entry.iteration_bytes


def _reached(entry: RaceEntry, tolerance: float) -> int | None:
    """The first iteration at the tolerance, None before."""
    if entry.run is None:
        return None
    norm = entry.run.norm_of_b
    found = np.flatnonzero(entry.run.history["residual"] <= tolerance * (norm if norm > 0 else 1.0))
    return int(found[0]) if found.size else None


def _has_gap(entry: RaceEntry, iteration: int) -> bool:
    """True if a residual gap was measured up to an iteration."""
    first = entry.run.history.residual_gap_at if entry.run is not None else None
    return first is not None and first <= iteration
