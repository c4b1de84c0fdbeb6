"""Pictures as plain data made from records; the page's plots and `figures.draw` draw the same scene."""

from workbench.plots.scenes.block import columns_scene, comparison_scenes, products_scene, rank_scenes, residuals_scene
from workbench.plots.scenes.convergence import convergence_scene, residual_gap_scene
from workbench.plots.scenes.mpcg import (
    boxes_scene,
    conditioning_scenes,
    directions_scene,
    time_scene,
    vectors_scene,
    weights_scene,
)
from workbench.plots.scenes.roofline import roofline_scene
from workbench.plots.scenes.row_lengths import row_lengths_scene
from workbench.plots.scenes.scaling import crossover_scene
from workbench.plots.scenes.scene import Axis, BarsOf, CellsOf, CurveOf, LineAt, ParallelOf, PointsOf, Scene
from workbench.plots.scenes.spectrum import estimates_scene, levels_scene, ritz_scene
from workbench.plots.scenes.timeline import timeline_scene
from workbench.plots.scenes.words import in_words

__all__ = [
    "Axis",
    "BarsOf",
    "CellsOf",
    "CurveOf",
    "LineAt",
    "ParallelOf",
    "PointsOf",
    "Scene",
    "boxes_scene",
    "columns_scene",
    "comparison_scenes",
    "conditioning_scenes",
    "convergence_scene",
    "crossover_scene",
    "directions_scene",
    "estimates_scene",
    "in_words",
    "levels_scene",
    "products_scene",
    "rank_scenes",
    "residual_gap_scene",
    "residuals_scene",
    "ritz_scene",
    "roofline_scene",
    "row_lengths_scene",
    "time_scene",
    "timeline_scene",
    "vectors_scene",
    "weights_scene",
]
