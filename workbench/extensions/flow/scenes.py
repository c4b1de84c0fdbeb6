"""Sequences of solves over time: iterations and seconds of methods, measured quantities, parts of a step's time."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Mapping, Sequence

import numpy as np

from workbench.extensions.flow.plane_scene import Look, plane_of_flow
from workbench.extensions.flow.reference import Reference
from workbench.plots.scenes.plane import Plane
from workbench.plots.scenes.scene import Axis, BarsOf, CurveOf, Layer, LineAt, PointsOf, Scene
from workbench.sequences.sequence import Sequence as Flow

STEP = Axis("step", "count", whole=True, word="step")
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
ROOM = 0.05
"""Room above and below the curves, as a share of their range."""


def iterations_scene(
    methods: Sequence[tuple[str, Sequence[float]]], marks: Sequence[tuple[int, str]] = (), at: int = 0
) -> Scene:
    """Iterations of each step by method. marks: the steps at which a method was changed, and to what. at: a step to
    mark, 0 for none.

    Examples:
        >>> from workbench.extensions.flow.scenes import iterations_scene
        >>> len(iterations_scene([("mg", [7, 5, 4])]).layers)
        1
    """
    layers = [_of_steps(name, np.array(values, float), style) for style, (name, values) in enumerate(methods)]
    layers += [LineAt(step, upright=True, name=f"from step {step}: {label}") for step, label in marks]
    layers += [LineAt(at, upright=True)] if at else []
    spoken = "; ".join(f"{name}: {np.nanmean(values):.1f} iterations a step" for name, values in methods if len(values))
    return Scene("iterations of steps", STEP, Axis("iterations", "count", log=True), layers, spoken=spoken, logs="y")


def seconds_scene(methods: Sequence[tuple[str, Sequence[float]]], marks: Sequence[tuple[int, str]] = ()) -> Scene:
    """Seconds of start, setup and iterations so far, by method; a method that was added later begins at 0."""
    layers = [
        _of_steps(name, np.nancumsum(np.array(values, float)), style) for style, (name, values) in enumerate(methods)
    ]
    layers += [LineAt(step, upright=True, name=f"from step {step}: {label}") for step, label in marks]
    return Scene("seconds of methods", STEP, Axis("start, setup and solve so far", "s"), layers)


def measure_scene(
    title: str,
    times: Sequence[float],
    values: Sequence[float],
    until: float = 0.0,
    reference: Reference | None = None,
) -> Scene:
    """A measured quantity over time. until: where the axis of time ends at least. reference: of other codes."""
    known = np.array(values, float)
    seen = known[np.isfinite(known)].tolist()
    layers: list[Layer] = [CurveOf("", np.array(times, float), known, plain=True)]
    if reference is not None:
        by_group = zip(reference.groups, reference.values, reference.times, strict=True)
        said = [[reference.what, f"{group}: {value:g} at time {time:g}"] for group, value, time in by_group]
        at = np.array(reference.times), np.array(reference.values)
        layers.append(PointsOf(reference.what, *at, 1, size=6, texts=said, outlined=True))
        seen += reference.values
    low, high = (min(seen), max(seen)) if seen else (0.0, 1.0)
    room = ROOM * (high - low) or ROOM * abs(high) or 1.0
    along = Axis("time", span=(0.0, max([until, *times]) or 1.0))
    return Scene(title, along, Axis(title, span=(low - room, high + room)), layers)


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
    return Scene("volume error", STEP, up, [curve, LineAt(tolerance, "tolerance {}")], logs="y")


def band_scene(seconds: Sequence[Mapping[str, float]]) -> Scene:
    """The parts of the time of a step, as stacked bars of some steps each. seconds: of each step by part."""
    count = len(seconds)
    if not count:
        return Scene("parts of a step", STEP, Axis("share of a step"), note="The first step has not been made yet.")
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
    spoken = ", ".join(f"{part} {share:.0%}" for part, share in zip(parts, mean, strict=True))
    return Scene("parts of a step", STEP, Axis("share of a step", span=(0.0, 1.0)), layers, spoken=spoken)


def _of_steps(name: str, values: np.ndarray, style: int) -> CurveOf:
    return CurveOf(name, np.arange(1, values.size + 1), values, style, mark=False)


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
        plane = plane_of_flow(sequence, self._look, before)
        if plane is None:
            return
        self.frames.append((plane, curves(sequence)))
        if len(self.frames) > self._most:
            self.frames, self._every = self.frames[1::2], 2 * self._every


def curves(sequence: Flow, at: int = 0) -> list[Scene]:
    """Iterations and seconds of the methods of a sequence. at: a step to mark, 0 for none."""
    steps, methods = sequence.steps, sequence.methods
    # A curve bears the name of its first method; what came later is named where it came.
    names = [f"{place}. {method.marks[0].label}" for place, method in enumerate(methods, 1)]
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
    return [iterations_scene(counts, marks, at), seconds_scene(spent, marks)]
