"""Figures for papers and slides: scenes as Matplotlib figures, without pyplot, and their files with provenance."""

from workbench.figures.boundaries import Boundaries, boundaries
from workbench.figures.drawing import draw
from workbench.figures.pattern import pattern_counts
from workbench.figures.plane import draw_plane
from workbench.figures.plotted_data import plotted_data
from workbench.figures.provenance import read_provenance
from workbench.figures.saving import save

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
