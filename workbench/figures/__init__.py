"""Figures for papers and slides: pure functions from plain data to a Matplotlib Figure, without pyplot."""

from workbench.figures.block_comparison import block_comparison
from workbench.figures.block_convergence import block_convergence
from workbench.figures.boundaries import Boundaries, boundaries
from workbench.figures.column_heatmap import column_heatmap
from workbench.figures.convergence import convergence
from workbench.figures.crossover import crossover
from workbench.figures.estimates import error_estimates
from workbench.figures.field import field
from workbench.figures.heatmap import heatmap
from workbench.figures.level_spectra import level_spectra
from workbench.figures.mpcg_fields import boxes_over_field, directions_on_grid
from workbench.figures.mpcg_steps import block_conditioning, term_weights, time_split
from workbench.figures.pattern import pattern, pattern_counts
from workbench.figures.plotted_data import plotted_data
from workbench.figures.provenance import read_provenance
from workbench.figures.rank_and_pivot import rank_and_pivot
from workbench.figures.residual_gap import residual_gap
from workbench.figures.ritz import ritz
from workbench.figures.roofline import roofline
from workbench.figures.row_lengths import row_lengths
from workbench.figures.saving import save
from workbench.figures.subdomains import section, subdomains
from workbench.figures.sweep_curves import parallel_coordinates, sweep_curves
from workbench.figures.throughput import throughput
from workbench.figures.timeline import timeline
from workbench.recording import kernel_table

__all__ = [
    "Boundaries",
    "block_comparison",
    "block_conditioning",
    "block_convergence",
    "boundaries",
    "boxes_over_field",
    "column_heatmap",
    "convergence",
    "crossover",
    "directions_on_grid",
    "error_estimates",
    "field",
    "heatmap",
    "kernel_table",
    "level_spectra",
    "parallel_coordinates",
    "pattern",
    "pattern_counts",
    "plotted_data",
    "rank_and_pivot",
    "read_provenance",
    "residual_gap",
    "ritz",
    "roofline",
    "row_lengths",
    "save",
    "section",
    "subdomains",
    "sweep_curves",
    "term_weights",
    "throughput",
    "time_split",
    "timeline",
]
