"""Roofline plot of the kernels of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from workbench.analysis.roofline import RooflinePoint
from workbench.errors import InputError
from workbench.figures.style import new_figure
from workbench.scenes.style import COLOURS

LONGEST_NAME = 40
GREY = "#444444"
LARGEST = 420
"""Marker area, in points squared, of a kernel with 100% of the time."""


def roofline(
    points: Sequence[RooflinePoint],
    bandwidth: float | None = None,
    flops: float | None = None,
    *,
    basis: str = "",
    title: str = "",
    colours: Mapping[str, str] | None = None,
    width: float = 7.5,
    height: float = 3.8,
) -> Figure:
    """Gflop/s against flop/byte on logarithmic axes, one marker per kernel, with an area proportional to its time.

    bandwidth: peak in bytes per second, the slanted roof. flops: peak in operations per second, the horizontal roof.
    basis: of the peaks, `measured` or `nominal`. colours: by kernel, by default in order of time. Kernels are numbered
    in order of time; those without bytes or operations appear in the legend only. Sizes in inches. Raises InputError
    if no kernel has both.
    """
    placed = [(n, point) for n, point in enumerate(points, 1) if point.intensity and point.flop_rate]
    if not placed:
        raise InputError("no kernel of this lane states both bytes and operations, so there are no roofline points")
    figure = new_figure(width, height)
    axes = figure.add_subplot()
    at = np.array([point.intensity for _, point in placed], float)
    rate = np.array([point.flop_rate for _, point in placed], float) / 1e9
    low, high = at.min() / 2.5, max(2 * at.max(), 2.5 * flops / bandwidth if flops and bandwidth else 0)
    if bandwidth:
        x = np.geomspace(low, high, 200)
        roof = x * bandwidth / 1e9
        axes.plot(x, np.minimum(roof, flops / 1e9) if flops else roof, color=GREY, lw=1.6, zorder=1)
    axes.set_title(f"{title}\n{_roof(bandwidth, flops, basis)}", fontsize="medium", loc="left")
    for (number, point), x, y in zip(placed, at, rate, strict=True):
        colour, area = _colour(number, point, colours), 20 + LARGEST * point.share
        axes.scatter(x, y, s=area, color=colour, edgecolor="white", zorder=2)
        # Next to the marker, since text on it would not be legible on every colour.
        axes.annotate(
            str(number), (x, y), xytext=(0.5 * area**0.5 + 2, 0), textcoords="offset points", va="center",
            fontsize="small", zorder=3,
        )  # fmt: skip
    for number, point in enumerate(points, 1):
        colour = _colour(number, point, colours) if (number, point) in placed else "none"
        axes.plot([], [], "o", color=colour, label=_label(number, point))
    axes.set(xscale="log", yscale="log", xlim=(low, high), xlabel="operations per byte, flop/B", ylabel="Gflop/s")
    axes.set_ylim(rate.min() / 2, 2 * max(rate.max(), flops / 1e9 if flops else 0))
    _format_axes(axes)
    figure.legend(loc="outside right center", fontsize="small", frameon=False)
    return figure


def _colour(number: int, point: RooflinePoint, colours: Mapping[str, str] | None) -> str:
    return (colours or {}).get(point.kernel) or COLOURS[(number - 1) % len(COLOURS)]


def _format_axes(axes: Axes) -> None:
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter("{x:g}")
        axis.set_minor_formatter(NullFormatter())
    axes.grid(color="#e4e4e4", linewidth=0.5)
    axes.set_axisbelow(True)


def _roof(bandwidth: float | None, flops: float | None, basis: str) -> str:
    """The roof as text."""
    if not bandwidth:
        return "no roof: the machine's bandwidth is unknown"
    peaks = f"{bandwidth / 1e9:.4g} GB/s" + (f", {flops / 1e9:.4g} Gflop/s" if flops else "")
    return f"roof, {basis}: {peaks}" if basis else f"roof: {peaks}"


def _label(number: int, point: RooflinePoint) -> str:
    name = point.kernel if len(point.kernel) <= LONGEST_NAME else point.kernel[: LONGEST_NAME - 1] + "…"
    share = f"{point.share:.0%}" if point.share >= 0.01 else "below 1%"
    return f"{number}  {name}  {share}"
