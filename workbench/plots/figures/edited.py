"""Changes to a finished figure before it is saved: column width of a journal, runs left out, other labels, fonts, and
lines printed beneath.
"""

from __future__ import annotations

import pickle
import textwrap
from collections.abc import Mapping, Sequence

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.container import Container
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


FONTS = {"sans serif": "DejaVu Sans", "serif": "DejaVu Serif"}
"""Fonts that Matplotlib brings along, so that they are on every machine."""
USUAL = 8
"""Points of the labels in a figure of one or two columns."""
LINE_HEIGHT = 1.4


def labels_of(figure: Figure) -> list[str]:
    """The labels in the legends and at lines, each once, in order."""
    found = [text.get_text() for legend in _legends(figure) for text in legend.get_texts()]
    found += [text.get_text() for axes in figure.axes for text in axes.texts if text.get_gid() == text.get_text()]
    return list(dict.fromkeys(found))


def relabelled(figure: Figure, labels: Mapping[str, str | None]) -> Figure:
    """A copy with other labels; what has None is left out, with all artists of the same gid, and its legend entry."""
    copy: Figure = pickle.loads(pickle.dumps(figure))
    changed = {name: label for name, label in labels.items() if label != name}
    if not changed:
        return copy
    for axes in copy.axes:
        _change(axes, changed)
    for legend in _legends(copy):
        _change_legend(legend, copy, changed)
    return copy


def restyled(figure: Figure, *, font: str, size: float, caption: str = "") -> Figure:
    """The figure, changed in place: another font, text larger or smaller by size / 8, and a caption printed beneath.

    font: one of `FONTS`. size: of labels in points. caption: wrapped at the width of the figure.
    """
    for text in figure.findobj(Text):
        assert isinstance(text, Text)
        text.set_fontfamily(FONTS[font])
        text.set_fontsize(float(text.get_fontsize()) * size / USUAL)
    if caption:
        width, height = figure.get_size_inches()
        small = 0.85 * size
        letters = max(20, int(width * POINTS_PER_INCH / (LETTER_ASPECT * small)))
        lines = [line for part in caption.split("\n") for line in textwrap.wrap(part, letters)]
        figure.set_size_inches(width, height + len(lines) * LINE_HEIGHT * small / POINTS_PER_INCH)
        figure.supxlabel("\n".join(lines), x=0.01, ha="left", fontsize=small, fontfamily=FONTS[font])
    return figure


def _legends(figure: Figure) -> list[Legend]:
    inside = [axes.get_legend() for axes in figure.axes]
    return [*(legend for legend in inside if legend is not None), *figure.legends]


def _change(axes: Axes, changed: Mapping[str, str | None]) -> None:
    """Remove and rename artists of one axes."""
    artists: list[Artist | Container] = [*axes.get_children(), *axes.containers]
    gone = {artist.get_gid() for artist in artists if isinstance(artist, Artist) and _is_gone(artist, changed)} - {None}
    gone |= {name for name, label in changed.items() if label is None}
    for artist in artists:
        if _is_gone(artist, changed) or (isinstance(artist, Artist) and artist.get_gid() in gone):
            artist.remove()
        elif new := changed.get(str(artist.get_label())):
            artist.set_label(new)
        elif isinstance(artist, Text) and (new := changed.get(str(artist.get_gid()))):
            artist.set_text(new)


def _is_gone(artist: Artist | Container, changed: Mapping[str, str | None]) -> bool:
    return changed.get(str(artist.get_label()), "") is None


def _change_legend(legend: Legend, figure: Figure, changed: Mapping[str, str | None]) -> None:
    """Draw the legend again with what is left."""
    names = [text.get_text() for text in legend.get_texts()]
    kept = [
        (handle, changed.get(name) or name)
        for handle, name in zip(legend.legend_handles, names, strict=True)
        if changed.get(name, name) is not None
    ]
    size = legend.get_texts()[0].get_fontsize()
    inside, of_figure = legend.axes, legend in figure.legends
    legend.remove()
    if not kept:
        return
    handles, labels = zip(*kept, strict=True)
    options = {"fontsize": size, "frameon": legend.get_frame_on()}
    if of_figure:
        figure.legend(handles, labels, loc="outside lower left", **options)
    else:
        inside.legend(handles, labels, **options)
