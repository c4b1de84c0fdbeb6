"""The search of the advisor on a sequence: candidate pairs of levels solve the same systems, side by side."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from workbench.advise.advice import Estimate, Event, Probed, configuration_of
from workbench.advise.candidates import LevelPair
from workbench.advise.pair_search import PairSearch
from workbench.errors import InputError
from workbench.run import configure
from workbench.sequences.method import Method
from workbench.sequences.sequence import Sequence
from workbench.words.numbers import number

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
        return {field.name: getattr(made, field.name) for field in dataclasses.fields(pair)}


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
