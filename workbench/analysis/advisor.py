"""Preconditioner advisor: predictions from coarser grids, then timed solves of the best pairs of levels.

How iterations grow with the grid depends on the second level: with a fixed number of cells per subdomain they stay
about constant; without a second level they double when the mesh width is halved. Pairs are therefore first solved on
grids 4 and 2 times coarser, with the same number of cells per subdomain. Both solves together give the growth, the
iterations and the seconds on the full grid. The pairs with the best predictions are then solved there; a solve is
stopped when it clearly exceeds the best time so far. A problem without a grid is probed only at full size.
"""

from __future__ import annotations

import dataclasses
import html
import math
import time
from collections.abc import Callable, Sequence

import numpy as np

from workbench.analysis.candidates import MULTILEVEL, LevelPair, coarsened, level_pairs
from workbench.errors import InputError
from workbench.problems import LinearSystem, Problem
from workbench.run import Configuration, Result, Run, Stopping, configure

RATIOS = (4, 2)
"""Coarsening ratios of the probing grids, per side."""
MIN_UNKNOWNS_TO_COARSEN = 60_000
"""Smaller problems are probed at full size only."""
CANDIDATES_AFTER = (24, 10)
"""Number of pairs that remain after each coarser grid; the last ones are solved at full size."""
COARSE_TIME_FACTOR = 3.0
"""On coarser grids a solve is stopped at this multiple of the best time so far."""
FULL_TIME_FACTOR = 1.3
"""The same at full size."""
REPEAT_FACTOR = 1.5
"""Pairs within this multiple of the best time are solved a second time; the better of both times counts."""
MIN_SECONDS = 0.05
"""No solve is stopped before this time, since timings this short are unreliable."""
DEFAULT_GROWTH = {"none": 1.0, "stripes": 0.5, "planes": 1.0}
"""Exponent of n in the iterations after one coarse grid only; 0 for a fixed number of cells per subdomain."""
MAX_GROWTH = 1.2


@dataclasses.dataclass(frozen=True)
class Estimate:
    """Iterations and seconds of one pair, `measured` at full size or predicted from a grid of `grid_n` points a side.

    growth: exponent of n in the predicted iterations.
    """

    pair: LevelPair
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
    """Pairs ranked by seconds: measured ones first, then predictions.

    refused: error messages of pairs that cannot be used, by name. probe_seconds: time spent on probing.
    """

    problem: Problem
    estimates: tuple[Estimate, ...]
    refused: dict[str, str]
    probe_seconds: float
    rtol: float

    @property
    def best(self) -> Configuration:
        """The configuration with the first-ranked pair."""
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

    def text(self, max_rows: int = 15) -> str:
        """A table of the best pairs."""
        head = f"{'':3}{'first + second level':34}{'iterations':>11}{'setup':>9}{'iterating':>11}{'total':>9}  basis"
        lines = [f"{self.problem.label}, rtol {self.rtol:g}: probed for {self.probe_seconds:.1f} s", head]
        for rank, row in enumerate(self.estimates[:max_rows], 1):
            how = "measured" if row.measured else f"predicted from n = {row.grid_n}"
            lines.append(
                f"{rank:<3}{row.pair.label:34}{row.iterations:>11.0f}{row.setup_seconds:>7.2f} s"
                f"{row.iteration_seconds:>9.2f} s{row.seconds:>7.2f} s  {how}"
            )
        rest = len(self.estimates) - max_rows
        lines += [f"and {rest} slower pairs"] if rest > 0 else []
        lines += [f"not usable: {name}: {message}" for name, message in self.refused.items()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text())}</pre>"


def advise(
    problem: str | Problem,
    *,
    rtol: float = Stopping.rtol,
    seed: int = 0,
    devices: Sequence[str] = ("cpu",),
    progress: Callable[[str], None] | None = None,
    **parameters: object,
) -> Advice:
    """Rank pairs of levels for a problem by the time of a solve to rtol, setup included.

    problem: a name, a link, a saved file or a `Problem`; of a link or a file only the problem is used. The solver is cg
    and the norm that of the residual. progress: called with one sentence per stage.

    Cost: about ten solves with the best pair. Raises InputError for unknown names and when no pair converges.
    """
    started = time.perf_counter()
    full = configure(problem).problem if isinstance(problem, str) else problem
    full = full.changed(parameters)
    search = _Search(full, full.assemble(seed), Stopping(rtol=rtol), seed)
    candidates = level_pairs(full, search.system, tuple(devices))
    for ratio, count in zip(RATIOS, CANDIDATES_AFTER, strict=True):
        small = coarsened(full, ratio) if search.unknowns >= MIN_UNKNOWNS_TO_COARSEN else None
        if small is None:
            continue
        if progress:
            progress(f"{len(candidates)} pairs on {small.label}")
        search.predict(small, ratio, candidates)
        predicted = [pair for pair in candidates if pair in search.found]
        candidates = sorted(predicted, key=lambda pair: search.found[pair].seconds)[:count]
    if progress:
        progress(f"{len(candidates)} pairs on {full.label}")
    search.measure(candidates)
    if not any(row.measured for row in search.found.values()):
        raise InputError(f"no pair of levels solves {full.label} to rtol {rtol:g}; loosen it, or check the matrix")
    ranked = sorted(search.found.values(), key=lambda row: (not row.measured, row.seconds))
    return Advice(full, tuple(ranked), search.refused, time.perf_counter() - started, rtol)


def configuration_of(problem: Problem, pair: LevelPair, stopping: Stopping, seed: int = 0) -> Configuration:
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


class _Search:
    """Estimates found so far by pair, and error messages of the pairs that cannot be used."""

    def __init__(self, problem: Problem, system: LinearSystem, stopping: Stopping, seed: int) -> None:
        self.problem, self.system, self.stopping, self.seed = problem, system, stopping, seed
        self.unknowns = system.operator.shape[0]
        self.found: dict[LevelPair, Estimate] = {}
        self.refused: dict[str, str] = {}

    def predict(self, small: Problem, ratio: int, candidates: list[LevelPair]) -> None:
        """Estimate pairs from solves on a grid `ratio` times coarser than the full one."""
        try:
            system = small.assemble(self.seed)
        except InputError:
            # A coarse grid may have no cell inside a small bubble.
            return
        best = math.inf
        for pair in candidates:
            coarse = pair.on_coarser_grid(ratio)
            if coarse is None or pair.preconditioner in self.refused or pair.label in self.refused:
                continue
            try:
                # The first setup may compile kernels; only the second one is timed.
                configuration = configuration_of(small, coarse, self.stopping, self.seed)
                Run(configuration, system)
                run, result = _run_for(Run(configuration, system), COARSE_TIME_FACTOR * best)
            except InputError as error:
                self._refuse(pair, error)
                continue
            if result is not None and not result.converged:
                continue
            best = min(best, run.setup_seconds + run.iteration_seconds) if result else best
            self.found[pair] = self._prediction(pair, run, ratio, int(getattr(small, "n", 0)))

    def _prediction(self, pair: LevelPair, run: Run, ratio: int, grid_n: int) -> Estimate:
        """Extrapolate a run on a coarser grid to the full grid; from two grids if the pair has an earlier estimate."""
        needed = _iterations_needed(run)
        earlier = self.found.get(pair)
        growth = DEFAULT_GROWTH.get(pair.deflation, 0.0)
        # A run that was cut off in its first iteration has no rate, and its estimate is infinite.
        if earlier is not None and earlier.grid_n and math.isfinite(earlier.iterations):
            coarsest = earlier.iterations / (RATIOS[0] ** (earlier.growth or 0.0))
            growth = min(MAX_GROWTH, max(0.0, math.log(needed / coarsest) / math.log(grid_n / earlier.grid_n)))
        iterations = needed * ratio**growth
        cells = self.unknowns / run.setup.operator.shape[0]
        per_iteration = run.iteration_seconds / max(1, run.iterations)
        # The fill-in of a factor of E grows faster than the grid; levels do not.
        fill = 1 if pair.coarse == MULTILEVEL else ratio
        coarse_solve = min(per_iteration, _coarse_solve_seconds(run))
        seconds = iterations * cells * (per_iteration - coarse_solve + coarse_solve * fill)
        return Estimate(pair, iterations, run.setup_seconds * cells, seconds, False, grid_n, growth)

    def measure(self, candidates: list[LevelPair]) -> None:
        """Solve at full size with each pair, and a second time with those close to the best."""
        # Full-size results replace predictions, so that `best` and the repeats depend on them alone.
        measured: dict[LevelPair, Estimate] = {}
        best = math.inf
        for pair in candidates:
            if pair.preconditioner in self.refused:
                continue
            try:
                best = self._measure_one(pair, measured, best)
            except InputError as error:
                self._refuse(pair, error)
        # The first solve with a pair may load kernels, and any timing may be disturbed.
        for pair in [pair for pair, row in measured.items() if row.seconds <= REPEAT_FACTOR * best]:
            best = self._measure_one(pair, measured, best)
        self.found |= measured

    def _measure_one(self, pair: LevelPair, measured: dict[LevelPair, Estimate], best: float) -> float:
        """Solve until converged or clearly slower than `best`; return the best time including this solve."""
        configuration = configuration_of(self.problem, pair, self.stopping, self.seed)
        run, result = _run_for(Run(configuration, self.system), FULL_TIME_FACTOR * best)
        if result is None:
            needed = _iterations_needed(run)
            seconds = run.iteration_seconds * needed / max(1, run.iterations)
            grid_n = int(getattr(self.problem, "n", 0)) or None
            measured.setdefault(pair, Estimate(pair, needed, run.setup_seconds, seconds, False, grid_n))
        elif result.converged:
            made = Estimate(pair, result.iterations, run.setup_seconds, run.iteration_seconds, True)
            before = measured.get(pair)
            if before is None or not before.measured or made.seconds < before.seconds:
                measured[pair] = made
            best = min(best, made.seconds)
        return best

    def _refuse(self, pair: LevelPair, error: InputError) -> None:
        self.refused[pair.preconditioner if pair.deflation == "none" else pair.label] = str(error)


def _coarse_solve_seconds(run: Run) -> float:
    """Seconds of one coarse solve, the best of three; 0 without a second level."""
    projection = run.setup.projection
    if projection is None:
        return 0.0
    right = run.setup.device.array(np.ones(projection.count), np.dtype(np.float64))
    times = []
    for _ in range(3):
        started = time.perf_counter()
        projection.coarse_solve(right)
        times.append(time.perf_counter() - started)
    return min(times)


def _run_for(run: Run, seconds: float) -> tuple[Run, Result | None]:
    """Step a run to its end; stop with None as result once setup and iterations have taken `seconds`."""
    while run.step():
        if run.setup_seconds + run.iteration_seconds > max(seconds, MIN_SECONDS):
            return run, None
    return run, run.result()


def _iterations_needed(run: Run) -> float:
    """Iterations to the threshold: those made by a finished run, else extrapolated at the rate so far."""
    norms = run.history[run.configuration.stopping.norm]
    if run.reason is not None:
        return max(1, run.iterations)
    achieved = math.log(max(norms.max(), run.threshold) / max(norms[-1], 1e-300))
    required = math.log(max(norms.max() / run.threshold, 1.0))
    return max(run.iterations, run.iterations * required / achieved if achieved > 0 else math.inf)


def _numbers(row: Estimate) -> dict[str, float | None]:
    names = ("iterations", "setup_seconds", "iteration_seconds", "grid_n")
    return {name: getattr(row, name) for name in names}
