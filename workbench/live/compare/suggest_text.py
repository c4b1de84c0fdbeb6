"""Texts and plot of the advisor: a row and a point for each pair of levels, choices that were ruled out, work left."""

from __future__ import annotations

import dataclasses
import html
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workbench.advise.advice import Advice, Estimate, Stage
from workbench.advise.measuring import LEAST_MEASURED
from workbench.live.ui.sort_table import sample, time_bar
from workbench.plots.html_table import html_table
from workbench.plots.scenes.scene import Axis, CurveOf, PointsOf, Scene
from workbench.plots.scenes.style import curve_style
from workbench.words.names import sentence_case
from workbench.words.numbers import counted, duration, number, percent

COLUMNS = (
    "Rank", "First level", "Second level", "Coarse solver", "Setup + iterating", "Together", "Setup", "Iterations",
    "Basis",
)  # fmt: skip
LOW = ["Coarse solver", "Setup"]
LOWER = ["Rank", "Basis"]
BEST = LEAST_MEASURED
"""Pairs that are raced, and numbered in the plot."""
ESTIMATED = "estimated"
LONGEST = 5.0
"""Times of the best that a bar shows at most; a longer one is cut."""
DIGITS = 2
"""Digits of a time: that of a short solve is not known better."""
LEGEND = "The hatched part is setup. Pale: an estimate. A bar with a gap is longer than 5 times the best."
OF_STEPS = "Times are means of a step."
SETUP = Axis("setup", "s", log=True)
ITERATING = Axis("iterating", "s", log=True)
ON_LINE = "as long as the best"
LINE_POINTS = 200


def row(place: int, estimate: Estimate, longest: float) -> list[Any]:
    """The cells of the pair of this rank, from 1. longest: seconds of a full bar."""
    parts, tip = estimate.pair.parts, {"tip": estimate.pair.code}
    first = ", ".join(filter(None, (sentence_case(parts["preconditioner"]), parts.get("precision"))))
    second = sentence_case(parts["deflation"])
    if estimate.vectors:
        second += f", {counted(estimate.vectors, 'vector')}"
    named = [{"key": text, "text": text, **tip} for text in (first, second)]
    took = estimate.setup_seconds, estimate.iteration_seconds
    known = math.isfinite(estimate.seconds)
    bar = time_bar(*took, longest, sample(curve_style(0))["colour"]) if known else None
    sign = "> " if estimate.at_least else ""
    whole = {"key": estimate.seconds, "text": sign + duration(estimate.seconds, DIGITS), "tip": estimate.basis}
    setup = {"key": estimate.setup_seconds, "text": duration(estimate.setup_seconds, DIGITS)}
    iterations = round(estimate.iterations) if math.isfinite(estimate.iterations) else None
    return [place, *named, sentence_case(parts["coarse"]) or "–", bar, whole, setup, iterations, estimate.basis]


def full_bar(shown: Sequence[Estimate]) -> float:
    """Seconds of a full bar: those of the slowest pair, at most `LONGEST` times those of the best."""
    known = [row.seconds for row in shown if math.isfinite(row.seconds)]
    return min(LONGEST * known[0], max(known)) if known else 1.0


def marks(shown: Sequence[Estimate]) -> list[str]:
    """For each row "best" for the first and all that are too close to it to call, and the mark of estimates."""
    return [
        "" if row.measured and not row.close_to(shown[0]) else "best" if row.measured else ESTIMATED for row in shown
    ]


def scene(estimates: Sequence[Estimate]) -> Scene:
    """A point for each pair, its setup against its iterations, filled where measured, the best ones with their rank;
    and the line of all points that take as long as the best."""
    ranked = [(place, row) for place, row in enumerate(estimates, 1) if math.isfinite(row.iterations + row.seconds)]
    layers: list[PointsOf | CurveOf] = []
    for measured, name in ((False, "estimated"), (True, "measured")):
        found = [(place, row) for place, row in ranked if row.measured is measured]
        if not found:
            continue
        layers.append(
            PointsOf(
                name,
                np.array([row.iteration_seconds for _, row in found]),
                np.array([row.setup_seconds for _, row in found]),
                filled=measured,
                faint=not measured,
                texts=[_words(place, row) for place, row in found],
                labels=[str(place) if measured and place <= BEST else "" for place, _ in found],
                word="pair",
            )
        )
    if len(ranked) > 1 and ranked[0][1].measured:
        # An estimate, or a difference of measured times, may be 0, which no logarithmic axis has.
        times = [time for _, row in ranked for time in (row.iteration_seconds, row.setup_seconds) if time > 0]
        if ranked[0][1].seconds > 0:
            layers.insert(0, _line_of(ranked[0][1].seconds, min(times)))
    best = f" The fastest: {estimates[0].pair.label}, {duration(estimates[0].seconds, DIGITS)}." if estimates else ""
    spoken = f"Setup against iterations of {len(ranked)} pairs, both in seconds.{best}"
    note = "" if layers else "Each pair becomes a point: its setup against its iterations."
    return Scene("setup against iterating", ITERATING, SETUP, layers, note=note, spoken=spoken, ways="xy", logs="xy")


def _line_of(seconds: float, least: float) -> CurveOf:
    """Setup and iterations that add up to these seconds, both from `least` on."""
    shares = np.geomspace(min(least / seconds, 0.1), 0.5, LINE_POINTS // 2)
    x = seconds * np.concatenate((shares, 1 - shares[::-1]))
    return CurveOf(ON_LINE, x, seconds - x, style=5, faint=True, plain=True, dash=(4.0, 3.0))


def verdict(advice: Advice) -> str:
    """The fastest pair and how far it is ahead, or how many are too close to call."""
    best, winners = advice.estimates[0], advice.winners
    if len(winners) > 1:
        times = " to ".join(dict.fromkeys(duration(row.seconds, DIGITS) for row in (best, winners[-1])))
        names = " and ".join(row.pair.label for row in winners) if len(winners) == 2 else f"{len(winners)} pairs"
        return f"{names} are too close to call: {times}"
    spread = f" ± {percent(best.times.spread)}" if best.times is not None and best.times.count > 1 else ""
    behind = [row for row in advice.estimates[1:] if row.measured is best.measured]
    ahead = f", {number(behind[0].seconds / best.seconds, DIGITS)} times as fast as the next" if behind else ""
    return f"fastest is {best.pair.label}, {duration(best.seconds, DIGITS)}{spread}{ahead}"


def _words(place: int, row: Estimate) -> list[str]:
    more = "more than " if row.at_least else ""
    took = f"{more}{duration(row.seconds, DIGITS)}, of which setup {duration(row.setup_seconds, DIGITS)}"
    return [f"{place}: {row.pair.label}", took, f"{counted(round(row.iterations), 'iteration')}, {row.basis}"]


def ruled_out(ruled: Mapping[str, str]) -> str:
    """HTML: choices that were ruled out and why, folded."""
    if not ruled:
        return ""
    rows = sorted(ruled.items())
    head = f"{counted(len(rows), 'pair was', 'pairs were')} ruled out"
    return f"<details><summary>{html.escape(head)}</summary>{html_table(('Pair', 'Why'), rows)}</details>"


@dataclasses.dataclass
class Progress:
    """The progress of a search over all of its stages; work as in `Stage`. again: the stage of further solves, which
    do not count."""

    stage: Stage | None = None
    again: Stage | None = None
    probed: int = 0
    """Candidates of the present stage that are done."""
    before: int = 0
    work_before: float = 0.0

    def enter(self, stage: Stage) -> None:
        """Begin a stage."""
        if stage.doing:
            self.again, self.probed = stage, max(self.probed, self.stage.candidates if self.stage else 0)
            return
        if self.stage is not None:
            self.before += self.stage.candidates
            self.work_before += self.stage.candidates * self.stage.work
        self.stage, self.probed = stage, 0

    @property
    def done(self) -> int:
        """Pairs that were tried; further solves do not count."""
        return self.before + self._now

    @property
    def of(self) -> int:
        """Pairs to try altogether, as far as is known."""
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
