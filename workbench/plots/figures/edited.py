"""Changes to a finished figure before it is saved: runs left out, other labels, fonts, and lines printed beneath."""

from __future__ import annotations

import pickle
import textwrap
from collections.abc import Mapping

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.container import Container
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.text import Text

FONTS = {"sans serif": "DejaVu Sans", "serif": "DejaVu Serif"}
"""Fonts that Matplotlib brings along, so that they are on every machine."""
USUAL = 8
"""Points of the labels in a figure of one or two columns."""
POINTS_PER_INCH = 72.0
LETTER_ASPECT = 0.56
"""Mean ratio of a letter's width to its height."""
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
    inside = legend.axes
    legend.remove()
    if not kept:
        return
    handles, labels = zip(*kept, strict=True)
    options = {"fontsize": size, "frameon": legend.get_frame_on()}
    if inside is None:
        figure.legend(handles, labels, loc="outside lower left", **options)
    else:
        inside.legend(handles, labels, **options)
