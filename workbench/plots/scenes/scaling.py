"""Strong scaling: time per iteration against the number of GPUs or ranks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from workbench.plots.scenes.scene import Axis, CurveOf, Layer, LineAt, PointsOf, Scene
from workbench.words.numbers import count

IDEAL = "one {}'s over their number"
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
        layers.append(CurveOf(ideal, numbers, best / numbers, style=len(times), faint=True, plain=True))
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
    x, y = Axis(f"{of}s", "count", log=True), Axis("time per iteration, modelled", "s", log=True)
    spoken = (
        f"Modelled time per iteration of {len(times)} methods against the number of {of}s, {counts[0]} to {counts[-1]}."
    )
    return Scene("scaling", x, y, layers, spoken=spoken + said, logs="xy")
