"""The iterations of multipreconditioned CG as scenes of a plot, and vectors of a grid in 2D, side by side as maps."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from workbench.errors import InputError
from workbench.plots.scenes.scene import ITERATIONS, Axis, BarsOf, CellsOf, CurveOf, Layer, PointsOf, Scene
from workbench.solvers.multi.basis import Step
from workbench.words.numbers import duration, number

FAINTEST_SHARE = 1e-3
"""The least share of the largest value that a logarithmic map shows."""
GAP = 2
"""Points between two vectors."""
NAMED = 0.2
"""Room above each vector that has a name, as a share of the height of the grid."""


def vectors_scene(
    vectors: np.ndarray,
    grid: Sequence[int],
    names: Sequence[str] = (),
    *,
    name: str = "vectors",
    title: str = "",
    bar: str = "v / max |v|",
    log: bool = False,
) -> Scene:
    """The columns of `vectors`, shape (N, k), row after row from the top left, each scaled by its largest value.

    grid: points up and across. names: of each, above it. log: show magnitudes, those below 0.001 as 0.001.
    Raises InputError for a grid that is not in 2D, and for no vector.

    Examples:
        >>> import numpy as np
        >>> from workbench.plots.scenes import vectors_scene
        >>> vectors_scene(np.eye(16)[:, :2], (4, 4), ["first", "second"]).layers[1].labels
        ['first', 'second']
    """
    check_grid(grid)
    count = vectors.shape[1]
    if not count:
        raise InputError("there are no vectors to draw")
    across = math.ceil(math.sqrt(count))
    down = -(-count // across)
    above = max(GAP, round(NAMED * grid[0])) if names else GAP
    high, wide = grid[0] + above, grid[1] + GAP
    tiles = np.full((down * high - (0 if names else GAP), across * wide - GAP), np.nan)
    places = []
    for place in range(count):
        row, column = divmod(place, across)
        bottom, left = (down - 1 - row) * high, column * wide
        scaled = np.real(vectors[:, place]).reshape(grid)
        scaled = scaled / (np.abs(scaled).max() or 1.0)
        if log:
            scaled = np.maximum(np.abs(scaled), FAINTEST_SHARE)
        tiles[bottom : bottom + grid[0], left : left + grid[1]] = scaled
        places.append((left, bottom + grid[0] + above / 2 - 0.5))
    layers: list[Layer] = [CellsOf(bar, tiles, log=log, map="viridis" if log else "signed", figures=False)]
    if names:
        x, y = np.array(places, float).T
        layers.append(PointsOf("", x, y, size=0.1, marker=".", labels=list(names)))
    of, listed = f" of {title}" if title else "", f": {', '.join(names)}" if names else ""
    said = f"{count} {name}{of}, from left to right and from top to bottom, each over its largest value{listed}."
    x_axis, y_axis = (Axis(f"{side} (points)", "count", whole=True, word=side) for side in "xy")
    if count > 1:
        # Numbers would count on from one vector to the next.
        sizes = {"x": grid[1], "y": grid[0]}
        x_axis, y_axis = (
            dataclasses.replace(axis, title=f"{side}, {sizes[side]} points each", marks=())
            for side, axis in (("x", x_axis), ("y", y_axis))
        )
    return Scene(name, x_axis, y_axis, layers, title=title, spoken=said, ways="xy", square=True)


def check_grid(grid: Sequence[int]) -> None:
    """Raises InputError for a grid that is not in 2D."""
    if len(grid) != 2:
        raise InputError(f"this figure is for grids in 2D, and the grid has {len(grid)} dimensions")


FAINTEST = 1e-6
"""The least value that is shown, relative to the largest."""
MOST = 16
"""Directions that are drawn."""


def boxes_scene(values: np.ndarray, grid: tuple[int, ...], pieces: Sequence[np.ndarray], when: str) -> Scene:
    """The outlines of the boxes over |b - A x| on a grid (ny, nx).

    values: b - A x, shape (N,). pieces: the unknowns of each box. when: the title. Raises InputError for a 3D grid.

    Examples:
        >>> import numpy as np
        >>> from workbench.plots.scenes import boxes_scene
        >>> boxes = [np.array([0, 1, 4, 5]), np.array([10, 11, 14, 15])]
        >>> [layer.name for layer in boxes_scene(np.ones(16), (4, 4), boxes, "iteration 3").layers[1:]]
        ['box 0', 'box 1']
    """
    check_grid(grid)
    sizes = np.abs(values).reshape(grid)
    largest = float(sizes.max()) or 1.0
    layers: list[Layer] = [CellsOf("|b − Ax|", np.maximum(sizes, FAINTEST * largest), map="viridis", figures=False)]
    for place, piece in enumerate(pieces):
        y, x = np.divmod(piece, grid[1])
        low, high = (x.min() - 0.5, y.min() - 0.5), (x.max() + 0.5, y.max() + 0.5)
        across = np.array([low[0], high[0], high[0], low[0], low[0]])
        up = np.array([low[1], low[1], high[1], high[1], low[1]])
        layers.append(CurveOf(f"box {place}", across, up, place, plain=True, rim=True))
    said = f"|b − Ax| at {when} under {len(pieces)} boxes; at most {number(largest)}."
    x_axis, y_axis = (Axis(f"{name} (points)", "count", whole=True, word=name) for name in "xy")
    return Scene("boxes", x_axis, y_axis, layers, title=when, spoken=said, ways="xy", square=True)


def directions_scene(block: np.ndarray, grid: tuple[int, ...], when: str) -> Scene:
    """The directions of an iteration side by side, each scaled by its largest value.

    block: shape (N, k). grid: (ny, nx). when: the title.

    Raises InputError for a grid that is not in 2D, and for no direction.

    Examples:
        >>> import numpy as np
        >>> from workbench.plots.scenes import directions_scene
        >>> directions_scene(np.eye(16)[:, :2], (4, 4), "iteration 3").layers[0].values.shape
        (4, 10)
    """
    check_grid(grid)
    if not block.shape[1]:
        raise InputError("this iteration has no directions to draw; all depended on those before")
    return vectors_scene(block[:, :MOST], grid, name="directions", title=when, bar="p / max |p|")


def weights_scene(steps: Sequence[Step], iteration: int) -> Scene:
    """The weight of each term in the step of an iteration, counted from 0. Raises InputError for one not made.

    Examples:
        >>> import numpy as np
        >>> from workbench.plots.scenes import weights_scene
        >>> from workbench.solvers.multi.basis import Step
        >>> weights_scene([Step(2, 0, 2.5, np.array([0.75, 0.25]))], 0).layers[0].y.tolist()
        [0.75, 0.25]
    """
    step = _step(steps, iteration)
    values = np.real(step.shares)
    terms = np.arange(values.size)
    words = [[f"term {term}", f"weight {number(value)}"] for term, value in enumerate(values)]
    said = f"Weights of {values.size} terms in iteration {iteration + 1}."
    x = Axis("term", "count", whole=True, word="term")
    bars, title = BarsOf("", terms, values, 0.8, texts=words), f"iteration {iteration + 1}"
    return Scene("weights", x, Axis("weight in the step"), [bars], title=title, spoken=said)


def conditioning_scenes(steps: Sequence[Step]) -> list[Scene]:
    """Directions of each block, and the condition number of its scaled P^H A P, of new columns of A Z for `mpgmres`.

    steps: as in `History.steps`. Raises InputError without a step.

    Examples:
        >>> import numpy as np
        >>> from workbench.plots.scenes import conditioning_scenes
        >>> from workbench.solvers.multi.basis import Step
        >>> [scene.name for scene in conditioning_scenes([Step(4, 0, 2.5, np.ones(4)), Step(3, 1, 9.0, np.ones(3))])]
        ['directions of blocks', 'conditioning']
    """
    _step(steps, -1)
    iterations = np.arange(1, len(steps) + 1)
    directions = np.array([step.directions for step in steps])
    condition = np.array([step.condition for step in steps])
    shown = np.where(np.isfinite(condition), condition, np.nan)
    most = max(1, *directions, *(step.shares.size for step in steps))
    return [
        Scene(
            "directions of blocks",
            ITERATIONS,
            Axis("directions", "count", whole=True, span=(0, 1.15 * most)),
            [CurveOf("", iterations, directions, 1, plain=True)],
            spoken=f"{directions[-1]} directions in iteration {len(steps)}.",
        ),
        Scene(
            "conditioning",
            ITERATIONS,
            Axis("condition number of the new block, scaled", log=True),
            [CurveOf("", iterations, shown, 2)],
            note="" if np.isfinite(shown).any() else "No condition number is finite.",
            spoken=f"Condition number of the last block: {number(condition[-1])}.",
            logs="y",
        ),
    ]


def time_scene(steps: Sequence[Step]) -> Scene:
    """The time of each part of every iteration, as stacked bars. Raises InputError without a step.

    Source: Chen 2022, Figure 5, which splits the time of a solve.

    Examples:
        >>> import numpy as np
        >>> from workbench.plots.scenes import time_scene
        >>> from workbench.solvers.multi.basis import Step
        >>> time_scene([Step(4, 0, 2.5, np.ones(4), {"A": 0.2, "M": 0.3})]).name
        'time of parts'
    """
    parts = list(_step(steps, -1).seconds)
    iterations = np.arange(1, len(steps) + 1)
    rows = {part: np.array([step.seconds[part] for step in steps]) for part in parts}
    total = float(np.sum(list(rows.values())))
    base = np.zeros(len(steps))
    layers: list[Layer] = []
    for place, (part, row) in enumerate(rows.items()):
        # Parts may be shorter than the clock can tell.
        name = f"{part}, {row.sum() / (total or 1.0):.0%}"
        words = [[f"iteration {k}", f"{part} {duration(float(value))}"] for k, value in enumerate(row, 1)]
        layers.append(BarsOf(name, iterations, base + row, 1.0, base.copy(), place, texts=words))
        base = base + row
    said = f"Time of the parts of {len(steps)} iterations, {duration(total)} together."
    title, y = f"{duration(total)} together", Axis("time of an iteration", "s")
    return Scene("time of parts", ITERATIONS, y, layers, title=title, spoken=said)


def _step(steps: Sequence[Step], iteration: int) -> Step:
    if not -len(steps) <= iteration < len(steps):
        raise InputError(f"iteration {iteration + 1} was not made; there are {len(steps)}")
    return steps[iteration]
