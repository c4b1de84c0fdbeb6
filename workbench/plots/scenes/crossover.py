"""The sizes at which one method overtakes another: time per iteration against the number of unknowns."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from workbench.errors import InputError
from workbench.plots.scenes.scene import Axis, CurveOf, Layer, LineAt, PointsOf, Scene
from workbench.words.numbers import duration


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
    x, y = Axis("unknowns N", "count", log=True), Axis("time per iteration and unknown, modelled", "s", log=True)
    spoken = (
        f"Modelled time per iteration and unknown of {len(seconds)} methods against the number of unknowns. "
        f"The fastest takes {duration(quickest.min())} to {duration(quickest.max())}."
    )
    return Scene("crossover", x, y, layers, spoken=spoken, logs="xy")
