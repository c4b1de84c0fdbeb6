"""Kernels on lanes over time as Matplotlib artists."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch
from matplotlib.path import Path

from workbench.plots.figures.layers import EDGE, INK, LABEL
from workbench.plots.scenes.timeline import ABOVE, LanesOf

MIN_LABELLED_WIDTH = 0.045
"""Boxes narrower than this fraction of the axis have no label."""
LONGEST_LABEL = 8
HALF = 0.32
"""Half the height of a box, of the distance of two lanes."""
MOST_ARROWS = 60
"""More arrows cannot be distinguished, and are left out as on the page."""
ARROW: dict[str, Any] = {"arrowstyle": "-|>", "color": EDGE, "linewidth": 0.7, "mutation_scale": 6, "zorder": 0.8}
WORD: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": "small", "gid": LABEL}
LINE: dict[str, Any] = {"color": INK, "linewidth": 0.8, "zorder": 0.5}
NUMBER: dict[str, Any] = {**WORD, "ha": "left", "color": INK, "textcoords": "offset points"}
TITLE: dict[str, Any] = {"va": "center", "fontsize": "small", "weight": "bold", "color": INK}
CURVE = (Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4)


def lanes(axes: Axes, layer: LanesOf) -> None:
    """A box per event, the kernels with the longest time first in the legend, and arrows for what waits for what; above
    each set of lanes its title."""
    places = layer.lanes
    starts, lengths = layer.rows["start"], layer.rows["end"] - layer.rows["start"]
    styles = np.array([kernel.style for kernel in layer.kernels])
    across = np.array([places.get((kernel.group, kernel.lane), -1) for kernel in layer.kernels])
    numbers = layer.rows["kernel"]
    for style, words in layer.sums.items():
        colour = layer.kernels[int(np.flatnonzero(styles == style)[0])].colour
        for place in places.values():
            mine = (styles[numbers] == style) & (across[numbers] == place)
            if mine.any():
                look = {"facecolor": colour, "edgecolor": "white", "linewidth": 0.5, "label": words}
                boxes = list(zip(starts[mine].tolist(), lengths[mine].tolist(), strict=True))
                axes.broken_barh(boxes, (place - HALF, 2 * HALF), **look)
    wide = MIN_LABELLED_WIDTH * float(layer.rows["end"].max())
    for start, length, number in zip(starts, lengths, numbers, strict=True):
        name = layer.kernels[number].name
        if length > wide and len(name) <= LONGEST_LABEL:
            axes.text(start + length / 2, int(across[number]), name, color="black", **WORD)
    if len(layer.flows) <= MOST_ARROWS:
        _arrows(axes, layer.flows, across)
    _heads(axes, layer)


def _heads(axes: Axes, layer: LanesOf) -> None:
    """The titles of sets of lanes, and a line with its number where an iteration begins."""
    end = max(layer.lanes.values()) + 0.5
    above = layer.above
    below = [*above[1:], end + 0.5]
    for group, title in enumerate(layer.titles):
        at = (0, above[group] - HALF / 2)
        axes.annotate(title, at, xycoords=("axes fraction", "data"), **TITLE)
    for start in layer.starts:
        ends = below[start.group] - 1 + HALF, above[start.group] + 0.5 - HALF / 2
        low, high = ((end - place) / (end + ABOVE) for place in ends)
        axes.axvline(start.seconds, low, high, linestyle=(0, (5, 4)), **LINE)
        axes.annotate(start.words, (start.seconds, above[start.group] + HALF), xytext=(3, 0), **NUMBER)


def _arrows(axes: Axes, flows: np.ndarray, across: np.ndarray) -> None:
    """Curves that leave and arrive upright, as on the page, behind the boxes."""
    for end, start, cause, kernel in flows:
        place, other = across[int(cause)], across[int(kernel)]
        if place != other:
            edge = HALF * np.sign(other - place)
            middle = (place + other) / 2
            path = Path([(end, place + edge), (end, middle), (start, middle), (start, other - edge)], CURVE)
            axes.add_patch(FancyArrowPatch(path=path, **ARROW))
