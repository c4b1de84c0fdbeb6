"""The search of the advisor: candidate pairs of levels solved on coarser grids and at full size."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from workbench import devices
from workbench.advise.advice import Estimate, Event, Probed, RuledOut, configuration_of
from workbench.advise.candidates import LevelPair
from workbench.advise.predictions import Probe, iterations_needed, predict
from workbench.errors import InputError
from workbench.problems import LinearSystem, Problem
from workbench.run import Result, Run, Stopping
from workbench.run.choices.memory_need import checked_need

COARSE_TIME_FACTOR = 3.0
"""On coarser grids a solve is stopped at this multiple of the best time so far."""
FULL_TIME_FACTOR = 1.3
"""At full size a solve is stopped at this multiple of the best time so far."""
REPEAT_FACTOR = 1.5
"""Pairs within this multiple of the best time are solved a second time; the better of both times counts."""
MIN_SECONDS = 0.05
"""No solve is stopped before this time, since timings this short are unreliable."""


class PairSearch:
    """Estimates found so far by pair, error messages of the pairs that cannot be used, and notes for the advice.

    system: that of the problem, or of the problem on a grid `coarser` times coarser.
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
        self.unknowns = system.operator.shape[0] * coarser ** len(system.grid or (1,))
        self.found: dict[LevelPair, Estimate] = {}
        self.probes: dict[LevelPair, list[Probe]] = {}
        self.refused: dict[str, str] = {}
        self.notes: list[str] = []

    def predicted_seconds(self, pair: LevelPair) -> float:
        """Predicted seconds of the whole solve."""
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
            checked_need(configuration, devices.device(pair.device))
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
        """True if the first level of a pair could not be used alone, on the same device and in the same precision."""
        return pair.deflation != "none" and pair.alone.label in self.refused


def _run_for(run: Run, seconds: float) -> tuple[Run, Result | None]:
    """Step a run to its end; stop with None as result once setup and iterations have taken `seconds`."""
    while run.step():
        if run.setup_seconds + run.iteration_seconds > max(seconds, MIN_SECONDS):
            return run, None
    return run, run.result()
