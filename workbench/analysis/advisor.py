"""Preconditioner advisor: predictions from coarser grids, then timed solves of the best pairs of levels.

How iterations grow with the grid depends on the second level: with a fixed number of cells per subdomain they stay
about constant; without a second level they double when the mesh width is halved. Pairs are therefore first solved on
two coarser grids, with the same number of cells per subdomain; both solves together give setup, iterations and seconds
per iteration on the full grid (`predictions`). The pairs with the best predictions are then solved there; a solve is
stopped when it clearly exceeds the best time so far. A problem without a grid is probed only at full size. With
`probe_n` nothing is assembled or solved at full size: the ranking is of predictions alone.

`advising` reports each event when it happens, and is cancelled by closing it or by `stopped`; `advise` consumes it.
"""

from __future__ import annotations

import dataclasses
import html
import math
import time
from collections.abc import Callable, Iterator, Sequence

from workbench import devices as machine_devices
from workbench.analysis.candidates import LevelPair, coarsened, level_pairs
from workbench.analysis.predictions import Probe, iterations_needed, predict
from workbench.errors import InputError
from workbench.problems import LinearSystem, Problem
from workbench.run import Configuration, Result, Run, Stopping, configure
from workbench.run.memory_need import checked_need

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


@dataclasses.dataclass(frozen=True)
class Estimate:
    """Iterations and seconds of one pair, `measured` at full size or predicted from a grid of `grid_n` points a side.

    growth: exponent of n in the predicted iterations. probe_ns: points per side of all grids it was probed on.
    """

    pair: LevelPair
    iterations: float
    setup_seconds: float
    iteration_seconds: float
    measured: bool
    grid_n: int | None = None
    growth: float | None = None
    probe_ns: tuple[int, ...] = ()

    @property
    def seconds(self) -> float:
        return self.setup_seconds + self.iteration_seconds

    @property
    def per_iteration(self) -> float:
        """Seconds of one iteration."""
        return self.iteration_seconds / self.iterations if math.isfinite(self.iterations) else math.inf


@dataclasses.dataclass(frozen=True)
class Stage:
    """Candidates are about to be solved on a grid. full: the grid of the problem itself."""

    label: str
    candidates: int
    full: bool


@dataclasses.dataclass(frozen=True)
class Probed:
    """A candidate was solved. probe: its figures there, None at full size. estimate: for the problem itself."""

    estimate: Estimate
    probe: Probe | None


@dataclasses.dataclass(frozen=True)
class RuledOut:
    """A candidate takes no further part. reason: one sentence."""

    pair: LevelPair
    reason: str


@dataclasses.dataclass(frozen=True)
class Ranked:
    """The end of the search."""

    advice: Advice


Event = Stage | Probed | RuledOut | Ranked


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
        head = f"{'':3}{'first + second level':38}{'iterations':>11}{'setup':>9}{'iteration':>11}{'total':>9}  basis"
        lines = [f"{self.problem.label}, rtol {self.rtol:g}: probed for {self.probe_seconds:.1f} s", head]
        for rank, row in enumerate(self.estimates[:max_rows], 1):
            grids = " and ".join(map(str, row.probe_ns or (row.grid_n,)))
            how = "measured" if row.measured else f"predicted from n = {grids}"
            lines.append(
                f"{rank:<3}{row.pair.label:38}{row.iterations:>11.0f}{row.setup_seconds:>7.2f} s"
                f"{1e3 * row.per_iteration:>8.2f} ms{row.seconds:>7.2f} s  {how}"
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
    probe_n: int | None = None,
    progress: Callable[[str], None] | None = None,
    **parameters: object,
) -> Advice:
    """Rank pairs of levels for a problem by the time of a solve to rtol, setup included.

    problem: a name, a link, a saved file or a `Problem`; of a link or a file only the problem is used. The solver is cg
    and the norm that of the residual. probe_n: points per side of the largest grid that is solved on, for predictions
    alone; None also solves with the best pairs at full size. progress: called with one sentence per stage.

    Cost: about ten solves with the best pair. Raises InputError for unknown names and when no pair converges.
    """
    asked = {"rtol": rtol, "seed": seed, "devices": devices, "probe_n": probe_n}
    for event in advising(problem, **asked, **parameters):  # pyright: ignore[reportArgumentType]
        if isinstance(event, Stage) and progress:
            progress(f"{event.candidates} pairs on {event.label}")
        if isinstance(event, Ranked):
            return event.advice
    raise AssertionError("a search that is not cancelled ends with a ranking")


def advising(
    problem: str | Problem,
    *,
    rtol: float = Stopping.rtol,
    seed: int = 0,
    devices: Sequence[str] = ("cpu",),
    probe_n: int | None = None,
    stopped: Callable[[], bool] = lambda: False,
    **parameters: object,
) -> Iterator[Event]:
    """The events of `advise` as they happen; the last one is `Ranked`.

    stopped: cancellation request, tested before each solve; no event follows it.
    """
    started = time.perf_counter()
    full = configure(problem).problem if isinstance(problem, str) else problem
    full = full.changed(parameters)
    ratios = RATIOS if probe_n is None else _ratios(full, probe_n)
    basis, cells = full, 1
    if probe_n is not None:
        basis, cells = full.changed({"n": full.n // ratios[-1]}), ratios[-1]  # pyright: ignore[reportAttributeAccessIssue]
    search = _Search(full, basis.assemble(seed), cells, Stopping(rtol=rtol), seed, stopped)
    candidates = level_pairs(full, search.system, tuple(devices), cells)
    candidates = yield from search.fitting(candidates)
    if not candidates:
        raise InputError(f"no pair of levels fits for {full.label}: {next(iter(search.refused.values()))}")
    for ratio, count in zip(ratios, CANDIDATES_AFTER, strict=True):
        large = search.unknowns >= MIN_UNKNOWNS_TO_COARSEN or probe_n is not None
        small = coarsened(full, ratio) if large else None
        if small is None:
            continue
        yield Stage(small.label, len(candidates), full=False)
        yield from search.probe(small, candidates)
        if stopped():
            return
        kept = sorted((pair for pair in candidates if pair in search.found), key=search.predicted_seconds)[:count]
        candidates = kept if kept or probe_n is not None else candidates
    if probe_n is None:
        yield Stage(full.label, len(candidates), full=True)
        yield from search.measure(candidates)
        if stopped():
            return
    rows = search.found.values()
    if not any(row.measured or probe_n is not None for row in rows):
        raise InputError(f"no pair of levels solves {full.label} to rtol {rtol:g}; loosen it, or check the matrix")
    # Of predictions, those from the larger grid first: the others were left behind there.
    ranked = sorted(rows, key=lambda row: (not row.measured, -(row.grid_n or 0) if probe_n else 0, row.seconds))
    yield Ranked(Advice(full, tuple(ranked), search.refused, time.perf_counter() - started, rtol))


def _ratios(problem: Problem, probe_n: int) -> tuple[int, int]:
    """How many times coarser than the problem the probing grids are. Raises InputError where there are none."""
    n = getattr(problem, "n", None)
    if not isinstance(n, int):
        raise InputError(
            f"problem {problem.name} has no parameter n, and is probed at full size only; leave probe_n out"
        )
    ratio = n // probe_n if probe_n > 0 else 0
    if ratio < 1 or coarsened(problem, 2 * ratio) is None:
        raise InputError(
            f"probe_n must be at least 16, since a grid twice coarser is solved on too, and at most n = {n}, "
            f"got {probe_n}"
        )
    return 2 * ratio, ratio


def configuration_of(problem: Problem, pair: LevelPair, stopping: Stopping, seed: int = 0) -> Configuration:
    """The pair as a configuration to run."""
    return configure(
        problem,
        preconditioner=pair.preconditioner,
        deflation=pair.deflation,
        coarse=pair.coarse,
        device=pair.device,
        precision=pair.precision,
        stopping=stopping,
        seed=seed,
    )


class _Search:
    """Estimates found so far by pair, and error messages of the pairs that cannot be used.

    system: that of the problem, or of the same on a grid `coarser` times coarser.
    """

    def __init__(
        self,
        problem: Problem,
        system: LinearSystem,
        coarser: int,
        stopping: Stopping,
        seed: int,
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        self.problem, self.system, self.stopping, self.seed = problem, system, stopping, seed
        self.stopped = stopped
        self.dimensions = len(system.grid or (1,))
        self.cells = coarser**self.dimensions
        self.unknowns = system.operator.shape[0] * self.cells
        self.found: dict[LevelPair, Estimate] = {}
        self.probes: dict[LevelPair, list[Probe]] = {}
        self.refused: dict[str, str] = {}

    def predicted_seconds(self, pair: LevelPair) -> float:
        """Of the whole solve."""
        return self.found[pair].seconds

    def fitting(self, candidates: list[LevelPair]) -> Iterator[RuledOut]:
        """Rule out what does not fit into the memory of its device; the generator returns the others."""
        kept = []
        for pair in candidates:
            reason = self._refusal(pair)
            if reason:
                yield self._refuse(pair, reason)
            else:
                kept.append(pair)
        return kept  # pyright: ignore[reportReturnType]

    def _refusal(self, pair: LevelPair) -> str:
        """Why a pair does not fit, as a sentence; empty if it does, as far as its memory is known beforehand."""
        try:
            configuration = configuration_of(self.problem, pair, self.stopping, self.seed)
            checked_need(configuration, machine_devices.device(pair.device))
        except InputError as error:
            return str(error)
        return ""

    def probe(self, small: Problem, candidates: list[LevelPair]) -> Iterator[Event]:
        """Estimate pairs from solves on a coarser grid."""
        try:
            system = small.assemble(self.seed)
        except InputError:
            # A coarse grid may have no cell inside a small bubble.
            return
        n, best = int(getattr(small, "n", 0)), math.inf
        ratio = max(1, round(int(getattr(self.problem, "n", n)) / n))
        for pair in candidates:
            if self.stopped():
                return
            coarse = pair.on_coarser_grid(ratio)
            if coarse is None or pair.label in self.refused or self._failed_alone(pair):
                continue
            try:
                # The first setup may compile kernels; only the second one is timed.
                configuration = configuration_of(small, coarse, self.stopping, self.seed)
                Run(configuration, system)
                run, result = _run_for(Run(configuration, system), COARSE_TIME_FACTOR * best)
            except InputError as error:
                yield self._refuse(pair, str(error))
                continue
            if result is not None and not result.converged:
                yield RuledOut(pair, f"does not converge on {small.label}: {result.summary['reason']}")
                continue
            best = min(best, run.setup_seconds + run.iteration_seconds) if result else best
            yield self._predicted(pair, Probe.of(run, n))

    def _predicted(self, pair: LevelPair, probe: Probe) -> Probed:
        """Extrapolate a probe, and one on a coarser grid if there was one, to the full grid."""
        probes = self.probes.setdefault(pair, [])
        probes.append(probe)
        made = predict(pair, probes, int(getattr(self.problem, "n", probe.n)))
        self.found[pair] = Estimate(
            pair,
            made.iterations,
            made.setup_seconds,
            made.iterations * made.per_iteration,
            False,
            probe.n,
            made.growth,
            tuple(each.n for each in probes),
        )
        return Probed(self.found[pair], probe)

    def measure(self, candidates: list[LevelPair]) -> Iterator[Event]:
        """Solve at full size with each pair, and a second time with those close to the best."""
        # Full-size results replace predictions, so that `best` and the repeats depend on them alone.
        measured: dict[LevelPair, Estimate] = {}
        best = math.inf
        for pair in candidates:
            if self.stopped():
                return
            if self._failed_alone(pair):
                continue
            try:
                best = self._measure_one(pair, measured, best)
            except InputError as error:
                yield self._refuse(pair, str(error))
                continue
            if pair in measured:
                yield Probed(measured[pair], None)
        # The first solve with a pair may load kernels, and any timing may be disturbed.
        for pair in [pair for pair, row in measured.items() if row.seconds <= REPEAT_FACTOR * best]:
            if self.stopped():
                return
            best = self._measure_one(pair, measured, best)
            yield Probed(measured[pair], None)
        self.found |= measured

    def _measure_one(self, pair: LevelPair, measured: dict[LevelPair, Estimate], best: float) -> float:
        """Solve until converged or clearly slower than `best`; return the best time including this solve."""
        configuration = configuration_of(self.problem, pair, self.stopping, self.seed)
        run, result = _run_for(Run(configuration, self.system), FULL_TIME_FACTOR * best)
        if result is None:
            needed = iterations_needed(run)
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

    def _refuse(self, pair: LevelPair, reason: str) -> RuledOut:
        self.refused[pair.label] = reason
        return RuledOut(pair, reason)

    def _failed_alone(self, pair: LevelPair) -> bool:
        """Whether the first level of a pair could not be used alone, on the same device and in the same precision."""
        return pair.deflation != "none" and pair.alone.label in self.refused


def _run_for(run: Run, seconds: float) -> tuple[Run, Result | None]:
    """Step a run to its end; stop with None as result once setup and iterations have taken `seconds`."""
    while run.step():
        if run.setup_seconds + run.iteration_seconds > max(seconds, MIN_SECONDS):
            return run, None
    return run, run.result()


def _numbers(row: Estimate) -> dict[str, object]:
    names = ("iterations", "setup_seconds", "iteration_seconds", "per_iteration", "grid_n", "probe_ns")
    return {name: getattr(row, name) for name in names}
