"""Pictures of a solve while its problem is being drawn: residuals and Ritz values, those of the last one pale
behind."""

from __future__ import annotations

import numpy as np

from workbench.plots.scenes.scene import ITERATIONS, Axis, CurveOf, Layer, LineAt, PointsOf, Scene, blank
from workbench.run import Norm, Run
from workbench.words.numbers import count, number

RESIDUAL = Axis("‖r‖/‖b‖", log=True)
RITZ = Axis("Ritz value", log=True)
ROWS = Axis("", names=("last", "now"), span=(-0.6, 1.6))
LAST, NOW = 0, 1
HALF = 0.32
"""Share of the height of a row that a stroke reaches up and down."""
NOTHING = "Nothing solved yet."
EMPTY_CURVE = blank("live curve", NOTHING, ITERATIONS, RESIDUAL)
EMPTY_SPECTRUM = blank("live spectrum", NOTHING, RITZ, ROWS)


def curve_scene(run: Run, last: Run | None) -> Scene:
    """Relative residuals of a run, which may be active, and of the last one behind it."""
    layers: list[Layer] = []
    if last is not None:
        layers.append(_curve("last", last, faint=True))
    curve = _curve("now", run)
    layers.append(curve)
    if run.configuration.stopping.norm == Norm.RESIDUAL:
        layers.append(LineAt(run.relative(run.threshold), "tolerance {}", fitted=True))
    done, reached = count(len(curve.y) - 1), number(float(curve.y[-1])) if len(curve.y) else "unknown"
    spoken = f"Relative residual of the present solve: {reached} after {done} iterations."
    return Scene("live curve", ITERATIONS, RESIDUAL, layers, spoken=spoken, logs="y")


def spectrum_scene(values: np.ndarray, last: np.ndarray) -> Scene:
    """A stroke for each Ritz value of this solve, and in the row below for those of the last one."""
    if not values.size:
        return blank("live spectrum", "No iteration was needed, so there are no Ritz values.", RITZ, ROWS)
    layers = [
        PointsOf("", part, np.full(part.size, row), tall=HALF, word="Ritz value", faint=row == LAST)
        for row, part in ((LAST, last), (NOW, values))
        if part.size
    ]
    condition = number(float(values[-1] / values[0]))
    x = Axis(
        f"Ritz value ({values.size} now, from {number(values[0])} to {number(values[-1])}, κ ≈ {condition})", log=True
    )
    spoken = (
        f"{values.size} Ritz values, from {number(values[0])} to {number(values[-1])}; condition number {condition}."
    )
    return Scene("live spectrum", x, ROWS, layers, spoken=spoken, logs="x")


def _curve(name: str, run: Run, *, faint: bool = False) -> CurveOf:
    residual = np.array(run.history["residual"]) / (run.norm_of_b or 1.0)
    return CurveOf(name, np.arange(residual.size), residual, plain=True, faint=faint, chosen=not faint)
