"""The layers of a scene as Matplotlib artists."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.colors import LogNorm, Normalize
from matplotlib.patches import Rectangle
from matplotlib.patheffects import withStroke
from matplotlib.ticker import Formatter, LogLocator, MaxNLocator, NullFormatter

from workbench.plots.figures.style import BATLOW, IN_CELL, MAPS
from workbench.plots.scenes.scene import BarsOf, CellsOf, CurveOf, LineAt, ParallelOf, PointsOf
from workbench.words.names import shortened
from workbench.words.numbers import said, tick, unit_of

INK, FAINT, RULE, EDGE = "#444444", "#a9adb5", "#dddddd", "#858a94"
"""Texts and reference lines; what is pale behind the rest; grid lines; axes."""
MARKS, FEW = 8, 60
"""Marks along a curve, and samples of which each has one where the curve asks for it."""
PIXEL = 0.75
"""Points of a pixel of the page."""
PALE = 0.2
"""Opacity of a pale band."""
LABEL = "label"
"""The gid of a word next to a point, which is left out where it would meet another."""
LONGEST_NAME = 44
MOST_NUMBERS = 400
"""Cells that have room for their numbers."""


@dataclasses.dataclass(eq=False)
class Words(Formatter):
    """Numbers as the page writes them. factor: of the unit. powers: of ten, as 10⁻³."""

    factor: float = 1.0
    powers: bool = False

    def __call__(self, x: float, pos: int | None = None) -> str:
        return tick(x * self.factor, powers=self.powers)


def number_ticks(ticked: Axis, log: bool, factor: float, *, whole: bool = False) -> None:
    """Ticks as the page has them. log: the axis is logarithmic. factor: of its unit. whole: integers only.

    Powers of ten alone where they are two or more, even steps within a decade.
    """
    low, high = sorted(np.abs(ticked.get_view_interval()))
    wide = log and high >= 100 * low
    if log and high >= 10 * low:
        ticked.set_major_locator(LogLocator(subs=(1.0,) if wide else (1.0, 2.0, 5.0), numticks=8))
    else:
        ticked.set_major_locator(MaxNLocator(6, integer=whole, steps=[1, 2, 5, 10]))
    ticked.set_major_formatter(Words(factor, powers=wide))
    ticked.set_minor_formatter(NullFormatter())


def curve(axes: Axes, layer: CurveOf) -> None:
    """A line with marks, pale or strong as the layer says."""
    look, count = layer.look, len(layer.x)
    width = 2.0 if layer.chosen else 0.7 if layer.faint else 1.3
    marks = {"marker": look.marker or None, "markersize": 4, "mfc": "#ffffff" if look.marker not in "x+*" else None}
    if layer.only:
        marks["markevery"] = max(1, count // (5 * MARKS))
    else:
        marks["markevery"] = 1 if layer.every and count <= FEW else max(1, count // MARKS)
    (line,) = axes.plot(
        layer.x,
        _on(axes, layer.y),
        color=FAINT if layer.faint else look.colour,
        linestyle="" if layer.only else look.linestyle,
        linewidth=width,
        label=layer.name or None,
        gid=layer.of or layer.name,
        **marks,
    )
    if layer.rim:
        line.set_path_effects([withStroke(linewidth=width + 2, foreground="#ffffff")])


def points(axes: Axes, layer: PointsOf) -> None:
    """Marks, or upright strokes, each with its word next to it, if any."""
    colour, size = FAINT if layer.faint else layer.colour, 2 * PIXEL * layer.size
    if layer.spans:
        low, high = np.transpose(layer.spans)
        axes.vlines(layer.x, low, high, color=colour, lw=0.9)
    if layer.marker == "":
        return
    if layer.tall:
        axes.vlines(layer.x, layer.y - layer.tall, layer.y + layer.tall, color=colour, lw=0.9, label=layer.name)
    elif layer.sizes is None and layer.colours is None:
        filled, edge = layer.filled or layer.marker == ".", "#000000" if layer.outlined else colour
        marks: dict[str, Any] = {"marker": "o" if layer.marker == "." else layer.marker, "markersize": size}
        marks |= {"mfc": colour if filled else "none", "mec": edge}
        axes.plot(layer.x, _on(axes, layer.y), ls="", label=layer.name or None, gid=layer.of or layer.name, **marks)
    else:
        _each_point(axes, layer, colour)
    for k, words in enumerate(layer.labels or ()):
        away = PIXEL * (layer.sizes[k] if layer.sizes else layer.size) + 3
        place = {"xytext": (0 if layer.inside else away, 0), "textcoords": "offset points", "va": "center"}
        side = "center" if layer.inside else "left"
        axes.annotate(words, (layer.x[k], layer.y[k]), fontsize="small", gid=LABEL, ha=side, **place)


def _each_point(axes: Axes, layer: PointsOf, colour: str) -> None:
    """Marks of different sizes and colours."""
    for k, (x, y) in enumerate(zip(layer.x, layer.y, strict=True)):
        size = layer.sizes[k] if layer.sizes else layer.size
        fill = layer.colours[k] if layer.colours else colour
        look: dict[str, Any] = {"facecolor": fill, "edgecolor": "#000000", "linewidth": 0.6}
        axes.scatter(x, y, (2 * PIXEL * size) ** 2, zorder=3, **look)
        if layer.texts and not layer.name:
            # Marks of one size in the legend.
            axes.scatter([], [], 40, label=shortened(layer.texts[k][0], LONGEST_NAME), **look)


def bars(axes: Axes, layer: BarsOf) -> None:
    """Bars on their bases."""
    base = np.zeros(len(layer.x)) if layer.base is None else layer.base
    look: dict[str, Any] = {"color": layer.colour, "label": layer.name or None, "alpha": PALE if layer.faint else None}
    axes.bar(layer.x, layer.y - base, layer.wide, bottom=base, linewidth=0, **look)


def line(axes: Axes, layer: LineAt) -> None:
    """A dashed line across the panel, with its label at its end."""
    look = {"color": layer.colour or INK, "linewidth": 0.8, "zorder": 0.5}
    (axes.axvline if layer.upright else axes.axhline)(layer.value, linestyle=(0, (5, 4)), gid=layer.words, **look)
    if not layer.label:
        return
    words: dict[str, Any] = {"textcoords": "offset points", "fontsize": "small", "color": INK, "gid": layer.words}
    if layer.upright:
        axes.annotate(layer.words, (layer.value, 1), xycoords=("data", "axes fraction"), xytext=(3, -9), **words)
    else:
        at = {"xycoords": ("axes fraction", "data"), "xytext": (4, 0), "va": "center"}
        axes.annotate(layer.words, (1, layer.value), **at, **words)


def cells(axes: Axes, layer: CellsOf) -> None:
    """An image with its colour bar; a cell has its number if it has room, and is hatched without one."""
    shown = np.ma.masked_invalid(layer.values)
    if layer.log:
        shown = np.ma.masked_less_equal(shown, 0)
    low, high = (float(shown.min()), float(shown.max())) if shown.count() else (1.0, 2.0)
    if layer.map == "signed":
        low, high = -max(-low, high), max(-low, high)
    if low == high:
        # One value has the middle of the map, as on the page.
        low, high = (low / 1.1, high * 1.1) if layer.log else (low - 0.5, high + 0.5)
    norm = LogNorm(low, high) if layer.log else Normalize(low, high)
    rows, columns = layer.values.shape
    extent = (layer.left - 0.5, layer.left + columns - 0.5, -0.5, rows - 0.5)
    options = {"aspect": axes.get_aspect(), "interpolation": "nearest"}
    image = axes.imshow(shown, origin="lower", extent=extent, cmap=MAPS[layer.map], norm=norm, **options)
    unit, factor = unit_of(layer.kind, high)
    title = f"{layer.title} ({unit})" if unit else layer.title
    bar = axes.figure.colorbar(image, ax=axes, label=title, pad=0.02)
    number_ticks(bar.ax.yaxis, layer.log, factor)
    bar.ax.tick_params(which="minor", length=0)
    bar.outline.set_visible(False)
    if layer.figures and layer.values.size <= MOST_NUMBERS:
        _numbers(axes, layer, norm)


def _numbers(axes: Axes, layer: CellsOf, norm: Normalize) -> None:
    for k, value in enumerate(layer.values.ravel()):
        row, column = divmod(k, layer.values.shape[1])
        words: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": "small"}
        if np.isfinite(value):
            red, green, blue, _ = MAPS[layer.map](norm(value))
            ink = "#000000" if 0.3 * red + 0.59 * green + 0.11 * blue > 0.5 else "#ffffff"
            axes.text(column + layer.left, row, said(float(value), layer.kind), color=ink, gid=IN_CELL, **words)
            continue
        reason = layer.absent[k] if layer.absent else ""
        corner, hatch = (column + layer.left - 0.5, row - 0.5), "xxx" if reason else "///"
        axes.add_patch(Rectangle(corner, 1, 1, facecolor="#eeeeee", edgecolor="#999999", hatch=hatch, linewidth=0))
        if reason:
            behind = {"facecolor": "#ffffff", "edgecolor": "none", "pad": 1.5}
            axes.text(column + layer.left, row, reason, color=INK, bbox=behind, **words)


def parallel(axes: Axes, layer: ParallelOf) -> None:
    """A line for each run, coloured by the last axis, through upright axes with their ticks."""
    for run in layer.shares:
        known = bool(np.isfinite(run[-1]))
        colour = BATLOW((10 + 170 * run[-1]) / 255) if known else FAINT
        axes.plot(range(len(layer.axes)), run, color=colour, linewidth=1.2, linestyle="-" if known else ":")
    for place, (title, ticks) in enumerate(layer.axes):
        axes.axvline(place, color=EDGE, linewidth=0.8)
        axes.annotate(title, (place, 1), xytext=(0, 6), textcoords="offset points", ha="center", fontsize="small")
        for share, text in ticks:
            right: dict[str, Any] = {"xytext": (4, 0), "textcoords": "offset points", "va": "center"}
            behind = {"facecolor": "#ffffff", "edgecolor": "none", "pad": 1.0, "alpha": 0.85}
            axes.annotate(text, (place, share), fontsize="small", bbox=behind, **right)
    axes.set(xlim=(-0.2, len(layer.axes) - 0.5), ylim=(-0.02, 1.08))


def _on(axes: Axes, values: np.ndarray) -> np.ndarray:
    """Values that have a place on the axis."""
    values = np.asarray(values)
    return np.where(values > 0, values, np.nan) if axes.get_yscale() == "log" else values
