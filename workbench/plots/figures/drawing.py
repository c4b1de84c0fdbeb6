"""Scenes drawn by Matplotlib: the same data, names, order, colours, dashes, marks and ends of axes as on the page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis as Ticked
from matplotlib.figure import Figure, SubFigure
from matplotlib.patches import FancyArrowPatch
from matplotlib.path import Path
from matplotlib.ticker import NullFormatter

from workbench.errors import InputError
from workbench.plots.figures import layers
from workbench.plots.figures.layers import EDGE, INK, LABEL, RULE, Words, number_ticks
from workbench.plots.figures.style import IN_CELL, NotebookFigure, new_figure
from workbench.plots.scenes.scene import Axis, BarsOf, CellsOf, CurveOf, LineAt, ParallelOf, PointsOf, Scene
from workbench.plots.scenes.timeline import ABOVE, LanesOf
from workbench.plots.scenes.words import in_words
from workbench.words.numbers import unit_of

MIN_LABELLED_WIDTH = 0.045
"""Boxes narrower than this fraction of the axis have no label."""
LONGEST_LABEL = 8
MOST_MARKS = 8
"""Of more values that have ticks some have no label."""
HALF = 0.32
"""Half the height of a box, of the distance of two lanes."""
MOST_ARROWS = 60
"""More arrows cannot be distinguished, and are left out as on the page."""
ARROW: dict[str, Any] = {"arrowstyle": "-|>", "color": EDGE, "linewidth": 0.7, "mutation_scale": 6, "zorder": 0.8}
WORD: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": "small", "gid": LABEL}
ON_BOX: dict[str, Any] = {**WORD, "gid": IN_CELL}
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
            axes.text(start + length / 2, int(across[number]), name, color="black", **ON_BOX)
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


DRAWN: dict[type, Callable[[Axes, Any], None]] = {
    BarsOf: layers.bars,
    CellsOf: layers.cells,
    CurveOf: layers.curve,
    LanesOf: lanes,
    LineAt: layers.line,
    ParallelOf: layers.parallel,
    PointsOf: layers.points,
}

LONGEST_LEGEND = 68
"""Letters of the names that stand in one row of a legend."""
PANEL, ROW, MARGIN = 2.8, 0.2, 0.8
"""Inches of a panel's height, of a row of the legend, and of titles and ticks."""
LANE = 0.5
"""Inches of a lane's height."""


def draw(
    *scenes: Scene, title: str = "", side_by_side: bool = False, width: float = 6.5, height: float | None = None
) -> NotebookFigure:
    """The scenes as panels, one above the other, with one legend below. Sizes in inches.

    title: stands above, before those of the scenes. side_by_side: the panels have one vertical axis. height: by default
    follows the number of panels and the legend. Raises InputError without a scene.

    Examples:
        >>> from workbench.plots import figures, scenes
        >>> scene = scenes.residual_gap_scene({"CG": ([1.0, 1e-8], [1.0, 1e-8])})
        >>> figures.draw(scene, width=3.35).get_size_inches()[0].item()
        3.35
    """
    if not scenes:
        raise InputError("there is no picture to draw yet")
    square = any(scene.square for scene in scenes)
    figure = new_figure(width, PANEL, square=square)
    shared = not side_by_side and len({scene.x.title for scene in scenes}) == 1
    shape = (1, len(scenes)) if side_by_side else (len(scenes), 1)
    panels = figure.subplots(*shape, squeeze=False, sharex=shared, sharey=side_by_side).ravel()
    for place, (axes, scene) in enumerate(zip(panels, scenes, strict=True)):
        _panel(axes, scene)
        if shared and place < len(scenes) - 1:
            axes.set_xlabel("")
        if side_by_side and place and scene.y == scenes[0].y:
            axes.set_title("", loc="left")
    rows = _legend(figure, panels)
    figure.set_size_inches(width, height or PANEL * (1 if side_by_side else _panels(scenes)) + ROW * rows + MARGIN)
    if caption := ", ".join(filter(None, (title, *dict.fromkeys(scene.title for scene in scenes)))):
        figure.suptitle(caption, fontsize="medium")
    figure.scenes = scenes
    figure.words = " ".join(filter(None, (f"{title}." if title else "", *map(in_words, scenes))))
    return figure


def panels(figure: Figure | SubFigure, scenes: Sequence[Scene]) -> None:
    """The scenes one above the other in a part of a figure, with their legend."""
    drawn = figure.subplots(len(scenes), 1, squeeze=False).ravel()
    for axes, scene in zip(drawn, scenes, strict=True):
        _panel(axes, scene)
    _legend(figure, drawn)


def _legend(figure: Figure | SubFigure, panels: Iterable[Axes]) -> int:
    """One legend of all panels: runs first, then what belongs to them; returns its rows."""
    found = [pair for axes in panels for pair in zip(*axes.get_legend_handles_labels(), strict=True)]
    found.sort(key=lambda pair: isinstance(pair[0], Artist) and pair[0].get_gid() not in (None, "", pair[1]))
    entries = {name: handle for handle, name in reversed(found)}
    if not entries:
        return 0
    names = list(dict.fromkeys(name for _, name in found))
    columns = max(1, min(4, LONGEST_LEGEND // (max(map(len, names)) + 6)))
    look = {"fontsize": "small", "frameon": False, "handlelength": 3.0, "alignment": "left"}
    figure.legend([entries[name] for name in names], names, loc="outside lower left", ncols=columns, **look)
    return -(-len(names) // columns)


def _panels(scenes: Sequence[Scene]) -> float:
    """Their height together, in panels: a square one is twice as high, two take one and a half. That of lanes is in
    proportion to their number."""
    if drawn := [layer for scene in scenes for layer in scene.layers if isinstance(layer, LanesOf)]:
        return sum((max(layer.lanes.values()) + 2) * LANE / PANEL for layer in drawn)
    return 2.0 if any(scene.square for scene in scenes) else 0.25 + 0.75 * len(scenes)


def _panel(axes: Axes, scene: Scene) -> None:
    for way, axis in (("x", scene.x), ("y", scene.y)):
        if axis.log:
            axes.set(**{f"{way}scale": "log"})
    axes.margins(x=0.02)
    for layer in scene.layers:
        DRAWN[type(layer)](axes, layer)
    for way, axis, (low, high) in (("x", scene.x, axes.dataLim.intervalx), ("y", scene.y, axes.dataLim.intervaly)):
        if axis.span is not None and (axis.span[0] > 0 or not axis.log):
            axes.set(**{f"{way}lim": axis.span})
        elif axis.log and not low * (1 + 1e-9) < high:
            # One value, or none.
            middle = low if 0 < low < np.inf else 1.0
            axes.set(**{f"autoscale{way}_on": False, f"{way}lim": (middle / 10, middle * 10)})
    if scene.square:
        axes.set_aspect("equal")
    axes.spines[["top", "right", "left"]].set_visible(False)
    if scene.bare:
        axes.spines[:].set_visible(False)
        axes.set(xticks=[], yticks=[])
        return
    _ticks(axes.xaxis, scene.x)
    _ticks(axes.yaxis, scene.y)
    axes.tick_params(which="minor", length=0)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel(heading(axes.xaxis, scene.x))
    # Level and above its axis, as on the page.
    axes.set_title(heading(axes.yaxis, scene.y), loc="left", fontsize="medium")
    if not any(isinstance(layer, CellsOf) for layer in scene.layers) and not scene.y.names:
        axes.grid(axis="y", which="major", color=RULE, linewidth=0.6)
        axes.set_axisbelow(True)
    if not scene.layers and scene.note:
        axes.text(0.5, 0.5, scene.note, ha="center", va="center", color=INK, transform=axes.transAxes)


def heading(ticked: Ticked, axis: Axis) -> str:
    """The title of an axis with the unit that fits what it shows."""
    unit, _ = unit_of(axis.kind, _largest(ticked))
    return f"{axis.title} ({unit})" if unit else axis.title


def _largest(ticked: Ticked) -> float:
    return float(np.abs(ticked.get_view_interval()).max())


def _ticks(ticked: Ticked, axis: Axis) -> None:
    _, factor = unit_of(axis.kind, _largest(ticked))
    if axis.names is not None:
        ticked.set_ticks(range(len(axis.names)), list(axis.names))
        return
    if axis.marks is not None:
        low, high = sorted(ticked.get_view_interval())
        shown = [mark for mark in axis.marks if low <= mark <= high]
        every = 1 + max(0, len(shown) - 1) // MOST_MARKS
        ticked.set_ticks(shown[::every])
        ticked.set_ticks([mark for place, mark in enumerate(shown) if place % every], minor=True)
        ticked.set_major_formatter(Words(factor))
        ticked.set_minor_formatter(NullFormatter())
    else:
        number_ticks(ticked, axis.log, factor, whole=axis.whole)
