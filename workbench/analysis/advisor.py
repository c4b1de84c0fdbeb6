"""Which preconditioner? `advise` tries all pairs of levels on coarser grids, the best ones on the problem itself.

A pair's iterations grow with the grid in a way that depends on its second level: with as many cells per subdomain they
stay about the same, without a second level they double when the mesh width halves. So pairs are first solved on grids
that are 4 and 2 times coarser, with subdomains of as many cells; from both follow growth, iterations and seconds on the
problem's own grid. The pairs with the best predictions are then run there, each until it is clear that it is not the
best. A problem without a grid is probed as it is.
"""

from __future__ import annotations

import dataclasses
import html
import math
import time
from collections.abc import Callable, Sequence

import numpy as np

from workbench.analysis.candidates import Pair, coarser, pairs
from workbench.errors import InputError
from workbench.problems import LinearSystem, Problem
from workbench.run import Configuration, Result, Run, Stopping, configure

RATIOS = (4, 2)
WORTH_COARSENING = 60_000
"""Unknowns from which on coarser grids are asked first."""
KEPT = (24, 10)
"""Pairs that stay after each coarser grid; the last ones are run on the problem itself."""
PATIENCE = 3.0
"""On coarser grids a pair ends when it has taken this many times as long as the best so far."""
CLEARLY_WORSE = 1.3
"""On the problem itself a pair ends when it has taken this many times as long."""
CLOSE = 1.5
"""Pairs that come this near to the best are run once more, and count with the better of both times."""
SHORTEST = 0.05
"""Seconds below which no pair is ended: too short to tell."""
GROWTH_GUESSED = {"none": 1.0, "stripes": 0.5, "planes": 1.0}
"""Exponent of n in the iterations while only one coarse grid was asked; 0 for subdomains of as many cells."""
STEEPEST = 1.2


@dataclasses.dataclass(frozen=True)
class Estimate:
    """One pair: iterations and seconds, `measured` on the problem itself or predicted from grids of `grid_n` points a
    side."""

    pair: Pair
    iterations: float
    setup_seconds: float
    iteration_seconds: float
    measured: bool
    grid_n: int | None = None
    growth: float | None = None

    @property
    def seconds(self) -> float:
        return self.setup_seconds + self.iteration_seconds


@dataclasses.dataclass(frozen=True)
class Advice:
    """Pairs ranked by seconds: first those that were run, then those that were only predicted.

    refused: pairs that cannot be used here, with the sentence why. probe_seconds: what the advice cost.
    """

    problem: Problem
    estimates: tuple[Estimate, ...]
    refused: dict[str, str]
    probe_seconds: float
    rtol: float

    @property
    def best(self) -> Configuration:
        """The configuration to run."""
        return configuration_of(self.problem, self.estimates[0].pair, Stopping(rtol=self.rtol))

    def to_dict(self) -> dict[str, object]:
        """Plain data for JSON."""
        rows = [
            {**dataclasses.asdict(row.pair), **_numbers(row), "seconds": row.seconds, "measured": row.measured}
            for row in self.estimates
        ]
        return {
            "problem": self.problem.to_dict(),
            "rtol": self.rtol,
            "pairs": rows,
            "refused": self.refused,
            "probe_seconds": self.probe_seconds,
        }

    def text(self, most: int = 15) -> str:
        """A table of the best pairs."""
        head = f"{'':3}{'first + second level':34}{'iterations':>11}{'setup':>9}{'iterating':>11}{'total':>9}  basis"
        lines = [f"{self.problem.label}, rtol {self.rtol:g}: probed for {self.probe_seconds:.1f} s", head]
        for place, row in enumerate(self.estimates[:most], 1):
            how = "measured" if row.measured else f"predicted from n = {row.grid_n}"
            lines.append(
                f"{place:<3}{row.pair.label:34}{row.iterations:>11.0f}{row.setup_seconds:>7.2f} s"
                f"{row.iteration_seconds:>9.2f} s{row.seconds:>7.2f} s  {how}"
            )
        rest = len(self.estimates) - most
        lines += [f"and {rest} slower pairs"] if rest > 0 else []
        lines += [f"left out: {name}: {sentence}" for name, sentence in self.refused.items()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text())}</pre>"


def advise(
    problem: str | Problem,
    *,
    rtol: float = Stopping.rtol,
    seed: int = 0,
    devices: Sequence[str] = ("cpu",),
    tell: Callable[[str], None] | None = None,
    **parameters: object,
) -> Advice:
    """Rank the pairs of levels for a problem by the time of a whole solve to rtol, setup included.

    Of a link or a saved file only the problem is taken: the method is cg, and the norm that of the residual. Cost:
    some ten solves with the best pair. tell is called with a sentence per stage. Raises InputError for unknown
    names, and when no pair solves the problem.
    """
    begun = time.perf_counter()
    whole = configure(problem).problem if isinstance(problem, str) else problem
    whole = whole.changed(parameters)
    system = whole.assemble(seed)
    size = system.operator.shape[0]
    left = pairs(whole, system, tuple(devices))
    refused: dict[str, str] = {}
    found: dict[Pair, Estimate] = {}
    for ratio, kept in zip(RATIOS, KEPT, strict=True):
        small = coarser(whole, ratio) if size >= WORTH_COARSENING else None
        if small is None:
            continue
        if tell:
            tell(f"{len(left)} pairs on {small.label}")
        found |= _ask_coarse(small, whole, left, ratio, Stopping(rtol=rtol), seed, size, refused, found)
        left = sorted((pair for pair in left if pair in found), key=lambda pair: found[pair].seconds)[:kept]
    if tell:
        tell(f"{len(left)} pairs on {whole.label}")
    found |= _ask_whole(whole, system, left, Stopping(rtol=rtol), seed, refused)
    if not any(row.measured for row in found.values()):
        raise InputError(f"no pair of levels solves {whole.label} to rtol {rtol:g}; loosen it, or check the matrix")
    ranked = sorted(found.values(), key=lambda row: (not row.measured, row.seconds))
    return Advice(whole, tuple(ranked), refused, time.perf_counter() - begun, rtol)


def configuration_of(problem: Problem, pair: Pair, stopping: Stopping, seed: int = 0) -> Configuration:
    """The pair as a configuration to run."""
    return configure(
        problem,
        preconditioner=pair.preconditioner,
        deflation=pair.deflation,
        coarse=pair.coarse,
        device=pair.device,
        stopping=stopping,
        seed=seed,
    )


def _ask_coarse(
    small: Problem,
    whole: Problem,
    left: list[Pair],
    ratio: int,
    stopping: Stopping,
    seed: int,
    size: int,
    refused: dict[str, str],
    before: dict[Pair, Estimate],
) -> dict[Pair, Estimate]:
    """Predictions from a grid that is `ratio` times coarser, from two grids where `before` has the other one's."""
    try:
        system = small.assemble(seed)
    except InputError:
        # Small bubbles may hold no cell of a coarse grid; then the next finer one has to tell.
        return {}
    cells = size / system.operator.shape[0]
    grid_n = int(getattr(small, "n", 0))
    found: dict[Pair, Estimate] = {}
    best = math.inf
    for pair in left:
        coarse = pair.on_coarser_grid(ratio)
        if coarse is None or pair.preconditioner in refused or pair.label in refused:
            continue
        try:
            # The first setup may have to compile; the second tells what setup costs.
            configuration = configuration_of(small, coarse, stopping, seed)
            Run(configuration, system)
            run, ended = _until(Run(configuration, system), PATIENCE * best)
        except InputError as sentence:
            refused[pair.preconditioner if pair.deflation == "none" else pair.label] = str(sentence)
            continue
        if ended is not None and not ended.converged:
            continue
        needed = _iterations_needed(run)
        best = min(best, run.setup_seconds + run.iteration_seconds) if ended else best
        earlier = before.get(pair)
        growth = GROWTH_GUESSED.get(pair.deflation, 0.0)
        if earlier is not None and earlier.grid_n:
            there = earlier.iterations / (RATIOS[0] ** (earlier.growth or 0.0))
            growth = min(STEEPEST, max(0.0, math.log(needed / there) / math.log(grid_n / earlier.grid_n)))
        iterations = needed * ratio**growth
        each = run.iteration_seconds / max(1, run.iterations)
        # A factor of E fills in faster than the grid grows.
        solving = min(each, _coarse_seconds(run))
        seconds = iterations * cells * (each - solving + solving * ratio)
        found[pair] = Estimate(pair, iterations, run.setup_seconds * cells, seconds, False, grid_n, growth)
    return found


def _ask_whole(
    whole: Problem, system: LinearSystem, left: list[Pair], stopping: Stopping, seed: int, refused: dict[str, str]
) -> dict[Pair, Estimate]:
    """Runs on the problem itself, each until it has converged or clearly takes longer than the best."""
    found: dict[Pair, Estimate] = {}
    best = math.inf

    def ask(pair: Pair) -> None:
        nonlocal best
        run, ended = _until(Run(configuration_of(whole, pair, stopping, seed), system), CLEARLY_WORSE * best)
        if ended is None:
            needed = _iterations_needed(run)
            seconds = run.iteration_seconds * needed / max(1, run.iterations)
            grid_n = int(getattr(whole, "n", 0)) or None
            found.setdefault(pair, Estimate(pair, needed, run.setup_seconds, seconds, False, grid_n))
        elif ended.converged:
            made = Estimate(pair, ended.iterations, run.setup_seconds, run.iteration_seconds, True)
            before = found.get(pair)
            found[pair] = made if before is None or not before.measured or made.seconds < before.seconds else before
            best = min(best, made.seconds)

    for pair in left:
        if pair.preconditioner in refused:
            continue
        try:
            ask(pair)
        except InputError as sentence:
            refused[pair.preconditioner if pair.deflation == "none" else pair.label] = str(sentence)
    # The first run of a pair may load kernels, and any run may be disturbed.
    for pair in [pair for pair, row in found.items() if row.seconds <= CLOSE * best]:
        ask(pair)
    return found


def _coarse_seconds(run: Run) -> float:
    """What one coarse solve takes, 0 without a second level."""
    projection = run.setting.projection
    if projection is None:
        return 0.0
    right = run.setting.device.array(np.ones(projection.count), np.dtype(np.float64))
    times = []
    for _ in range(3):
        begun = time.perf_counter()
        projection.coarse_solve(right)
        times.append(time.perf_counter() - begun)
    return min(times)


def _until(run: Run, seconds: float) -> tuple[Run, Result | None]:
    """Step a run to its end, or until it has taken that long with its setup; then there is no result."""
    while run.step():
        if run.setup_seconds + run.iteration_seconds > max(seconds, SHORTEST):
            return run, None
    return run, run.result()


def _iterations_needed(run: Run) -> float:
    """The iterations to the threshold: those made, or more at the rate so far."""
    norms = run.history[run.configuration.stopping.norm]
    if run.reason is not None:
        return max(1, run.iterations)
    fallen = math.log(max(norms.max(), run.threshold) / max(norms[-1], 1e-300))
    whole = math.log(max(norms.max() / run.threshold, 1.0))
    return max(run.iterations, run.iterations * whole / fallen if fallen > 0 else math.inf)


def _numbers(row: Estimate) -> dict[str, float | None]:
    names = ("iterations", "setup_seconds", "iteration_seconds", "grid_n")
    return {name: getattr(row, name) for name in names}
