"""Figures' style: colour maps of the page, display in notebooks without pyplot, and colours on a dark ground."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib import colormaps
from matplotlib.artist import Artist
from matplotlib.collections import Collection
from matplotlib.colors import LinearSegmentedColormap, to_hex, to_rgba
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke
from matplotlib.text import Text
from matplotlib.typing import ColorType

from workbench.plots.scenes.style import COLOURS, ON_DARK

if TYPE_CHECKING:
    from workbench.plots.scenes.scene import Scene

STOPS = {
    "batlow": (
        "#011959", "#0d315d", "#114360", "#165262", "#226061", "#356a59", "#4d734d", "#667a3f", "#818232",
        "#a08a2b", "#bf9035", "#db954c", "#f29d6c", "#fca891", "#fdb4b4", "#fcc0d6", "#faccfa",
    ),
    "vik": (
        "#001261", "#022b71", "#034481", "#0c5e92", "#2f7ca6", "#609dbc", "#92bdd2", "#c5dbe5", "#ece5e1",
        "#e9cbb9", "#dcab8f", "#cf8e68", "#c37243", "#b3531f", "#932e06", "#741506", "#590008",
    ),
}  # fmt: skip
"""At even distances, from the published tables of 256 colours. Source: Crameri (2018)."""
BATLOW, VIK = (LinearSegmentedColormap.from_list(name, stops) for name, stops in STOPS.items())
MAPS = {"batlow": BATLOW, "viridis": colormaps["viridis"], "cividis": colormaps["cividis"], "signed": VIK}
"""Counts and times; magnitudes; a coefficient; blue below zero, light at zero, red above it."""
IN_CELL = "in a cell"
"""The gid of what lies on a colour that stays on a dark ground."""
GROUND, INK = to_rgba("#141519")[:3], to_rgba("#e9eaed")[:3]
"""The colours that white and black become; greys lie between them."""
GREY = 0.12
"""The largest difference of the parts of a colour that counts as grey."""
RIM = 3.3
"""Points of the rim around a curve on a map."""
SERIES: dict[str, str] = dict(zip(COLOURS, ON_DARK, strict=True))


class NotebookFigure(Figure):
    """A figure that notebooks display without pyplot, which IPython's own formatter needs. words: what is seen.

    scenes: that it shows, of `draw`.
    """

    words = ""
    scenes: tuple[Scene, ...] = ()

    def _repr_png_(self) -> bytes | tuple[bytes, dict[str, str]]:
        content = io.BytesIO()
        self.savefig(content, format="png")
        return (content.getvalue(), {"alt": self.words}) if self.words else content.getvalue()


def new_figure(width: float, height: float, *, square: bool = False) -> NotebookFigure:
    """An empty figure, size in inches; 3.5 is one column of a journal. square: for axes of equal scale."""
    return NotebookFigure(figsize=(width, height), layout="compressed" if square else "constrained")


def on_dark(figure: Figure) -> Figure:
    """Recolour a figure, and return it: greys change places, curves get the lighter colours of a dark page.

    Maps of values and soft colours of kernels stay. Cost: proportional to the number of artists.

    Examples:
        >>> from workbench.plots import figures, scenes
        >>> figure = figures.draw(scenes.residual_gap_scene({"CG": ([1.0, 1e-8], [1.0, 1e-8])}))
        >>> figures.on_dark(figure).axes[0].lines[0].get_color()
        '#56b4e9'
    """
    for artist in figure.findobj():
        if artist.get_gid() != IN_CELL:
            _recolour(artist)
    return figure


def _recolour(artist: Artist) -> None:
    if isinstance(artist, Text):
        artist.set_color(turned(artist.get_color()))
    elif isinstance(artist, Line2D):
        ground, edge = artist.get_markerfacecolor(), artist.get_markeredgecolor()
        artist.set_color(turned(artist.get_color()))
        artist.set_markerfacecolor(turned(ground))
        artist.set_markeredgecolor(turned(edge))
        if artist.get_path_effects():
            artist.set_path_effects([withStroke(linewidth=RIM, foreground=to_hex(GROUND))])
    elif isinstance(artist, Patch):
        edge = artist.get_edgecolor()
        artist.set_facecolor(turned(artist.get_facecolor()))
        artist.set_edgecolor(turned(edge))
    elif isinstance(artist, Collection) and artist.get_array() is None:
        edges = _all_turned(artist.get_edgecolor())
        artist.set_facecolor(_all_turned(artist.get_facecolor()))
        artist.set_edgecolor(edges)


def _all_turned(colours: ColorType | Sequence[ColorType]) -> list[ColorType]:
    rows = np.atleast_2d(np.asarray(colours))
    return [turned(tuple(row)) for row in rows.tolist()] if rows.size else []


def turned(colour: ColorType) -> ColorType:
    """A colour as it is on a dark ground: that of a series by its place, a grey from black to white turned around."""
    if isinstance(colour, str) and colour.lower() in ("none", "auto"):
        return colour
    red, green, blue, opacity = to_rgba(colour)
    if (series := SERIES.get(to_hex((red, green, blue)))) is not None:
        return series if opacity == 1 else (*to_rgba(series)[:3], opacity)
    if max(red, green, blue) - min(red, green, blue) > GREY:
        return colour
    light = (red + green + blue) / 3
    red, green, blue = (light * ground + (1 - light) * ink for ground, ink in zip(GROUND, INK, strict=True))
    return red, green, blue, opacity
