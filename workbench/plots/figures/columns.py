"""Resizing of figures to the column width of a journal."""

from __future__ import annotations

import pickle
import textwrap
from collections.abc import Sequence

from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.text import Text

from workbench.errors import InputError
from workbench.plots.figures.layers import LABEL

MILLIMETRES = {1: 85.0, 2: 175.0}
"""Widths of one column and of two."""
MM_PER_INCH, POINTS_PER_INCH = 25.4, 72.0
TEXT_SCALE = 0.8
"""From 10 points on the screen to 8 points in print."""
MIN_FONT_SIZE = 6.5
"""Smallest text in points that is legible in print."""
MIN_HEIGHT_FACTOR = 0.65
"""The axes keep at least this fraction of their height."""
LEGEND_COLUMNS = (4, 3, 2, 1)
"""Numbers of legend columns, tried in this order until the legend fits."""
SPARE_HEIGHT = 10.0
"""Inches added while legends are measured."""
LEFT_MARGIN = 0.6
"""Inches to the left of a title, or of a name in a legend."""
LETTER_ASPECT = 0.56
"""Mean ratio of a letter's width to its height."""


def resized(figure: Figure, columns: int) -> Figure:
    """A copy of a figure, one or two columns wide, with text sized for print.

    Legends outside the axes are placed below them, and so are legends inside that would cover half of the width; the
    height follows. Raises InputError for another number of columns.
    """
    if columns not in MILLIMETRES:
        raise InputError(f"a figure is 1 or 2 columns wide, got {columns}")
    # The original may be on display.
    copy: Figure = pickle.loads(pickle.dumps(figure))
    width = MILLIMETRES[columns] / MM_PER_INCH
    old_width, old_height = copy.get_size_inches()
    height_factor = max(MIN_HEIGHT_FACTOR, min(1.0, width / old_width))
    axes_height = (old_height - _height(_legends_below(copy), copy)) * height_factor
    for text in copy.findobj(Text):
        assert isinstance(text, Text)
        text.set_fontsize(max(MIN_FONT_SIZE, TEXT_SCALE * float(text.get_fontsize())))
    copy.set_size_inches(width, axes_height + SPARE_HEIGHT)
    axes_height += _wrap_titles(copy, width - LEFT_MARGIN)
    _move_legends(copy, width)
    # A legend has its size without a drawing, which takes most of the time here.
    copy.set_size_inches(width, axes_height + _height(copy.legends, copy))
    _remove_overlapping_labels(copy)
    return copy


def _wrap_titles(figure: Figure, width: float) -> float:
    """Wrap titles at a width in inches; return the added height in inches."""
    gained = 0.0
    for axes in figure.axes:
        titles = {axes.get_title(place) for place in ("left", "center")} - {""}
        for text in axes.get_children():
            if isinstance(text, Text) and text.get_text() in titles:
                before = text.get_window_extent().height
                text.set_text(_wrapped(text.get_text(), width, float(text.get_fontsize())))
                gained += (text.get_window_extent().height - before) / figure.dpi
    return gained


def _remove_overlapping_labels(figure: Figure) -> None:
    """Remove labels of boxes and points that overlap other text; the legend names what they stand at too."""
    removable = {axes: [text for text in axes.texts if text.get_gid() == LABEL] for axes in figure.axes}
    if not any(removable.values()):
        return
    figure.draw_without_rendering()
    for axes, labels in removable.items():
        occupied = [text.get_window_extent() for text in axes.get_yticklabels()]
        for text in labels:
            extent = text.get_window_extent()
            if any(extent.overlaps(other) for other in occupied):
                text.remove()
            else:
                occupied.append(extent)


def _move_legends(figure: Figure, width: float) -> None:
    """Move legends outside the axes, and wide ones inside, below the axes."""
    outside = list(figure.legends)
    for legend in outside:
        legend.remove()
    inside = [axes.get_legend() for axes in figure.axes]
    covering = [legend for legend in inside if legend is not None and _size(legend, figure)[0] > width / 2]
    for legend in covering:
        legend.remove()
    for legend in (*outside, *covering):
        for columns in LEGEND_COLUMNS:
            moved = _legend_below(legend, figure, width, columns)
            if columns == 1 or _size(moved, figure)[0] <= width:
                break
            moved.remove()


def _legend_below(legend: Legend, figure: Figure, width: float, columns: int) -> Legend:
    names = [text.get_text() for text in legend.get_texts()]
    size = max([MIN_FONT_SIZE, *(float(text.get_fontsize()) for text in legend.get_texts())])
    return figure.legend(
        legend.legend_handles,  # pyright: ignore[reportArgumentType]
        [text if columns > 1 else _wrapped(text, width - LEFT_MARGIN, size) for text in names],
        loc="outside lower left",
        ncols=columns,
        title=_wrapped(legend.get_title().get_text(), width, size) or None,
        title_fontsize=size,
        fontsize=size,
        alignment="left",
        frameon=False,
    )


def _wrapped(text: str, width: float, size: float) -> str:
    """Text wrapped at a width in inches."""
    letters = max(12, int(width * POINTS_PER_INCH / (LETTER_ASPECT * size)))
    return "\n".join(textwrap.fill(line, letters) for line in text.split("\n"))


def _legends_below(figure: Figure) -> list[Legend]:
    """The legends below the axes; where one stands is known when the figure is drawn."""
    if figure.legends:
        figure.draw_without_rendering()
    return [legend for legend in figure.legends if _centre(legend, figure) < 0.4]


def _height(legends: Sequence[Legend], figure: Figure) -> float:
    """Height in inches of legends one below the other."""
    return sum(_size(legend, figure)[1] for legend in legends)


def _centre(legend: Legend, figure: Figure) -> float:
    """Vertical centre of a legend as a fraction of the figure's height."""
    extent = legend.get_window_extent()
    return (extent.y0 + extent.y1) / 2 / figure.bbox.height


def _size(legend: Legend, figure: Figure) -> tuple[float, float]:
    """Width and height in inches."""
    extent = legend.get_window_extent()
    return extent.width / figure.dpi, extent.height / figure.dpi
