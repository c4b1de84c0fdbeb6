"""Advice on pairs of levels: estimates of their solves, what happens while they are found, and the ranking."""

from __future__ import annotations

import dataclasses
import html
import math
from collections.abc import Iterable

from workbench.advise.level_pairs import LevelPair
from workbench.advise.predictions import Probe
from workbench.problems import Problem
from workbench.run import Configuration, Stopping, configure
from workbench.run.jobs.ranking import Median
from workbench.words.numbers import duration, percent


@dataclasses.dataclass(frozen=True)
class Estimate:
    """Iterations and seconds of one pair, `measured` at full size or predicted from a grid of `grid_n` points a side.

    growth: exponent of n in the predicted iterations. probe_ns: points per side of all grids it was probed on. steps:
    of a sequence, over which all numbers are means; those over few from zero do not count as measured. times: the
    median of the seconds, with its interval, of a measured pair. stopped_at: the iteration at which a solve at full
    size was stopped; at_least: its seconds are those until then. vectors: of deflation, 0 before a setup at full size.
    """

    pair: LevelPair
    iterations: float
    setup_seconds: float
    iteration_seconds: float
    measured: bool
    grid_n: int | None = None
    growth: float | None = None
    probe_ns: tuple[int, ...] = ()
    steps: int = 0
    times: Median | None = None
    stopped_at: int | None = None
    at_least: bool = False
    vectors: int = 0

    @property
    def basis(self) -> str:
        """The source of its numbers: measured, or predicted from some grids."""
        if self.measured and self.times is not None and self.times.count > 1:
            return f"{self.times.count} runs ± {percent(self.times.spread)}"
        if self.at_least:
            return f"stopped after {duration(self.seconds)}"
        if self.stopped_at is not None:
            return f"stopped at iteration {self.stopped_at}"
        if self.steps:
            return f"{self.steps} step{'s' * (self.steps > 1)}{'' if self.measured else ', from zero'}"
        grids = " and ".join(map(str, self.probe_ns or ((self.grid_n,) if self.grid_n else ())))
        return "measured" if self.measured else f"predicted from n = {grids}" if grids else "predicted"

    @property
    def seconds(self) -> float:
        return self.setup_seconds + self.iteration_seconds

    def close_to(self, other: Estimate) -> bool:
        """True if both are measured and the intervals of their times overlap: the order of the two is not known."""
        if not (self.measured and other.measured):
            return False
        one, two = (row.times or Median.of([row.seconds]) for row in (self, other))
        return one.close_to(two)

    @property
    def per_iteration(self) -> float:
        """Seconds of one iteration."""
        return self.iteration_seconds / max(1, self.iterations) if math.isfinite(self.iterations) else math.inf


@dataclasses.dataclass(frozen=True)
class Stage:
    """Candidates are about to be solved on a grid. full: the grid of the problem itself.

    work: of a candidate here, as the share of unknowns that the grid has. later: the most candidates of each stage that
    follows, and their work. doing: of a further stage at full size, which counts no candidates, what is solved.
    """

    label: str
    candidates: int
    full: bool
    work: float = 1.0
    later: tuple[tuple[int, float], ...] = ()
    doing: str = ""


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
    """Pairs ranked by seconds, a measured one first; see `ranked`.

    refused: error messages of pairs that cannot be used, by name. probe_seconds: time spent on probing. notes:
    sentences on what else was found. Of a sequence all numbers are those of a step.

    Examples:
        >>> from workbench.advise import advise
        >>> advice = advise("poisson5", n=8)
        >>> advice.best.solver.name, advice.estimates[0].measured
        ('cg', True)
    """

    problem: Problem
    estimates: tuple[Estimate, ...]
    refused: dict[str, str]
    probe_seconds: float
    rtol: float
    seed: int = 0
    notes: tuple[str, ...] = ()

    @property
    def best(self) -> Configuration:
        """The configuration with the first-ranked pair."""
        return configuration_of(self.problem, self.estimates[0].pair, Stopping(rtol=self.rtol), self.seed)

    @property
    def choices(self) -> dict[str, str]:
        """The first-ranked pair as arguments of `workbench.run.solve`, `prepare` and `workbench.scipy`."""
        pair = self.estimates[0].pair
        return {"M": pair.preconditioner, "deflation": pair.deflation, "coarse": pair.coarse, "device": pair.device}

    @property
    def winners(self) -> tuple[Estimate, ...]:
        """The first-ranked pair, and all others that are too close to it to call."""
        return tuple(row for row in self.estimates if row is self.estimates[0] or row.close_to(self.estimates[0]))

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
            "notes": list(self.notes),
        }

    def text(self, max_rows: int = 15) -> str:
        """A table of the best pairs."""
        shown = self.estimates[:max_rows]
        wide = max(len(row.pair.label) for row in shown) + 2 if shown else 30
        head = (
            f"{'':3}{'first and second level':{wide}}{'iterations':>11}{'setup':>9}{'iteration':>11}{'total':>9}  basis"
        )
        of_steps = any(row.steps for row in self.estimates)
        criterion = "means of a step" if of_steps else f"rtol {self.rtol:g}"
        lines = [f"{self.problem.label}, {criterion}: probed for {self.probe_seconds:.1f} s", head]
        for rank, row in enumerate(shown, 1):
            setup, whole = (f"{duration(each, 2):>9}" for each in (row.setup_seconds, row.seconds))
            lines.append(
                f"{rank:<3}{row.pair.label:{wide}}{row.iterations:>11.{int(of_steps)}f}{setup}"
                f"{1e3 * row.per_iteration:>8.2f} ms{whole}  {row.basis}"
            )
        rest = len(self.estimates) - max_rows
        lines += [f"and {rest} slower pairs"] if rest > 0 else []
        if len(self.winners) > 1:
            lines.append(f"{len(self.winners)} pairs are too close to call: {', '.join(self._ranks)}")
        lines += self.notes
        lines += [f"not usable: {name}: {message}" for name, message in self.refused.items()]
        return "\n".join(lines)

    @property
    def _ranks(self) -> list[str]:
        """The ranks of the winners."""
        return [str(rank) for rank, row in enumerate(self.estimates, 1) if row in self.winners]

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text())}</pre>"


def ranked(rows: Iterable[Estimate]) -> list[Estimate]:
    """Estimates by seconds; none is before the fastest that was measured, which says that it is first, and of a
    sequence those from few steps come last."""
    found = list(rows)
    best = min((row.seconds for row in found if row.measured), default=0.0)

    def place(row: Estimate) -> tuple[bool, float, bool]:
        few = bool(row.steps) and not row.measured
        return few, row.seconds if row.measured else max(row.seconds, best), not row.measured

    return sorted(found, key=place)


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


def _numbers(row: Estimate) -> dict[str, object]:
    return {
        "iterations": row.iterations,
        "setup_seconds": row.setup_seconds,
        "iteration_seconds": row.iteration_seconds,
        "per_iteration": row.per_iteration,
        "runs": row.times.count if row.times else int(row.measured),
        "spread": row.times.spread if row.times else None,
        "stopped_at": row.stopped_at,
        "at_least": row.at_least,
        "deflation_vectors": row.vectors,
        "grid_n": row.grid_n,
        "probe_ns": row.probe_ns,
    }
