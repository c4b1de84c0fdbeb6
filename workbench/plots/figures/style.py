"""Figures' style: colour maps of the page that Matplotlib does not have, and display in notebooks without pyplot."""

from __future__ import annotations

import io

from matplotlib import colormaps
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

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


class NotebookFigure(Figure):
    """A figure that notebooks display without pyplot, which IPython's own formatter needs."""

    def _repr_png_(self) -> bytes:
        content = io.BytesIO()
        self.savefig(content, format="png")
        return content.getvalue()


def new_figure(width: float, height: float, *, square: bool = False) -> Figure:
    """An empty figure, size in inches; 3.5 is one column of a journal. square: for axes of equal scale."""
    return NotebookFigure(figsize=(width, height), layout="compressed" if square else "constrained")
