"""A run with many right-hand sides as scenes of a plot: residuals by products and by column, rank and pivots."""

from __future__ import annotations

import numpy as np

from workbench.figures.block_runs import block_history, places
from workbench.number_text import count, number
from workbench.recording import Record
from workbench.scenes.scene import ITERATIONS, Axis, CellsOf, CurveOf, Layer, LineAt, Scene

RESIDUAL = "‖rⱼ‖ / ‖bⱼ‖"
FLOOR = 1e-16
"""In place of a residual of zero, which has the colour of the smallest one."""


def products_scene(record: Record, tolerance: float) -> Scene:
    """All columns against the columns multiplied by A; the largest, which ends the run, is strong."""
    history = block_history(record)
    x = places(history, "products")
    columns = np.where(history.columns > 0, history.columns, np.nan)
    known = np.isfinite(columns).any(axis=1)
    largest = np.full(len(columns), np.nan)
    largest[known] = np.nanmax(columns[known], axis=1)
    layers: list[Layer] = [
        *(CurveOf("", x, column, faint=True, plain=True) for column in columns.T),
        CurveOf("largest", x, largest, chosen=True, tag="largest"),
        LineAt(tolerance, "tolerance {}", fitted=True),
    ]
    axis = Axis("columns multiplied by A", "count", whole=True, word="products")
    said = f"The largest of {columns.shape[1]} relative residuals after {count(x[-1])} products: {number(largest[-1])}."
    return Scene("products", axis, Axis(RESIDUAL, log=True), layers, spoken=said, logs="y")


def columns_scene(record: Record, tolerance: float) -> Scene:
    """The relative residual by column and iteration as a map. Columns that have not begun are empty."""
    relative = block_history(record).columns.T
    values = np.where(np.isfinite(relative), np.maximum(relative, FLOOR), np.nan)
    cells = CellsOf(RESIDUAL, values, map="viridis", figures=False, absent=["not begun"] * values.size)
    y = Axis("column j", "count", whole=True, word="column")
    reached = int((np.nan_to_num(values[:, -1], nan=np.inf) <= tolerance).sum())
    at_most = number(tolerance)
    said = f"Relative residual by column and iteration; {reached} of {len(values)} columns are at most {at_most}."
    return Scene("columns", ITERATIONS, y, [cells], spoken=said, ways="xy")


def rank_scenes(record: Record) -> list[Scene]:
    """The rank of the search directions, and the smallest over the largest pivot."""
    history = block_history(record)
    iterations, s = np.arange(history.count), history.columns.shape[1]
    rank = Scene(
        "rank",
        ITERATIONS,
        Axis("rank of the search directions", "count", whole=True, span=(0, 1.15 * s)),
        [CurveOf("", iterations, history.rank, 1, plain=True), LineAt(s, f"s = {s}")],
        spoken=f"Rank of the search directions: {history.rank[-1]:.0f} of {s} at the end.",
    )
    title = Axis("smallest / largest pivot", log=True)
    positive = history.pivot > 0
    if not positive.any():
        return [rank, Scene("pivot", ITERATIONS, title, note="This method has no pivots.")]
    shown = np.where(positive, history.pivot, np.nan)
    said = f"Smallest over largest pivot: {number(np.nanmin(shown))} at the least."
    layers = [CurveOf("", iterations, shown, 2)]
    return [rank, Scene("pivot", ITERATIONS, title, layers, spoken=said, logs="y")]
