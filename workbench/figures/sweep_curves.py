"""A result against a parameter, a curve for each value of another one, and parallel coordinates of many runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from workbench.errors import InputError
from workbench.figures.style import new_figure
from workbench.scenes.style import curve_style


def sweep_curves(
    x: np.ndarray,
    curves: Mapping[str, np.ndarray],
    *,
    xlabel: str,
    ylabel: str,
    log: bool = False,
    width: float = 5.5,
    height: float = 3.6,
) -> Figure:
    """Curves by name, each of shape (x.size,), NaN for no value; the vertical axis is logarithmic.

    log: the horizontal axis too. Sizes in inches. Raises InputError without any value.
    """
    if not any(np.isfinite(values).any() for values in curves.values()):
        raise InputError("no run has a value to draw yet")
    figure = new_figure(width, height)
    axes = figure.add_subplot()
    for place, (name, values) in enumerate(curves.items()):
        style = curve_style(place)
        look = {"color": style.colour, "linestyle": style.linestyle, "marker": style.marker, "markersize": 5}
        axes.plot(x, values, label=name or None, linewidth=1.4, **look)
    axes.set(xlabel=xlabel, ylabel=ylabel, yscale="log", **({"xscale": "log"} if log else {}))
    axes.set_xticks(x, [f"{value:g}" for value in x])
    axes.minorticks_off()
    axes.grid(axis="y", color="#e4e4e4", linewidth=0.5)
    if any(curves):
        axes.legend(fontsize="small", frameon=False)
    return figure


def parallel_coordinates(
    axes: Sequence[tuple[str, Sequence[tuple[float, str]]]],
    shares: np.ndarray,
    *,
    width: float = 7.5,
    height: float = 3.6,
) -> Figure:
    """A line for each run through upright axes, coloured by the last.

    axes: of each its title and ticks as pairs of a share from 0 to 1 and a text. shares: shape (runs, axes), NaN for
    none. Sizes in inches. Raises InputError without a run.
    """
    if not shares.size:
        raise InputError("no run has a value to draw yet")
    figure = new_figure(width, height)
    plot = figure.add_subplot()
    colours = matplotlib.colormaps["cividis"]
    for run in shares:
        colour = colours(0.85 * run[-1]) if np.isfinite(run[-1]) else "#a9adb5"
        plot.plot(range(len(axes)), run, color=colour, linewidth=1.2, linestyle="-" if np.isfinite(run[-1]) else ":")
    for place, (_, ticks) in enumerate(axes):
        plot.axvline(place, color="#858a94", linewidth=0.8)
        for share, text in ticks:
            where = {"xytext": (4, 0), "textcoords": "offset points", "va": "center"}
            plot.annotate(text, (place, share), fontsize="small", **where)
    plot.set_xticks(range(len(axes)), [title for title, _ in axes])
    plot.set_yticks([])
    plot.spines[:].set_visible(False)
    plot.set_xlim(-0.1, len(axes) - 0.6)
    return figure
