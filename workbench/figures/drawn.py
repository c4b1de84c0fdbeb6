"""The numbers that a figure shows, as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PathCollection, PolyCollection
from matplotlib.figure import Figure

Table = Mapping[str, Sequence[Any]]
"""Columns by name, all of one length."""
MOST_CELLS = 1 << 14
"""Of a picture that are listed. Larger ones are better made again from the provenance than read from a table."""
COLUMNS = ("panel", "series", "x", "y", "value")


def drawn(figure: Figure) -> Table:
    """Curves, marks, bars and the cells of pictures: panel, series, x, y and value, a row a point.

    panel: the number of its axes, from 1. series: as in the legend, empty without a name. x, y: in the units of the
    axes. value: of a picture's cell, and the length of a bar along x; NaN for what has none. Pictures of more
    than 16,384 cells are left out. Cost: the figure's points.
    """
    rows: list[tuple[Any, ...]] = []
    # A colour bar only repeats what the picture says.
    panels = [axes for axes in figure.axes if axes.get_label() != "<colorbar>"]
    for number, axes in enumerate(panels, 1):
        rows += [(number, *row) for row in (*_curves(axes), *_marks(axes), *_ticks(axes), *_bars(axes), *_cells(axes))]
    return {name: [row[place] for row in rows] for place, name in enumerate(COLUMNS)}


def _curves(axes: Axes) -> list[tuple[Any, ...]]:
    """Lines from side to side are no data, and neither are entries of a legend, which have no points."""
    lines = [line for line in axes.lines if line.get_transform() == axes.transData]
    return [
        (_name(line), float(x), float(y), np.nan)
        for line in lines
        for x, y in zip(*(np.asarray(values, np.float64) for values in line.get_data(orig=False)), strict=True)
        if np.isfinite(y)
    ]


def _marks(axes: Axes) -> list[tuple[Any, ...]]:
    found = [marks for marks in axes.collections if isinstance(marks, PathCollection)]
    return [
        (_name(marks), float(x), float(y), np.nan)
        for marks in found
        for x, y in np.ma.getdata(marks.get_offsets())
        if np.isfinite(y)
    ]


def _ticks(axes: Axes) -> list[tuple[Any, ...]]:
    """Short lines across, by their middles."""
    found = [lines for lines in axes.collections if isinstance(lines, LineCollection)]
    middles = [(_name(lines), np.mean(segment, axis=0)) for lines in found for segment in lines.get_segments()]
    return [(name, float(x), float(y), np.nan) for name, (x, y) in middles]


def _bars(axes: Axes) -> list[tuple[Any, ...]]:
    rows = []
    for bars in axes.collections:
        if isinstance(bars, PolyCollection):
            boxes = [path.get_extents() for path in bars.get_paths()]
            rows += [(_name(bars), box.x0, (box.y0 + box.y1) / 2, box.width) for box in boxes]
    return rows


def _cells(axes: Axes) -> list[tuple[Any, ...]]:
    rows = []
    for image in axes.images:
        values = np.ma.filled(np.ma.asarray(image.get_array(), np.float64), np.nan)
        if values.ndim != 2 or values.size > MOST_CELLS:
            continue
        left, right, bottom, top = image.get_extent()
        if image.origin == "upper":
            bottom, top = top, bottom
        down, across = values.shape
        x = left + (np.arange(across) + 0.5) * (right - left) / across
        y = bottom + (np.arange(down) + 0.5) * (top - bottom) / down
        rows += [(_name(image), float(x[j]), float(y[i]), float(values[i, j])) for i, j in np.ndindex(*values.shape)]
    return rows


def _name(artist: Any) -> str:
    """Its name in the legend. Matplotlib's own names begin with an underscore."""
    label = str(artist.get_label())
    return "" if label.startswith("_") else label
