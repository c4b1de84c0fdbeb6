"""Sequences of solves over time: iterations and seconds of methods, measured quantities, parts of a step's time."""

from __future__ import annotations

import dataclasses
import itertools
import operator
from collections.abc import Mapping, Sequence

import numpy as np

from workbench.extensions.flow.pace import BAND, WINDOW, running, short_names
from workbench.extensions.flow.plane_scene import Look, film_plane
from workbench.extensions.flow.reference import Band, Reference
from workbench.plots.scenes.plane import Plane
from workbench.plots.scenes.scene import Axis, BarsOf, CurveOf, Layer, LineAt, PointsOf, Scene
from workbench.sequences.sequence import Sequence as Flow
from workbench.words.numbers import number

STEP = Axis("step", "count", whole=True, word="step")
ITERATIONS = Axis("iterations per step", "count", log=True)
SECONDS = Axis("time per step", "s")
BINS = 30
"""Bars of a band at most."""
PARTS = {
    "transport": ("advection",),
    "interface": ("interface", "distance", "volume", "properties"),
    "viscosity": ("viscosity",),
    "pressure: setup and start": ("setup", "start"),
    "pressure: solve": ("solve",),
}
"""Parts of a step as they are drawn; what is in none of them is the rest."""
SLICES = 301
"""Bars of the spread of published series over time."""
ROOM = 0.05
"""Room above and below the curves, as a share of their range."""


def steps_scene(
    what: str,
    axis: Axis,
    methods: Sequence[tuple[str, Sequence[float]]],
    marks: Sequence[tuple[int, str]] = (),
    at: int = 0,
    note: str = "",
) -> Scene:
    """A quantity of each step by method: running medians, each on a pale band of quantiles. marks: the steps at which a
    method was changed, and to what. at: a step to mark, 0 for none. note: the words before the first step.

    Examples:
        >>> from workbench.extensions.flow.scenes import ITERATIONS, steps_scene
        >>> len(steps_scene("iterations per step", ITERATIONS, [("mg", [7, 5, 4])]).layers)
        2
    """
    medians = [(name, running(values, [step for step, _ in marks])) for name, values in methods]
    layers: list[Layer] = []
    for style, (_, found) in enumerate(medians):
        wide = float(np.diff(found.steps).max()) if found.steps.size > 1 else 1.0
        known = np.isfinite(found.middle)
        band = found.steps[known], found.high[known], wide, found.low[known]
        layers.append(BarsOf("", *band, style=style, faint=True))
    layers += [
        CurveOf(name, found.steps, found.middle, place, mark=False) for place, (name, found) in enumerate(medians)
    ]
    layers += [LineAt(step, upright=True, name=f"from step {step}: {label}") for step, label in marks]
    layers += [LineAt(at, upright=True)] if at else []
    said = [(name, found.middle[np.isfinite(found.middle)]) for name, found in medians]
    spoken = "; ".join(f"{name}: {number(values[-1])}" for name, values in said if values.size)
    axis = dataclasses.replace(axis, title=f"{axis.title}: median of {WINDOW}, band {BAND[0]:.0%} to {BAND[1]:.0%}")
    empty = not any(values.size for _, values in said)
    words = note if empty else ""
    return Scene(what, STEP, axis, layers, note=words, spoken=f"{what}: {spoken or note}", logs="y")


def measure_scene(
    title: str,
    times: Sequence[float],
    values: Sequence[float],
    until: float = 0.0,
    reference: Reference | None = None,
    spread: Band | None = None,
) -> Scene:
    """A measured quantity over time. until: where the axis of time ends at least. reference, spread: of other codes."""
    known = np.array(values, float)
    seen = known[np.isfinite(known)].tolist()
    layers: list[Layer] = [CurveOf("", np.array(times, float), known, plain=True)]
    if spread is not None:
        layers.insert(0, spread_of_groups(spread))
        seen += [spread.low.min(), spread.high.max()]
    if reference is not None:
        by_group = zip(reference.groups, reference.values, reference.times, strict=True)
        said = [[reference.what, f"{group}: {value:g} at time {time:g}"] for group, value, time in by_group]
        at = np.array(reference.times), np.array(reference.values)
        layers.append(PointsOf(reference.what, *at, 1, size=6, texts=said, outlined=True))
        seen += reference.values
    low, high = (min(seen), max(seen)) if seen else (0.0, 1.0)
    room = ROOM * (high - low) or ROOM * abs(high) or 1.0
    along = Axis("time", span=(0.0, max([until, *times]) or 1.0))
    now = f"{number(seen[-1])} at time {number(times[-1])}" if seen and len(times) else "no value yet"
    return Scene(title, along, Axis(title, span=(low - room, high + room)), layers, spoken=f"{title}: {now}")


def spread_of_groups(spread: Band) -> BarsOf:
    """The spread of published series over time, linear between their times, as a pale band of `SLICES` bars."""
    times = np.linspace(spread.times[0], spread.times[-1], SLICES)
    low, high = (np.interp(times, spread.times, ends) for ends in (spread.low, spread.high))
    name = f"spread of {' and '.join(spread.groups)}"
    return BarsOf(name, times, high, float(times[1]), base=low, style=1, faint=True)


def error_scene(errors: Sequence[float], tolerance: float) -> Scene:
    """The volume error dt rms(div u) that the solve of each step has left, with its tolerance.

    Examples:
        >>> from workbench.extensions.flow.scenes import error_scene
        >>> len(error_scene([9e-7, 4e-7], 1e-6).layers)
        2
    """
    known = np.array(errors, float)
    curve = CurveOf("", np.arange(1, known.size + 1), known, plain=True)
    # More than a decade, so that its ticks are powers of ten.
    low, high = np.nanmin([*known, tolerance / 10]), np.nanmax([*known, tolerance])
    up = Axis("dt rms(div u)", log=True, span=(float(low) / 1.5, float(high) * 1.5))
    spoken = f"volume error of a step: {number(known[-1])}, tolerance {number(tolerance)}" if known.size else ""
    return Scene("volume error", STEP, up, [curve, LineAt(tolerance, "tolerance {}")], logs="y", spoken=spoken)


def band_scene(seconds: Sequence[Mapping[str, float]], note: str = "") -> Scene:
    """The parts of the time of a step, as stacked bars of some steps each. seconds: of each step by part. note: words
    before the first step."""
    count = len(seconds)
    if not count:
        return Scene("parts of a step", STEP, Axis("share of a step"), note=note, spoken=f"parts of a step: {note}")
    edges = np.unique(np.linspace(0, count, min(count, BINS) + 1).astype(int))
    # All steps have the same parts; a long flow is drawn while it is played.
    of_step = itertools.chain.from_iterable(map(operator.itemgetter(*seconds[0]), seconds))
    known = np.fromiter(of_step, float).reshape(count, len(seconds[0]))
    part_of = {name: place for place, names in enumerate(PARTS.values()) for name in names}
    sums = np.zeros((len(edges) - 1, len(PARTS) + 1))
    for name, column in zip(seconds[0], np.add.reduceat(known, edges[:-1], axis=0).T, strict=True):
        sums[:, part_of.get(name, len(PARTS))] += column
    parts = [*PARTS, "rest"]
    shares = sums / np.maximum(sums.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    tops = np.cumsum(shares, axis=1)
    middle, wide = (edges[:-1] + edges[1:] + 1) / 2, float(np.diff(edges).max())
    layers = [
        BarsOf(part, middle, tops[:, k], wide, base=tops[:, k] - shares[:, k], style=k) for k, part in enumerate(parts)
    ]
    mean = sums.sum(axis=0) / sums.sum()
    spoken = "parts of a step: " + ", ".join(f"{part} {share:.0%}" for part, share in zip(parts, mean, strict=True))
    return Scene("parts of a step", STEP, Axis("share of a step", span=(0.0, 1.0)), layers, spoken=spoken)


class Reel:
    """A film of a sequence: a plane and the curves so far in each frame, at most `most` frames over its whole time.

    look: of the plane. note: called after each step. Memory: a plane and the curves for each frame.
    """

    def __init__(self, sequence: Flow, look: Look, most: int = 60) -> None:
        self._sequence, self._look, self._most = sequence, look, most
        self.frames: list[tuple[Plane, list[Scene]]] = []
        self._every = 1

    def note(self) -> None:
        """Keep the present state if it is its turn; of too many frames every second one goes."""
        sequence = self._sequence
        if sequence.steps % self._every:
            return
        before = self.frames[-1][0].colours if self.frames else None
        plane = film_plane(sequence, self._look, before)
        if plane is None:
            return
        self.frames.append((plane, curves(sequence)))
        if len(self.frames) > self._most:
            self.frames, self._every = self.frames[1::2], 2 * self._every


def curves(sequence: Flow, at: int = 0, note: str = "") -> list[Scene]:
    """Iterations and milliseconds per step of the methods of a sequence. at: a step to mark, 0 for none. note: words
    before the first step."""
    steps, methods = sequence.steps, sequence.methods
    # A curve bears the name of its first method; what came later is named where it came.
    firsts = [method.marks[0].label for method in methods]
    names = [f"{place}. {name}" for place, name in enumerate(short_names(firsts), 1)]
    marks = [
        (mark.step, f"{place}. {mark.label}")
        for place, method in enumerate(methods, 1)
        for mark in method.marks
        if mark.step > 1
    ]
    counts, spent = (
        [(name, values[:steps]) for name, values in zip(names, series, strict=True)]
        for series in ([method.iterations for method in methods], [method.seconds for method in methods])
    )
    return [
        steps_scene("iterations per step", ITERATIONS, counts, marks, at, note),
        steps_scene("time per step", SECONDS, spent, marks, at, note),
    ]
