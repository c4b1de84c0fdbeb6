"""The kernels of a run under the roof of a machine."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from workbench.analysis.roofline import Spot
from workbench.errors import InputError
from workbench.figures.style import COLOURS, new_figure

LONGEST_NAME = 40
GREY = "#444444"
LARGEST = 420
"""Area of the mark, in points squared, of a kernel that takes all the time."""


def roofline(
    spots: Sequence[Spot],
    bandwidth: float | None = None,
    flops: float | None = None,
    *,
    basis: str = "",
    title: str = "",
    width: float = 7.5,
    height: float = 3.8,
) -> Figure:
    """Gflop/s against flop/byte on logarithmic axes, a mark per kernel with an area as its share of the time.

    bandwidth: bytes per second, the slanted roof; flops: per second, the level one; both are left out where not given.
    basis: a word for the roof, `measured` or `nominal`. Kernels without bytes or operations have no mark, only a line
    in the legend. Numbers are in order of time. Sizes in inches. Raises InputError when no kernel has a place.
    """
    placed = [(n, spot) for n, spot in enumerate(spots, 1) if spot.intensity and spot.flop_rate]
    if not placed:
        raise InputError("no kernel of this lane tells both bytes and operations, so none has a place under a roof")
    figure = new_figure(width, height)
    axes = figure.add_subplot()
    at = np.array([spot.intensity for _, spot in placed], float)
    rate = np.array([spot.flop_rate for _, spot in placed], float) / 1e9
    low, high = at.min() / 2.5, max(2 * at.max(), 2.5 * flops / bandwidth if flops and bandwidth else 0)
    if bandwidth:
        x = np.geomspace(low, high, 200)
        roof = x * bandwidth / 1e9
        axes.plot(x, np.minimum(roof, flops / 1e9) if flops else roof, color=GREY, lw=1.6, zorder=1)
    axes.set_title(f"{title}\n{_roof(bandwidth, flops, basis)}", fontsize="medium", loc="left")
    for (number, spot), x, y in zip(placed, at, rate, strict=True):
        colour, area = COLOURS[(number - 1) % len(COLOURS)], 20 + LARGEST * spot.share
        axes.scatter(x, y, s=area, color=colour, edgecolor="white", zorder=2)
        # Beside the mark, so that it is read on every colour.
        axes.annotate(
            str(number), (x, y), xytext=(0.5 * area**0.5 + 2, 0), textcoords="offset points", va="center",
            fontsize="small", zorder=3,
        )  # fmt: skip
    for number, spot in enumerate(spots, 1):
        colour = COLOURS[(number - 1) % len(COLOURS)] if (number, spot) in placed else "none"
        axes.plot([], [], "o", color=colour, label=_label(number, spot))
    axes.set(xscale="log", yscale="log", xlim=(low, high), xlabel="operations per byte, flop/B", ylabel="Gflop/s")
    axes.set_ylim(rate.min() / 2, 2 * max(rate.max(), flops / 1e9 if flops else 0))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter("{x:g}")
        axis.set_minor_formatter(NullFormatter())
    axes.grid(color="#e4e4e4", linewidth=0.5)
    axes.set_axisbelow(True)
    figure.legend(loc="outside right center", fontsize="small", frameon=False)
    return figure


def _roof(bandwidth: float | None, flops: float | None, basis: str) -> str:
    """The roof in words."""
    if not bandwidth:
        return "no roof: the machine's bandwidth is not given"
    told = f"{bandwidth / 1e9:.4g} GB/s" + (f", {flops / 1e9:.4g} Gflop/s" if flops else "")
    return f"roof, {basis}: {told}" if basis else f"roof: {told}"


def _label(number: int, spot: Spot) -> str:
    name = spot.kernel if len(spot.kernel) <= LONGEST_NAME else spot.kernel[: LONGEST_NAME - 1] + "…"
    share = f"{spot.share:.0%}" if spot.share >= 0.01 else "below 1%"
    return f"{number}  {name}  {share}"
