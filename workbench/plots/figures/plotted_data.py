"""The data that a Matplotlib figure shows, read back from its artists as a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PathCollection, PolyCollection
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.transforms import Bbox

Table = Mapping[str, Sequence[Any]]
"""Columns by name, all of one length."""
MAX_CELLS = 1 << 14
"""Images with more cells are not listed; they can be reproduced from the provenance."""
COLUMNS = ("panel", "series", "x", "y", "value")
Kind = TypeVar("Kind", bound=Artist)


def plotted_data(figure: Figure) -> Table:
    """One row per visible data point: of curves, markers, ticks, bars, bands and images.

    panel: number of the axes, from 1. series: name in the legend, or empty. x, y: in the units of the axes. value: of
    an image cell, or the length of a bar from x (horizontal) or y (vertical); otherwise NaN. Ticks are short line
    segments as of `vlines`, listed by their midpoints. A band is listed by its corners. Images of more than 16,384
    cells are omitted. Cost: proportional to the number of points.

    Examples:
        >>> from workbench.plots import figures, scenes
        >>> scene = scenes.residual_gap_scene({"CG": ([1.0, 1e-8], [1.0, 1e-8])})
        >>> figures.plotted_data(figures.draw(scene))["y"]
        [1.0, 1e-08, 1.0, 1e-08]
    """
    rows: list[tuple[Any, ...]] = []
    # A colour bar repeats the data of its image.
    panels = [axes for axes in figure.axes if axes.get_label() != "<colorbar>"]
    for number, axes in enumerate(panels, 1):
        rows += [(number, *row) for part in PARTS for row in part(axes)]
    return {name: [row[place] for row in rows] for place, name in enumerate(COLUMNS)}


def _curves(axes: Axes) -> list[tuple[Any, ...]]:
    """Points of lines in data coordinates; reference lines such as those of `axhline` are omitted."""
    lines = [line for line in _visible(axes.lines, Line2D) if line.get_transform() == axes.transData]
    return [
        (_name(line), float(x), float(y), np.nan)
        for line in lines
        for x, y in zip(*(np.asarray(values, np.float64) for values in line.get_data(orig=False)), strict=True)
        if np.isfinite(y)
    ]


def _marks(axes: Axes) -> list[tuple[Any, ...]]:
    """Markers of scatter plots."""
    return [
        (_name(marks), float(x), float(y), np.nan)
        for marks in _visible(axes.collections, PathCollection)
        for x, y in np.ma.getdata(marks.get_offsets())
        if np.isfinite(y)
    ]


def _ticks(axes: Axes) -> list[tuple[Any, ...]]:
    """Midpoints of line segments."""
    found = _visible(axes.collections, LineCollection)
    middles = [(_name(lines), np.mean(segment, axis=0)) for lines in found for segment in lines.get_segments()]
    return [(name, float(x), float(y), np.nan) for name, (x, y) in middles]


def _bars(axes: Axes) -> list[tuple[Any, ...]]:
    rows = []
    for bars in axes.containers:
        if isinstance(bars, BarContainer):
            vertical = bars.orientation == "vertical"
            rows += [(_name(bars), *_bar(bar.get_bbox(), vertical)) for bar in _visible(bars.patches, Rectangle)]
    return rows


def _areas(axes: Axes) -> list[tuple[Any, ...]]:
    """Boxes of `broken_barh` as horizontal bars, and bands of `fill_between`."""
    rows = []
    for areas in _visible(axes.collections, PolyCollection):
        for corners in (np.asarray(path.vertices) for path in areas.get_paths()):
            # The first vertex counts twice: a box has 5, a band over only two points 7.
            if len(corners) == 5:
                rows.append((_name(areas), *_bar(Bbox([corners.min(axis=0), corners.max(axis=0)]), False)))
            else:
                rows += [(_name(areas), float(x), float(y), np.nan) for x, y in corners]
    return rows


def _bar(box: Bbox, vertical: bool) -> tuple[float, float, float]:
    """The centre of the bar's base, and its length."""
    if vertical:
        return float(box.x0 + box.x1) / 2, float(box.y0), float(box.height)
    return float(box.x0), float(box.y0 + box.y1) / 2, float(box.width)


def _cells(axes: Axes) -> list[tuple[Any, ...]]:
    """Centres and values of the cells of images."""
    rows = []
    for image in _visible(axes.images, AxesImage):
        values = np.ma.filled(np.ma.asarray(image.get_array(), np.float64), np.nan)
        if values.ndim != 2 or values.size > MAX_CELLS:
            continue
        left, right, bottom, top = image.get_extent()
        if image.origin == "upper":
            bottom, top = top, bottom
        down, across = values.shape
        x = left + (np.arange(across) + 0.5) * (right - left) / across
        y = bottom + (np.arange(down) + 0.5) * (top - bottom) / down
        rows += [(_name(image), float(x[j]), float(y[i]), float(values[i, j])) for i, j in np.ndindex(*values.shape)]
    return rows


PARTS = (_curves, _marks, _ticks, _bars, _areas, _cells)


def _visible(artists: Iterable[Any], kind: type[Kind]) -> list[Kind]:
    return [artist for artist in artists if isinstance(artist, kind) and artist.get_visible()]


def _name(artist: Any) -> str:
    """The artist's name in the legend; default labels of Matplotlib begin with an underscore."""
    label = str(artist.get_label())
    return "" if label.startswith("_") else label
