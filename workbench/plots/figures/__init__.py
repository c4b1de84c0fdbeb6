"""Figures for papers and slides: scenes as Matplotlib figures, without pyplot, and their files with provenance."""

from workbench.plots.figures.drawing import draw
from workbench.plots.figures.pictures import Boundaries, boundaries, pattern_counts
from workbench.plots.figures.plane import draw_plane
from workbench.plots.figures.saving import plotted_data, read_provenance, save
from workbench.plots.figures.style import on_dark

__all__ = [
    "Boundaries",
    "boundaries",
    "draw",
    "draw_plane",
    "on_dark",
    "pattern_counts",
    "plotted_data",
    "read_provenance",
    "save",
]
