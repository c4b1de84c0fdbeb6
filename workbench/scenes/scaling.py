"""Strong scaling: time per iteration against the number of GPUs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from workbench.scenes.scene import Axis, CurveOf, Layer, LineAt, Scene

IDEAL = "one GPU's over their number"


def scaling_scene(counts: Sequence[int], seconds: Mapping[str, Sequence[float | None]], *, at: int) -> Scene:
    """Seconds per iteration on logarithmic axes, modelled, and the shortest of one GPU over their number.

    counts: GPUs, ascending. seconds: by method, None where the system does not fit. at: a number to mark.
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
    if math.isfinite(best):
        layers.append(CurveOf(IDEAL, numbers, best / numbers, style=len(times), faint=True, plain=True))
    layers.append(LineAt(at, "{} GPUs", upright=True))
    x, y = Axis("GPUs", "count", log=True), Axis("time per iteration, modelled", "s", log=True)
    spoken = (
        f"Modelled time per iteration of {len(times)} methods against the number of GPUs, {counts[0]} to {counts[-1]}."
    )
    return Scene("scaling", x, y, layers, spoken=spoken, logs="xy")
