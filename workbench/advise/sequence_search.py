"""The search of the advisor: candidate pairs of levels solved on coarser grids and at full size, and on a sequence,
where they solve the same systems side by side.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from workbench import devices
from workbench.advise.advice import Estimate, Event, Probed, RuledOut, configuration_of
from workbench.advise.budget import Budget
from workbench.advise.level_pairs import LevelPair
from workbench.advise.measuring import Measuring, run_for
from workbench.advise.predictions import Probe, predict
from workbench.errors import InputError
from workbench.problems import LinearSystem, Problem
from workbench.run import Configuration, Run, Stopping, configure
from workbench.run.choices.memory_need import checked_need
from workbench.sequences.method import Method
from workbench.sequences.sequence import Sequence
from workbench.words.numbers import number

SETUPS, SHORT_SETUP = 4, 0.02
"""Setups on a coarser grid at most, of those that take less than the second number of seconds."""
COARSE_TIME_FACTOR = 3.0
"""On coarser grids a solve is stopped at this multiple of the best time so far."""


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
        self.budget = Budget()
        """Of the whole search, of which coarser grids take half at most."""
        self.unknowns = system.operator.shape[0] * coarser ** len(system.grid or (1,))
        self.found: dict[LevelPair, Estimate] = {}
        self.probes: dict[LevelPair, list[Probe]] = {}
        self.refused: dict[str, str] = {}
        self.tried: set[LevelPair] = set()
        """Pairs that were solved with, or ruled out."""
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
        return kept

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
        n, best = small.per_side or 0, math.inf
        ratio = max(1, round((self.problem.per_side or n) / n))
        for pair in candidates:
            if self.stopped() or self.budget.left < self.budget.seconds / 2:
                return
            self.tried.add(pair)
            coarse = pair.on_coarser_grid(ratio)
            if coarse is None or pair.label in self.refused or self._failed_alone(pair):
                continue
            try:
                run = _fastest_setup(configuration_of(small, coarse, self.stopping, self.seed), system)
                run, result = run_for(run, COARSE_TIME_FACTOR * best)
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
        made = predict(pair, probes, self.problem.per_side or probe.n)
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
        """Solve at full size with each pair, and with more pairs and more often as `Measuring` says."""
        chosen = [pair for pair in candidates if not self._failed_alone(pair)]
        dimensions = len(self.system.grid or (1,))
        about = self.problem.label, dimensions, self.found
        solves = Measuring(self._begun_run, *about, self._refuse, self.stopped, self.budget)
        yield from solves.all(chosen)
        self.tried |= solves.tried | ({*candidates} - {*chosen})
        # Full-size results replace predictions.
        self.found |= solves.rows

    def _begun_run(self, pair: LevelPair) -> Run:
        if reason := self._refusal(pair):
            raise InputError(reason)
        return Run(configuration_of(self.problem, pair, self.stopping, self.seed), self.system)

    def _refuse(self, pair: LevelPair, reason: str) -> RuledOut:
        self.refused[pair.label] = reason
        return RuledOut(pair, reason)

    def _failed_alone(self, pair: LevelPair) -> bool:
        """True if the first level of a pair could not be used alone, on the same device and in the same precision."""
        return pair.deflation != "none" and pair.alone.label in self.refused


def _fastest_setup(configuration: Configuration, system: LinearSystem) -> Run:
    """The run with the fastest of some setups: the first may compile kernels, and an error in a time of microseconds
    is extrapolated too."""
    Run(configuration, system)
    runs = [Run(configuration, system)]
    while len(runs) < SETUPS and runs[0].setup_seconds < SHORT_SETUP:
        runs.append(Run(configuration, system))
    return min(runs, key=lambda run: run.setup_seconds)


STEPS = 20
"""Steps over which seconds are means."""
AT_ONCE = 8
"""Candidates that are set up at the same time."""
KEPT = 10
"""Candidates that solve all of these steps, those that are fastest in few steps from zero."""
MOVED_STEPS, MOST_BEFORE = 5, 100
"""Steps before all of them: they are made until cells have changed in the first number, and at most the second."""
LEADING: dict[str, Any] = {"preconditioner": "neumann:2"}
"""The method that makes these steps."""
MG: dict[str, Any] = {"preconditioner": "mg", "deflation": "none"}
NEVER = 10**6
WORSE, BETTER = 1.1, 0.9
"""Ratios of times that are said to differ."""


class SequenceSearch(PairSearch):
    """A search whose seconds are those of a step: start, setup for the cells that changed, and iterations.

    notes: what was found about levels of mg that are kept from step to step.
    """

    def measure(self, candidates: list[LevelPair]) -> Iterator[Event]:
        """Solve few steps in which cells change with each pair, then more of them with the fastest."""
        sequence = self._moving()
        for first in range(0, len(candidates), AT_ONCE):
            batch = candidates[first : first + AT_ONCE]
            sequence, methods, steps = self._tried(sequence, batch)
            if self.stopped():
                return
            for pair, method in zip(batch, methods, strict=True):
                sequence.remove(method)
                if method.failure:
                    yield self._refuse(pair, method.failure)
                else:
                    self.found[pair] = _estimate(pair, method, steps, measured=False)
                    yield Probed(self.found[pair], None)
        fastest = sorted(self.found, key=self.predicted_seconds)
        kept = fastest[:KEPT] + [pair for pair in fastest[KEPT:] if _is_mg(pair)]
        sequence = self._moving()
        methods = [sequence.add(**self._settings(pair)) for pair in kept]
        frozen = [sequence.add(**self._settings(pair), renewed_every=NEVER) for pair in kept if _is_mg(pair)]
        before = sequence.steps + 1
        while sequence.steps < before + STEPS and not self.stopped() and sequence.step() is not None:
            pass
        steps = sequence.steps - before
        if self.stopped() or not kept:
            return
        if steps < 1:
            raise InputError(
                f"{self.problem.label} ends after step {sequence.steps}; a ranking takes at least 2 steps, best some 50"
            )
        for pair, method in zip(kept, methods, strict=True):
            if method.failure:
                del self.found[pair]
                yield self._refuse(pair, method.failure)
            else:
                self.found[pair] = _estimate(pair, method, steps, measured=True)
                yield Probed(self.found[pair], None)
        renewed = [self.found[pair] for pair in kept if _is_mg(pair) and pair in self.found]
        if renewed:
            self.notes.append(_said(renewed[0], frozen[0], steps))

    def _begun(self, others: list[dict[str, Any]]) -> Sequence:
        return Sequence(configure(self.problem, stopping=self.stopping, seed=self.seed, **LEADING), others=others)

    def _tried(self, sequence: Sequence, batch: list[LevelPair]) -> tuple[Sequence, list[Method], int]:
        """Let pairs solve further steps, up to one after the first in which cells change, so that the setup for these
        is known; returns the sequence, begun again where it ends before, their methods, and the steps after the first.
        """
        # From earlier solutions all pairs would need next to no iterations.
        settings = [{**self._settings(pair), "start": "zero"} for pair in batch]
        methods = [sequence.add(**each) for each in settings]
        steps = 0
        while not self.stopped() and (made := sequence.step()) is not None:
            if steps == MOVED_STEPS or (steps and made.moved_cells):
                return sequence, methods, steps
            steps += 1
        if sequence.done:
            sequence = self._begun(settings)
            methods = sequence.methods[1:]
            sequence.step()
            sequence.step()
        return sequence, methods, 1

    def _moving(self) -> Sequence:
        """A sequence at a step where cells change; at its beginning where it ends before."""
        sequence = self._begun([])
        moved = sequence.series["moved_cells"]
        while np.count_nonzero(moved) < MOVED_STEPS and sequence.steps < MOST_BEFORE and not self.stopped():
            if sequence.step() is None:
                return self._begun([])
        return sequence

    def _settings(self, pair: LevelPair) -> dict[str, Any]:
        made = configuration_of(self.problem, pair, self.stopping, self.seed)
        return {field.name: made.choices[field.name] for field in dataclasses.fields(pair) if field.compare}


def _estimate(pair: LevelPair, method: Method, steps: int, *, measured: bool) -> Estimate:
    """Means over the last steps of a method."""
    iterations, seconds, setup = (float(np.mean(values[-steps:])) for values in method.series)
    return Estimate(pair, iterations, setup, seconds - setup, measured, steps=steps)


def _is_mg(pair: LevelPair) -> bool:
    return pair == dataclasses.replace(pair, **MG, precision="float64")


def _said(renewed: Estimate, frozen: Method, steps: int) -> str:
    """A sentence on coarse levels of mg that are kept."""
    if frozen.failure:
        return f"mg with coarse levels of {steps} steps before does not converge: renew them wherever cells change"
    kept = _estimate(renewed.pair, frozen, steps, measured=True)
    ratio = kept.seconds / renewed.seconds if renewed.seconds else math.inf
    advice = "do not keep them" if ratio > WORSE else "keep them" if ratio < BETTER else "either will do"
    return (
        f"mg with coarse levels kept for {steps} steps takes {number(ratio, 2)} times as long as with levels renewed "
        f"wherever cells change, {number(kept.iterations, 2)} iterations a step instead of "
        f"{number(renewed.iterations, 2)}: {advice}"
    )
