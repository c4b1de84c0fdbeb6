"""Solves at full size in a search of the advisor: which pairs are solved, how long, and how often.

The candidates are solved once. Then the neighbours of the best, which differ from it in one parameter by a step, until
no neighbour is better; then estimates that stand far off two measured neighbours. The fastest pairs are solved again in
turns until the medians of their times are known, so that other work on the machine disturbs all alike. A budget of time
ends all of it.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from workbench.advise.advice import Estimate, Event, Probed, RuledOut, Stage
from workbench.advise.budget import Budget
from workbench.advise.level_pairs import LevelPair, coarse_solver_of
from workbench.advise.predictions import iterations_needed, seconds_of_an_iteration
from workbench.errors import InputError
from workbench.run import Result, Run
from workbench.run.jobs.ranking import Median
from workbench.run.jobs.repeats import BUDGET, is_known
from workbench.settings import AUTO

FULL_TIME_FACTOR = 1.3
"""At full size a solve is stopped at this multiple of the best time so far."""
REPEAT_FACTOR = 1.5
"""Pairs within this multiple of the best time are solved again."""
SURE_AFTER = 3
"""Solves of a pair after which the interval of its time decides whether it is solved again."""
OFF = 3.0
"""Largest ratio of an estimate to the times of its two nearest measured neighbours, and its inverse the smallest."""
MOST_CONTENDERS = 10
"""Pairs with the best estimates; those near the best time are solved too."""
MIN_SECONDS = 0.05
"""No solve is stopped before this time, since timings this short are unreliable."""
LOADING = 1.0
"""Seconds of a first setup, below which it is made again before it rules a pair out."""
LEAST_MEASURED = 3
"""Pairs that are measured at least, where as many converge: the best then has rivals."""
MOST_STOPS = 3
"""Solves of a pair that were stopped, after which it is not solved again."""
BY_ONE = ("neumann", "chebyshev")
"""First levels whose parameter is an order, with a step of 1; other numbers are doubled or halved."""


class Timed(NamedTuple):
    """A solve that converged: seconds of setup and iterations, and the number of iterations."""

    setup: float
    iterating: float
    iterations: int

    @property
    def seconds(self) -> float:
        """Seconds of the whole solve."""
        return self.setup + self.iterating


def neighbours(pair: LevelPair, dimensions: int) -> list[LevelPair]:
    """The pairs whose order, or number of blocks per side, is a step away; those that do not exist are among them."""
    found = []
    for kind, name, value in _numbered(pair):
        for other in (value - 1, value + 1) if name in BY_ONE else (value // 2, value * 2):
            if other >= 1 and other != value:
                made = dataclasses.replace(pair, **{kind: f"{name}:{other}"})
                by_count = kind == "deflation" and pair.coarse != AUTO
                coarse = coarse_solver_of(other, dimensions) if by_count else pair.coarse
                found.append(dataclasses.replace(made, coarse=coarse))
    return found


def nearest(pair: LevelPair, measured: Mapping[LevelPair, Estimate]) -> Iterator[tuple[Estimate, Estimate]]:
    """For each parameter of a pair the two measured pairs that differ in it alone and least."""
    for kind, name, value in _numbered(pair):
        line = _line(pair, kind, name)
        found = [
            (abs(math.log(at / value)), row)
            for other, row in measured.items()
            if other != pair
            for of_kind, of_name, at in _numbered(other)
            if of_kind == kind and _line(other, of_kind, of_name) == line
        ]
        if len(found) > 1:
            (_, first), (_, second) = sorted(found, key=lambda entry: (entry[0], entry[1].pair))[:2]
            yield first, second


def bounds(pair: LevelPair, measured: Mapping[LevelPair, Estimate]) -> tuple[float, float]:
    """The least and the largest credible seconds of an estimate, by the measured neighbours of the pair."""
    low, high = 0.0, math.inf
    for two in nearest(pair, measured):
        times = [row.seconds for row in two]
        low, high = max(low, min(times) / OFF), min(high, OFF * max(times))
    return low, high


def _numbered(pair: LevelPair) -> list[tuple[str, str, int]]:
    """The levels that are a name and a number: of each its kind, name and number."""
    levels = (("preconditioner", pair.preconditioner), ("deflation", pair.deflation))
    parts = [(kind, *text.partition(":")) for kind, text in levels]
    return [(kind, name, int(value)) for kind, name, _, value in parts if value.isdecimal()]


def _line(pair: LevelPair, kind: str, name: str) -> LevelPair:
    """The pair without the number of one level, the same for all pairs that differ in it alone."""
    coarse = "" if kind == "deflation" else pair.coarse
    return dataclasses.replace(dataclasses.replace(pair, **{kind: name}), coarse=coarse)


class Measuring:
    """The solves at full size. begin: makes the run of a pair; raises InputError for one that cannot be used.

    label, dimensions: of the problem. found: the estimates of all pairs, from coarser grids; pairs that cannot be used
    are removed. `rows` are those at full size. refuse: called with a pair that cannot be used and the reason. budget:
    once it is spent and a pair has converged, no solve begins, and one in progress is stopped. Cost: see `advise`.
    """

    def __init__(
        self,
        begin: Callable[[LevelPair], Run],
        label: str,
        dimensions: int,
        found: dict[LevelPair, Estimate],
        refuse: Callable[[LevelPair, str], RuledOut],
        stopped: Callable[[], bool],
        budget: Budget | None = None,
    ) -> None:
        self._begin, self._label, self._dimensions = begin, label, dimensions
        self._found, self._refuse = found, refuse
        self._budget = budget or Budget()
        # One pair is solved to its end in any case.
        self._stopped = lambda: stopped() or bool(self._timed and self._budget.left <= 0)
        self.rows: dict[LevelPair, Estimate] = {}
        self._timed: dict[LevelPair, list[Timed]] = {}
        self._stops: dict[LevelPair, int] = {}
        """The pairs that were tried, and how often their solves were stopped."""
        self._left = BUDGET

    def all(self, candidates: Sequence[LevelPair]) -> Iterator[Event]:
        """Solve with the candidates, and with the pairs and as often as their times ask for."""
        yield from self._once(candidates)
        while self._timed and not self._stopped():
            if pairs := self._neighbours_of_best():
                yield self._stage(pairs, "neighbours of the best")
                yield from self._once(pairs)
            elif pairs := self._far_off():
                yield self._stage(pairs, "estimates far from their neighbours")
                yield from self._once(pairs, to_bounds=True)
            elif pairs := self._rivals():
                yield self._stage(pairs, "rivals of the best")
                yield from self._once(pairs, to_bounds=True)
            elif pairs := self._unknown():
                yield self._stage(pairs, "the fastest again, in turns")
                yield from self._again(pairs)
            else:
                return

    @property
    def tried(self) -> frozenset[LevelPair]:
        """The pairs that were tried."""
        return frozenset(self._stops)

    @property
    def best(self) -> Estimate | None:
        """The fastest pair that was measured."""
        return min(self._measured.values(), key=lambda row: row.seconds, default=None)

    @property
    def _best_seconds(self) -> float:
        return self.best.seconds if self.best else math.inf

    @property
    def _measured(self) -> dict[LevelPair, Estimate]:
        return {pair: row for pair, row in self.rows.items() if row.measured}

    def _stage(self, pairs: Sequence[LevelPair], doing: str) -> Stage:
        return Stage(self._label, len(pairs), full=True, doing=doing)

    def _neighbours_of_best(self) -> list[LevelPair]:
        """Pairs not solved yet: a step of a parameter from the best, another first level that may be as fast, and
        estimates near the best time."""
        best = self.best
        assert best is not None
        found = neighbours(best.pair, self._dimensions)
        alike = dataclasses.replace(best.pair, preconditioner="")
        near = [pair for pair, row in self._found.items() if row.seconds <= OFF * best.seconds]
        found += [pair for pair in near if dataclasses.replace(pair, preconditioner="") == alike]
        contenders = sorted(near, key=lambda pair: self._found[pair].seconds)[:MOST_CONTENDERS]
        found += [pair for pair in contenders if self._found[pair].seconds <= FULL_TIME_FACTOR * best.seconds]
        untried = [pair for pair in dict.fromkeys(found) if pair not in self._stops]
        # What was stopped may have been disturbed.
        again = [
            pair
            for pair, row in self.rows.items()
            if 0 < self._stops[pair] < MOST_STOPS
            and not row.measured
            and row.seconds <= FULL_TIME_FACTOR * best.seconds
        ]
        return untried + again

    def _far_off(self) -> list[LevelPair]:
        """The pairs with estimates that no measured neighbours support."""
        measured = self._measured
        found = []
        for pair, row in {**self._found, **self.rows}.items():
            low, high = bounds(pair, measured)
            if not (row.measured or row.at_least or low <= row.seconds <= high):
                found.append(pair)
        return found

    def _rivals(self) -> list[LevelPair]:
        """The pair with the best estimate, while few are measured: other work may have stopped the others."""
        open_rows = [row for row in {**self._found, **self.rows}.values() if not (row.measured or row.at_least)]
        few = len(self._measured) < LEAST_MEASURED and open_rows
        return [min(open_rows, key=lambda row: row.seconds).pair] if few else []

    def _unknown(self) -> list[LevelPair]:
        """The pairs to solve again: those near the best whose median is not known, as long as the time suffices; each
        is solved a second time."""
        best = self.best
        assert best is not None
        near = [
            pair
            for pair, row in self._measured.items()
            if (
                row.seconds <= REPEAT_FACTOR * best.seconds
                if len(self._timed[pair]) < SURE_AFTER
                else row.close_to(best)
            )
        ]
        # The setup of the first solve may load kernels.
        if second := [pair for pair in near if len(self._timed[pair]) == 1]:
            return second
        unknown = [pair for pair in near if not is_known([each.seconds for each in self._timed[pair][1:]])]
        return unknown if sum(self.rows[pair].seconds for pair in unknown) <= self._left else []

    def _once(self, pairs: Sequence[LevelPair], *, to_bounds: bool = False) -> Iterator[Event]:
        for pair in pairs:
            if self._stopped():
                return
            self._stops.setdefault(pair, 0)
            limit = FULL_TIME_FACTOR * self._best_seconds
            if to_bounds:
                # What stands alone is given as long as what two neighbours that are as fast as the best support.
                high = bounds(pair, self._measured)[1]
                limit = high if math.isfinite(high) else OFF * self._best_seconds
            yield self._tried(pair, limit, ends=to_bounds)

    def _tried(self, pair: LevelPair, limit: float, *, ends: bool = False) -> Event:
        """Solve as `_solve`; a pair that cannot be used, or does not converge, is dropped."""
        try:
            failed = self._solve(pair, limit, ends=ends)
        except InputError as error:
            self._drop(pair)
            return self._refuse(pair, str(error))
        if failed:
            self._drop(pair)
            return RuledOut(pair, f"does not converge on {self._label}: {failed}")
        return Probed(self.rows[pair], None)

    def _drop(self, pair: LevelPair) -> None:
        """Forget a pair that cannot be used."""
        self._found.pop(pair, None)
        self.rows.pop(pair, None)
        self._timed.pop(pair, None)

    def _again(self, pairs: Sequence[LevelPair]) -> Iterator[Event]:
        for pair in pairs:
            if self._stopped():
                return
            first = len(self._timed[pair]) == 1
            yield self._tried(pair, math.inf)
            # The second solve of each pair is no part of the budget: large problems have it too.
            if not first and pair in self._timed:
                self._left -= self._timed[pair][-1].seconds

    def _solve(self, pair: LevelPair, limit: float, *, ends: bool = False) -> str:
        """Solve until converged, or until the limit in s; returns why it did not converge. ends: the time at the limit
        is then all that is known."""
        run = self._begin(pair)
        if limit < run.setup_seconds < LOADING and not self._stops[pair]:
            # The first setup with a block imports it and loads its kernels.
            run = self._begin(pair)
        left = self._budget.left if self._timed else math.inf
        run, result = run_for(run, min(limit, run.setup_seconds + left))
        if result is None:
            self._stops[pair] += 1
            self.rows[pair] = self._stopped_row(pair, run)
            if ends:
                row = self.rows[pair]
                self.rows[pair] = dataclasses.replace(
                    row, iteration_seconds=run.iteration_seconds, setup_seconds=run.setup_seconds, at_least=True
                )
        elif result.converged:
            made = Timed(run.setup_seconds, run.iteration_seconds, result.iterations)
            self._budget.note(made.seconds)
            self._timed.setdefault(pair, []).append(made)
            self.rows[pair] = _row(pair, self._timed[pair], run.setup.deflation_vectors)
        else:
            return str(result.summary["reason"])
        return ""

    def _stopped_row(self, pair: LevelPair, run: Run) -> Estimate:
        """The estimate of a solve that was stopped: its time so far, and its own time for each iteration that is left
        to those that coarser grids predict, or else to those at its rate so far."""
        known = self._found.get(pair)
        needed = max(run.iterations, known.iterations) if known else iterations_needed(run)
        seconds = run.iteration_seconds + seconds_of_an_iteration(run) * (needed - run.iterations)
        vectors = run.setup.deflation_vectors
        return Estimate(pair, needed, run.setup_seconds, seconds, False, stopped_at=run.iterations, vectors=vectors)


def run_for(run: Run, seconds: float) -> tuple[Run, Result | None]:
    """Step a run to its end; stop with None as result once setup and iterations have taken `seconds`."""
    while run.step():
        if run.setup_seconds + run.iteration_seconds > max(seconds, MIN_SECONDS):
            return run, None
    return run, run.result()


def _row(pair: LevelPair, timed: Sequence[Timed], vectors: int) -> Estimate:
    """The median by seconds of the solves after the first, whose setup may load kernels. Both parts are those of the
    same solve: a median of each for itself may have a setup that is longer than the whole. vectors: of deflation."""
    counted = timed[1:] or timed
    seconds = [each.seconds for each in counted]
    times = Median.of(seconds)
    made = counted[seconds.index(times.value)]
    return Estimate(pair, made.iterations, made.setup, made.iterating, True, times=times, vectors=vectors)
