"""Texts and plot of the advisor: a row and a point for each pair of levels, choices that were ruled out, work left."""

from __future__ import annotations

import dataclasses
import html
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workbench.advise.advice import Estimate, Stage
from workbench.live.ui.sort_table import sample, time_bar
from workbench.plots.html_table import html_table
from workbench.plots.scenes.scene import Axis, PointsOf, Scene
from workbench.plots.scenes.style import curve_style
from workbench.words.names import sentence_case
from workbench.words.numbers import duration, number

COLUMNS = (
    "Rank", "First level", "Second level", "Coarse solver", "Setup + iterating", "Together", "Setup", "Iterations",
    "Basis",
)  # fmt: skip
LOW = ["Coarse solver", "Setup"]
LOWER = ["Rank", "Basis"]
BEST = 3
"""Pairs that are raced, and numbered in the plot."""
ESTIMATED = "estimated"
LEGEND = (
    "Hatched: setup; solid: iterations. Pale: an estimate, from coarser grids or, of a sequence, from few steps. "
    "Times of a sequence are means of a step."
)
ITERATIONS = Axis("iterations", "count", log=True)
SECONDS = Axis("setup + iterations", "s", log=True)


def row(place: int, estimate: Estimate, longest: float) -> list[Any]:
    """The cells of the pair of this rank, from 1. longest: seconds of the slowest that is shown."""
    parts, tip = estimate.pair.parts, {"tip": estimate.pair.code}
    first = ", ".join(filter(None, (sentence_case(parts["preconditioner"]), parts.get("precision"))))
    named = [{"key": text, "text": text, **tip} for text in (first, sentence_case(parts["deflation"]))]
    took = estimate.setup_seconds, estimate.iteration_seconds
    known = math.isfinite(estimate.seconds)
    bar = time_bar(*took, longest, sample(curve_style(0))["colour"]) if known else None
    times = [{"key": value, "text": duration(value)} for value in (estimate.seconds, estimate.setup_seconds)]
    iterations = round(estimate.iterations) if math.isfinite(estimate.iterations) else None
    return [place, *named, sentence_case(parts["coarse"]) or "–", bar, *times, iterations, estimate.basis]


def scene(estimates: Sequence[Estimate]) -> Scene:
    """A point for each pair: its time against its iterations, filled where measured, the best ones with their rank."""
    ranked = [(place, row) for place, row in enumerate(estimates, 1) if math.isfinite(row.iterations + row.seconds)]
    layers = []
    source = "few steps" if any(row.steps for row in estimates) else "coarser grids"
    for measured, name in ((False, f"estimated from {source}"), (True, "measured")):
        found = [(place, row) for place, row in ranked if row.measured is measured]
        if not found:
            continue
        layers.append(
            PointsOf(
                name,
                np.array([row.iterations for _, row in found]),
                np.array([row.seconds for _, row in found]),
                filled=measured,
                faint=not measured,
                texts=[_words(place, row) for place, row in found],
                labels=[str(place) if measured and place <= BEST else "" for place, _ in found],
                word="pair",
            )
        )
    best = f" The fastest: {estimates[0].pair.label}, {duration(estimates[0].seconds)}." if estimates else ""
    spoken = f"Time against iterations of {len(ranked)} pairs.{best}"
    note = "" if layers else "A point for each pair that is probed: its time against its iterations."
    return Scene("time against iterations", ITERATIONS, SECONDS, layers, note=note, spoken=spoken, ways="xy", logs="xy")


def _words(place: int, row: Estimate) -> list[str]:
    took = f"{duration(row.seconds)}, of which setup {duration(row.setup_seconds)}"
    return [f"{place}: {row.pair.label}", took, f"{number(round(row.iterations))} iterations, {row.basis}"]


def ruled_out(ruled: Mapping[str, str]) -> str:
    """HTML: choices that were ruled out and why, folded."""
    if not ruled:
        return ""
    rows = sorted(ruled.items())
    head = f"{len(rows)} {'pair was' if len(rows) == 1 else 'pairs were'} ruled out"
    return f"<details><summary>{html.escape(head)}</summary>{html_table(('Pair', 'Why'), rows)}</details>"


@dataclasses.dataclass
class Progress:
    """The progress of a search over all of its stages; work as in `Stage`."""

    stage: Stage | None = None
    probed: int = 0
    """Candidates of the present stage that are done."""
    before: int = 0
    work_before: float = 0.0

    def enter(self, stage: Stage) -> None:
        """Begin a stage."""
        if self.stage is not None:
            self.before += self.stage.candidates
            self.work_before += self.stage.candidates * self.stage.work
        self.stage, self.probed = stage, 0

    @property
    def done(self) -> int:
        """Pairs that are probed; pairs that are solved a second time do not count again."""
        return self.before + self._now

    @property
    def of(self) -> int:
        """Pairs to probe altogether, as far as is known."""
        return self.before + sum(count for count, _ in self._stages)

    @property
    def work(self) -> tuple[float, float]:
        """Work that is done, and all of it."""
        own = self.stage.work if self.stage is not None else 0.0
        return self.work_before + self._now * own, self.work_before + sum(count * each for count, each in self._stages)

    @property
    def _now(self) -> int:
        return min(self.probed, self.stage.candidates) if self.stage is not None else 0

    @property
    def _stages(self) -> list[tuple[int, float]]:
        """Candidates and their work, of the present stage and of those that follow."""
        if self.stage is None:
            return []
        candidates = self.stage.candidates
        later = [(min(candidates, most), work) for most, work in self.stage.later]
        return [(candidates, self.stage.work), *later]
