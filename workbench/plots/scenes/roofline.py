"""Kernels under the roof of a machine as a scene of a plot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from workbench.costs.roofline import RooflinePoint
from workbench.errors import InputError
from workbench.machines.profile import Profile
from workbench.plots.scenes.scene import Axis, CurveOf, Layer, PointsOf, Scene
from workbench.words.names import kernel_name, shortened
from workbench.words.numbers import amount, count, duration, number, percent

X = Axis("operations per byte", "flop/B", log=True)
Y = Axis("operations per second", "Gflop/s", log=True)
LARGEST, SMALLEST = 12.0, 4.0
"""Radii in pixels of a kernel with all of the time, and with none of it."""
SHORT = 18
"""Characters of a name next to its mark."""


def roofline_scene(
    found: Sequence[RooflinePoint], roof: Profile | None, looks: Mapping[str, str], spoken: str
) -> Scene:
    """A mark for each kernel with bytes and operations, as large as its share of the time. looks: colours by kernel.

    Raises InputError if no kernel has both.

    Examples:
        >>> from workbench.costs import RooflinePoint
        >>> from workbench.machines.profile import profile
        >>> from workbench.plots.scenes import roofline_scene
        >>> point = RooflinePoint("A p", 10, 1e-3, 1.0, 8_000_000, 2_000_000)
        >>> roofline_scene([point], profile("k20m"), {"A p": "#1170aa"}, "One kernel.").name
        'roofline'
    """
    placed = [point for point in found if point.intensity and point.flop_rate]
    if not placed:
        raise InputError("no kernel of this lane states both bytes and operations, so there are no roofline points")
    at = np.array([point.intensity for point in placed], float)
    rate = np.array([point.flop_rate for point in placed], float) / 1e9
    layers: list[Layer] = []
    flops = roof.flops.value / 1e9 if roof and roof.flops else None
    if roof:
        bandwidth = roof.bandwidth.value / 1e9
        low, high = at.min() / 2.5, max(2 * at.max(), 2.5 * flops / bandwidth if flops else 0)
        x = np.geomspace(low, high, 100)
        y = np.minimum(x * bandwidth, flops) if flops else x * bandwidth
        peak = f"{roof.title}: {bandwidth:.4g} GB/s" + (f", {flops:.4g} Gflop/s" if flops else "")
        layers.append(CurveOf(peak, x, y, 5, plain=True, dash=(4.0, 3.0)))
    shares = [share_of(point, roof) for point in placed]
    layers.append(
        PointsOf(
            "",
            at,
            rate,
            marker="o",
            sizes=[SMALLEST + (LARGEST - SMALLEST) * point.share**0.5 for point in placed],
            labels=[
                f"{shortened(kernel_name(point.kernel), SHORT)}  {share}"
                for point, share in zip(placed, shares, strict=True)
            ],
            texts=[_words(point, share) for point, share in zip(placed, shares, strict=True)],
            keys=[point.kernel for point in placed],
            colours=[looks[point.kernel] for point in placed],
            filled=True,
            outlined=True,
        )
    )
    return Scene("roofline", X, Y, layers, spoken=spoken, ways="xy")


def share_of(point: RooflinePoint, roof: Profile | None) -> str:
    """The share of the roof that a kernel reaches; "" without a roof."""
    share = point.of_roof(roof.bandwidth.value, roof.flops.value if roof.flops else None) if roof else None
    return "" if share is None else percent(share)


def _words(point: RooflinePoint, share: str) -> list[str]:
    """The lines about a kernel that the pointer shows."""
    assert point.bandwidth is not None
    assert point.flop_rate is not None
    return [
        kernel_name(point.kernel),
        f"{share} of the roofline" if share else "no roofline",
        f"{amount(point.bandwidth)}/s, {number(point.flop_rate / 1e9)} Gflop/s, {number(point.intensity)} flop/B",
        f"{count(point.calls)} calls, {duration(point.seconds)} together, {percent(point.share)} of the lane",
    ]
