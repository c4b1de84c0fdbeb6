"""Time per iteration as scenes of a plot: strong scaling over GPUs or ranks, and the sizes at which one method
overtakes another.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np

from workbench.errors import InputError
from workbench.plots.scenes.scene import Axis, CurveOf, Layer, LineAt, PointsOf, Scene
from workbench.words.numbers import count, duration


def crossover_scene(
    unknowns: Sequence[int], seconds: Mapping[str, Sequence[float | None]], *, at: int | None = None
) -> Scene:
    """Seconds per iteration and unknown on logarithmic axes, modelled; rings mark the fastest method of each size.

    Times are divided by N, since they span orders of magnitude, which would hide differences between methods.
    unknowns: N, ascending. seconds: per iteration, by method, None where it cannot run. at: a value of N to mark.
    Raises InputError if a curve and `unknowns` differ in length, or if no method can run.

    Examples:
        >>> from workbench.plots.scenes import crossover_scene
        >>> scene = crossover_scene([1000, 2000], {"CG": [1e-5, 4e-5], "pipelined CG": [2e-5, 3e-5]})
        >>> [layer.name for layer in scene.layers]
        ['CG', 'pipelined CG', 'the fastest']
    """
    for name, values in seconds.items():
        if len(values) != len(unknowns):
            raise InputError(f"{name} has {len(values)} times for {len(unknowns)} sizes; give one for each")
    sizes = np.asarray(unknowns, float)
    shares = np.array([[math.nan if value is None else value for value in each] for each in seconds.values()]) / sizes
    runs = ~np.isnan(shares)
    layers: list[Layer] = [
        CurveOf(name, sizes[known], each[known], style=place)
        for place, (name, each, known) in enumerate(zip(seconds, shares, runs, strict=True))
    ]
    some = runs.any(axis=0)
    if not some.any():
        raise InputError("no method can run at any of these sizes")
    quickest = np.nanmin(shares[:, some], axis=0)
    layers.append(PointsOf("the fastest", sizes[some], quickest, size=7, outlined=True))
    if at is not None:
        layers.append(LineAt(at, "N = {}", upright=True))
    x, y = Axis("unknowns N", "count", log=True), Axis("time per iteration / N, modelled", "s", log=True)
    spoken = (
        f"Modelled time per iteration and unknown of {len(seconds)} methods against the number of unknowns. "
        f"The fastest takes {duration(quickest.min())} to {duration(quickest.max())}."
    )
    return Scene("crossover", x, y, layers, spoken=spoken, logs="xy")


IDEAL = "ideal: time of one {} / number"
DEEPEST = 0.5
"""Part of the shortest time down to which the ideal line is drawn, so that the methods have room."""
MEASURED = "{}, measured"


def scaling_scene(
    counts: Sequence[int],
    seconds: Mapping[str, Sequence[float | None]],
    *,
    at: int | None = None,
    of: str = "GPU",
    crossings: Mapping[str, int | None] | None = None,
    measured: Mapping[str, Sequence[float]] | None = None,
) -> Scene:
    """Seconds per iteration on logarithmic axes, modelled, and the shortest of one GPU over their number.

    counts: GPUs, ascending. seconds: by method, None where the system does not fit. at: a number to mark. of: the word
    for what is counted. crossings: by method, the number from which on it takes less time than the first one. measured:
    times on the same numbers, by method.
    """
    numbers = np.asarray(counts, float)
    times = {name: np.array([math.nan if value is None else value for value in each]) for name, each in seconds.items()}
    layers: list[Layer] = []
    best = math.inf
    for place, (name, each) in enumerate(times.items()):
        known = np.isfinite(each)
        layers.append(CurveOf(name, numbers[known], each[known], style=place, every=True))
        if known.any():
            best = min(best, float((each * numbers)[known][0]))
        if measured and name in measured:
            layers.append(PointsOf(MEASURED.format(name), numbers, np.asarray(measured[name]), style=place, size=6))
    if math.isfinite(best):
        ideal = IDEAL.format(of)
        shortest = min(float(np.nanmin(each)) for each in times.values() if np.isfinite(each).any())
        above = best / numbers >= DEEPEST * shortest
        layers.append(CurveOf(ideal, numbers[above], (best / numbers)[above], style=len(times), faint=True, plain=True))
    said = ""
    for name, crossing in (crossings or {}).items():
        if crossing is not None:
            where = np.array([float(crossing)])
            there = times[name][list(counts).index(crossing)]
            sentence = f"{name} takes less than {next(iter(times))} from {count(crossing)} {of}s on"
            layers.append(PointsOf(sentence, where, np.array([there]), size=7, outlined=True))
            said += f" {sentence}."
    if at is not None:
        layers.append(LineAt(at, f"{{}} {of}s", upright=True))
    # Between numbers that double, ticks at powers of ten are at none of them.
    doubling = all(later == 2 * earlier for earlier, later in itertools.pairwise(counts))
    x = Axis(f"{of}s", "count", log=True, marks=list(counts) if doubling else None)
    y = Axis("time per iteration, modelled", "s", log=True)
    spoken = (
        f"Modelled time per iteration of {len(times)} methods against the number of {of}s, {counts[0]} to {counts[-1]}."
    )
    return Scene("scaling", x, y, layers, spoken=spoken + said, logs="xy")
