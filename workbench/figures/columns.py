"""Figures at the width of a journal's columns."""

from __future__ import annotations

import pickle
import textwrap

from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.text import Text

from workbench.errors import InputError

MILLIMETRES = {1: 85.0, 2: 175.0}
"""Width of one column and of two."""
INCH, POINTS_AN_INCH = 25.4, 72.0
SHRINK = 0.8
"""Ordinary text has ten points on the screen, and eight in print."""
SMALLEST = 6.5
"""Points of a text that can still be read in print."""
FLATTEST = 0.65
"""In one column the axes keep at least this share of their height."""
SIDE_BY_SIDE = (4, 3, 2, 1)
"""Entries of a legend in a row, as many as fit."""
ROOM = 10.0
"""Inches."""
BESIDE = 0.6
"""Inches that what stands left of a title, or of a name in a legend, takes."""
LETTER = 0.56
"""Width of a letter over its height, on average."""


def fitted(figure: Figure, columns: int) -> Figure:
    """A copy of the figure that is one or two columns wide, with text of a size for print.

    Legends beside the axes go below them, as do those inside that would cover half of them; the figure is as high as
    all of it needs. Raises InputError for another number of columns.
    """
    if columns not in MILLIMETRES:
        raise InputError(f"a figure is 1 or 2 columns wide, got {columns}")
    # What is drawn here must not change under the eyes of whoever looks at the original.
    made: Figure = pickle.loads(pickle.dumps(figure))
    width = MILLIMETRES[columns] / INCH
    wide, high = made.get_size_inches()
    axes_height = (high - _height_of_legends(made)) * max(FLATTEST, min(1.0, width / wide))
    for text in made.findobj(Text):
        assert isinstance(text, Text)
        text.set_fontsize(max(SMALLEST, SHRINK * float(text.get_fontsize())))
    # Room enough for any legend, while legends are measured.
    made.set_size_inches(width, axes_height + ROOM)
    axes_height += _wrap_titles(made, width - BESIDE)
    _move_legends(made, width)
    made.set_size_inches(width, axes_height + _height_of_legends(made))
    _thin_out(made)
    return made


def _wrap_titles(figure: Figure, width: float) -> float:
    """Break titles into lines of that width; the inches that the lines they gain are high."""
    gained = 0.0
    for axes in figure.axes:
        titles = {axes.get_title(place) for place in ("left", "center")} - {""}
        for text in axes.get_children():
            if isinstance(text, Text) and text.get_text() in titles:
                before = text.get_window_extent().height
                text.set_text(_wrapped(text.get_text(), width, float(text.get_fontsize())))
                gained += (text.get_window_extent().height - before) / figure.dpi
    return gained


def _thin_out(figure: Figure) -> None:
    """Take away words in the middle of boxes that are now too small for them; a legend says the same."""
    figure.draw_without_rendering()
    for axes in figure.axes:
        words = [text for text in axes.texts if text.get_horizontalalignment() == "center"]
        others = [text.get_window_extent() for text in axes.get_yticklabels()]
        for text in words:
            extent = text.get_window_extent()
            if any(extent.overlaps(other) for other in others):
                text.remove()
            else:
                others.append(extent)


def _move_legends(figure: Figure, width: float) -> None:
    """Put below what has no room beside or inside the axes."""
    outside = list(figure.legends)
    for legend in outside:
        legend.remove()
    figure.draw_without_rendering()
    inside = [axes.get_legend() for axes in figure.axes]
    covering = [legend for legend in inside if legend is not None and _size(legend, figure)[0] > width / 2]
    for legend in covering:
        legend.remove()
    for legend in (*outside, *covering):
        for entries in SIDE_BY_SIDE:
            moved = _below(legend, figure, width, entries)
            figure.draw_without_rendering()
            if entries == 1 or _size(moved, figure)[0] <= width:
                break
            moved.remove()


def _below(legend: Legend, figure: Figure, width: float, entries: int) -> Legend:
    names = [text.get_text() for text in legend.get_texts()]
    size = max([SMALLEST, *(float(text.get_fontsize()) for text in legend.get_texts())])
    return figure.legend(
        legend.legend_handles,  # pyright: ignore[reportArgumentType]
        [text if entries > 1 else _wrapped(text, width - BESIDE, size) for text in names],
        loc="outside lower left",
        ncols=entries,
        title=_wrapped(legend.get_title().get_text(), width, size) or None,
        title_fontsize=size,
        fontsize=size,
        alignment="left",
        frameon=False,
    )


def _wrapped(text: str, width: float, size: float) -> str:
    """Text in lines that fit a width in inches."""
    letters = max(12, int(width * POINTS_AN_INCH / (LETTER * size)))
    return "\n".join(textwrap.fill(line, letters) for line in text.split("\n"))


def _height_of_legends(figure: Figure) -> float:
    """Inches that legends below the axes take."""
    figure.draw_without_rendering()
    below = [legend for legend in figure.legends if _centre(legend, figure) < 0.4]
    return sum(_size(legend, figure)[1] for legend in below)


def _centre(legend: Legend, figure: Figure) -> float:
    """Height of its middle over the figure's."""
    extent = legend.get_window_extent()
    return (extent.y0 + extent.y1) / 2 / figure.bbox.height


def _size(legend: Legend, figure: Figure) -> tuple[float, float]:
    """Width and height in inches."""
    extent = legend.get_window_extent()
    return extent.width / figure.dpi, extent.height / figure.dpi
