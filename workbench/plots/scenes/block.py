"""A run with many right-hand sides as scenes of a plot: residuals by products and by column, rank and pivots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from workbench.errors import InputError
from workbench.plots.scenes.scene import ITERATIONS, Axis, CellsOf, CurveOf, Layer, LineAt, Scene
from workbench.records import BlockHistory, History, Record
from workbench.words.numbers import count, number

RESIDUAL = "‖rⱼ‖ / ‖bⱼ‖"
FLOOR = 1e-16
"""In place of a residual of zero, which has the colour of the smallest one."""
PRODUCTS = Axis("columns multiplied by A", "count", whole=True, word="products")
Runs = Record | Sequence[Record]
"""A run with many right-hand sides, or those of single columns, one after another."""


def block_history(run: Record | History) -> BlockHistory:
    """The history by column, which may be growing. Raises InputError for a run with one right-hand side."""
    history = run.history if isinstance(run, Record) else run
    if not isinstance(history, BlockHistory):
        raise InputError("this picture needs a run with several right-hand sides; solve with --rhs random:16, say")
    return history


def products(columns: np.ndarray) -> np.ndarray:
    """Columns multiplied by A in the iterations up to each row, shape (count,): k s where all are solved at once.

    columns: ||r_j||/||b_j||, shape (count, s). An iteration multiplies every column of the present chunk; the first row
    of a chunk is its start, without one.
    """
    begun = np.isfinite(columns).sum(axis=1)
    starts = np.flatnonzero(np.diff(begun, prepend=0))
    made, before = np.zeros(len(columns), int), 0
    for start in starts:
        made[start + 1 :] = begun[start] - before
        made[start] = 0
        before = begun[start]
    return np.cumsum(made)


def residuals_scene(run: Record | History, tolerance: float) -> Scene:
    """||r_j||/||b_j|| as a curve for each column against iterations. Raises InputError for a run with one right-hand
    side.

    Examples:
        >>> from workbench.run import Run, configure, run_through
        >>> from workbench.plots.scenes import residuals_scene
        >>> result = run_through(Run(configure("two-layer", n=16, solver="block-cg", rhs="random:4")))
        >>> [curve.name for curve in residuals_scene(result.record(), 1e-6).layers[:4]]
        ['column 1', 'column 2', 'column 3', 'column 4']
    """
    columns = block_history(run).columns
    k = np.arange(len(columns))
    curves = [CurveOf(f"column {j + 1}", k, column, j) for j, column in enumerate(columns.T)]
    said = f"Relative residuals of {len(curves)} columns by iteration."
    layers = [*curves, LineAt(tolerance, "tolerance {}", fitted=True)]
    return Scene("residuals of columns", ITERATIONS, Axis(RESIDUAL, log=True), layers, spoken=said, logs="y")


def products_scene(run: Record | History, tolerance: float) -> Scene:
    """All columns against the columns multiplied by A; the largest, which ends the run, is strong.

    Raises InputError for a run with one right-hand side.

    Examples:
        >>> from workbench.run import Run, configure, run_through
        >>> from workbench.plots.scenes import products_scene
        >>> result = run_through(Run(configure("two-layer", n=16, solver="block-cg", rhs="random:4")))
        >>> bool(products_scene(result.record(), 1e-6).layers[0].x[-1] == 4 * result.iterations)
        True
    """
    relative = block_history(run).columns
    x = products(relative)
    columns = np.where(relative > 0, relative, np.nan)
    known = np.isfinite(columns).any(axis=1)
    largest = np.full(len(columns), np.nan)
    largest[known] = np.nanmax(columns[known], axis=1)
    layers: list[Layer] = [
        *(CurveOf("", x, column, faint=True, plain=True) for column in columns.T),
        CurveOf("largest", x, largest, chosen=True),
        LineAt(tolerance, "tolerance {}", fitted=True),
    ]
    said = f"The largest of {columns.shape[1]} relative residuals after {count(x[-1])} products: {number(largest[-1])}."
    return Scene("products", PRODUCTS, Axis(RESIDUAL, log=True), layers, spoken=said, logs="y")


def comparison_scenes(runs: Mapping[str, Runs], tolerance: float | None = None) -> list[Scene]:
    """The largest ||r_j||/||b_j|| against iterations, and against columns multiplied by A, one curve per method.

    runs: by name; of a sequence of single columns iteration k is the k-th of each. Raises InputError without a run.

    Examples:
        >>> from workbench.run import Run, configure, run_through
        >>> from workbench.plots.scenes import comparison_scenes
        >>> result = run_through(Run(configure("two-layer", n=16, solver="block-cg", rhs="random:4")))
        >>> [scene.name for scene in comparison_scenes({"block CG": result.record()})]
        ['iterations', 'products']
    """
    if not runs:
        raise InputError("a comparison needs at least one run")
    curves = {name: _largest(given) for name, given in runs.items()}
    line = [] if tolerance is None else [LineAt(tolerance, "tolerance {}")]
    made = []
    for way, (name, x) in enumerate((("iterations", ITERATIONS), ("products", PRODUCTS))):
        layers = [CurveOf(each, *found[way], style) for style, (each, found) in enumerate(curves.items())]
        made.append(Scene(name, x, Axis(f"largest {RESIDUAL}", log=True), [*layers, *line]))
    return made


def _largest(given: Runs) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """The largest relative residual by iteration, and by the columns multiplied up to it."""
    if isinstance(given, Record):
        largest, multiplied = given.history["residual"], products(block_history(given).columns)
        return (np.arange(largest.size), largest), (multiplied, largest)
    if not given:
        raise InputError("a comparison needs at least one run of a single column")
    curves = [one.relative_residual for one in given]
    k = np.arange(max(curve.size for curve in curves))
    largest = np.max([np.pad(curve, (0, k.size - curve.size), mode="edge") for curve in curves], axis=0)
    return (k, largest), (np.sum([np.minimum(k, curve.size - 1) for curve in curves], axis=0), largest)


def columns_scene(run: Record | History, tolerance: float) -> Scene:
    """The relative residual by column and iteration as a map. Columns that have not begun are empty.

    Raises InputError for a run with one right-hand side.

    Examples:
        >>> from workbench.run import Run, configure, run_through
        >>> from workbench.plots.scenes import columns_scene
        >>> result = run_through(Run(configure("two-layer", n=16, solver="block-cg", rhs="random:4")))
        >>> columns_scene(result.record(), 1e-6).layers[0].values.shape[0]
        4
    """
    relative = block_history(run).columns.T
    values = np.where(np.isfinite(relative), np.maximum(relative, FLOOR), np.nan)
    cells = CellsOf(RESIDUAL, values, map="viridis", figures=False, absent=["not begun"] * values.size)
    y = Axis("column j", whole=True, word="column", names=[str(j) for j in range(1, len(values) + 1)])
    reached = int((np.nan_to_num(values[:, -1], nan=np.inf) <= tolerance).sum())
    at_most = number(tolerance)
    said = f"Relative residual by column and iteration; {reached} of {len(values)} columns are at most {at_most}."
    return Scene("columns", ITERATIONS, y, [cells], spoken=said, ways="xy")


def rank_scenes(run: Record | History) -> list[Scene]:
    """The rank of the search directions, and the smallest over the largest pivot.

    Raises InputError for a run with one right-hand side.

    Examples:
        >>> from workbench.run import Run, configure, run_through
        >>> from workbench.plots.scenes import rank_scenes
        >>> result = run_through(Run(configure("two-layer", n=16, solver="block-cg", rhs="random:4")))
        >>> [scene.name for scene in rank_scenes(result.record())]
        ['rank', 'pivot']
    """
    history = block_history(run)
    ranks, s = history.rank, history.size
    iterations, pivots = np.arange(ranks.size), history.pivot[: ranks.size]
    rank = Scene(
        "rank",
        ITERATIONS,
        Axis("rank of the search directions", "count", whole=True, span=(0, 1.15 * s)),
        [CurveOf("", iterations, ranks, 1, plain=True), LineAt(s, f"s = {s}")],
        spoken=f"Rank of the search directions: {ranks[-1]:.0f} of {s} at the end.",
    )
    title = Axis("smallest / largest pivot", log=True)
    positive = pivots > 0
    if not positive.any():
        return [rank, Scene("pivot", ITERATIONS, title, note="This method has no pivots.")]
    shown = np.where(positive, pivots, np.nan)
    said = f"Smallest over largest pivot: {number(np.nanmin(shown))} at the least."
    layers = [CurveOf("", iterations, shown, 2)]
    return [rank, Scene("pivot", ITERATIONS, title, layers, spoken=said, logs="y")]
