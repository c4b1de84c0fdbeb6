"""Figures for papers and slides: scenes as Matplotlib figures, without pyplot, and their files with provenance."""

from workbench.plots.figures.boundaries import Boundaries, boundaries
from workbench.plots.figures.drawing import draw
from workbench.plots.figures.pattern import pattern_counts
from workbench.plots.figures.plane import draw_plane
from workbench.plots.figures.saving import plotted_data, read_provenance, save

__all__ = [
    "Boundaries",
    "boundaries",
    "draw",
    "draw_plane",
    "pattern_counts",
    "plotted_data",
    "read_provenance",
    "save",
]
