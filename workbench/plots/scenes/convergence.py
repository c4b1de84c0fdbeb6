"""Relative residuals of runs, against iterations, seconds or bytes, with true residuals, drift and tolerance."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np

from workbench.plots.scenes.scene import ITERATIONS, Axis, CellsOf, CurveOf, Layer, LineAt, PointsOf, Scene, blank
from workbench.records import Record
from workbench.words.distinct import distinct_names
from workbench.words.numbers import counted, number

RESIDUAL = Axis("‖r‖ / ‖b‖", log=True)
AGAINST = {
    "iterations": ITERATIONS,
    "seconds": Axis("iteration time on each run's own clock", "s"),
    "total": Axis("setup and iteration time on each run's own clock", "s"),
    "bytes": Axis("read and written by the iterations", "B"),
}
"""The axes that residuals are drawn against; "total" counts the setup too."""
RING = 5.5
"""Radius in pixels of the ring around a true residual."""
DRIFT = (1.0, 1.5)
STAGNATES = 10
"""Multiple of the lowest ||r|| from which on the lowest ||b - A x|| is a level at which a method stagnates."""
UNIT = 1e-16
"""About what double precision leaves of a product that is zero."""


def run_layers(name: str, x: np.ndarray, relative: np.ndarray, rings: np.ndarray, style: int) -> list[Layer]:
    """A run: its curve, and rings at its true residuals b - A x. x, relative: shape (n,). rings: shape (k, 2), the
    iterations and relative true residuals."""
    layers: list[Layer] = [CurveOf(name, x, relative, style)]
    shown = rings[(rings[:, 0] < x.size) & np.isfinite(rings[:, 1])] if rings.size else np.empty((0, 2))
    if shown.size:
        at = x[shown[:, 0].astype(int)]
        layers.append(PointsOf("true residual", at, shown[:, 1], size=RING, outlined=True, of=name))
    return layers


def convergence_scene(
    records: Sequence[Record],
    names: Sequence[str] | None = None,
    *,
    tolerance: float | None = None,
    styles: Sequence[int] | None = None,
    drift: bool = False,
) -> Scene:
    """||r||/||b|| against iterations, one curve per run; rings mark true residuals b - A x.

    names: one per run, by default what distinguishes it. tolerance: drawn as a level line. styles: of each run, by
    default those that are kept with them where they differ, else the first ones. drift: also draw ||Z^T r||/||b||
    of deflated runs, dotted, which should stay near rounding.

    Examples:
        >>> from workbench.run import configure, race
        >>> from workbench.plots.scenes import convergence_scene
        >>> results = race([configure("two-layer", n=16), configure("two-layer", n=16, deflation="stripes")])
        >>> len(convergence_scene([result.record() for result in results], tolerance=1e-6).layers)
        5
    """
    names = distinct_names([record.parts for record in records]) if names is None else names
    if styles is None:
        kept = [record.style for record in records if record.style is not None]
        styles = kept if len(set(kept)) == len(records) else range(len(records))
    layers: list[Layer] = []
    for record, name, style in zip(records, names, styles, strict=True):
        history, norm = record.history, record.norm_of_b
        x = np.arange(history.count)
        rings = history.true_residuals * (1.0, 1 / norm) if history.true_residuals.size else np.empty((0, 2))
        layers += run_layers(name, x, record.relative_residual, rings, style)
        measured = history["drift"]
        known = np.flatnonzero(measured > 0)
        if drift and known.size:
            title = f"‖Zᵀr‖ / ‖b‖ of {name}"
            layers.append(CurveOf(title, known, measured[known] / norm, style, dash=DRIFT, mark=False, of=name))
    if tolerance:
        layers.append(LineAt(tolerance, "tolerance {}", fitted=True))
    note = "" if records else "No run has ended yet."
    return Scene("convergence", ITERATIONS, RESIDUAL, layers, note=note, logs="y")


def now_and_last_scene(now: np.ndarray | None, last: np.ndarray | None = None, tolerance: float | None = None) -> Scene:
    """Relative residuals of a solve, which may be active, and of the last one pale behind it, shape (n,) each; a
    sentence without one."""
    title = dataclasses.replace(RESIDUAL, title="‖r‖/‖b‖")
    if now is None:
        return blank("live curve", "Nothing solved yet.", ITERATIONS, title)
    layers: list[Layer] = [] if last is None else [CurveOf("last", np.arange(last.size), last, plain=True, faint=True)]
    layers.append(CurveOf("now", np.arange(now.size), now, plain=True, chosen=True))
    if tolerance is not None:
        layers.append(LineAt(tolerance, "tolerance {}", fitted=True))
    reached = number(float(now[-1])) if now.size else "unknown"
    spoken = f"Relative residual of the present solve: {reached} after {counted(now.size - 1, 'iteration')}."
    return Scene("live curve", ITERATIONS, title, layers, spoken=spoken, logs="y")


def residual_gap_scene(
    residuals: Mapping[str, tuple[Sequence[float], Sequence[float]]], *, at: int | None = None
) -> Scene:
    """||r|| as lines and ||b - A x|| dotted with marks against iterations, one style per method, and a level line where
    ||b - A x|| stagnates while ||r|| falls further.

    residuals: by name, recurrence norms and true norms by iteration. at: an iteration to mark.

    Examples:
        >>> from workbench.plots.scenes import LineAt, residual_gap_scene
        >>> scene = residual_gap_scene({"CG": ([1.0, 1e-8, 1e-16], [1.0, 1e-8, 1e-15])}, at=2)
        >>> [layer.words for layer in scene.layers if isinstance(layer, LineAt) and layer.label]
        ['CG: lowest 10⁻¹⁵']
    """
    layers: list[Layer] = []
    for style, (name, (recurrence, true_residual)) in enumerate(residuals.items()):
        layers.append(CurveOf(f"{name}: ‖r‖", np.arange(len(recurrence)), np.array(recurrence), style, mark=False))
        marked = np.arange(len(true_residual)), np.array(true_residual)
        layers.append(CurveOf(f"{name}: ‖b − Ax‖", *marked, style, dash=DRIFT, every=True))
        lowest, least = (float(np.nanmin(values)) for values in (true_residual, recurrence))
        if lowest >= STAGNATES * least > 0:
            # Its label is short, since there is little room next to curves.
            layers.append(LineAt(float(f"{lowest:.1e}"), f"{name}: lowest {{}}", style=style))
    if at is not None:
        layers.append(LineAt(at, upright=True))
    spoken = f"Residuals of {' and '.join(residuals)} by recurrence, and true ones."
    return Scene("residual gap", ITERATIONS, Axis("residual", log=True), layers, spoken=spoken, logs="y")


def orthogonality_scene(name: str, products: np.ndarray, at: int, most: int = 0) -> Scene:
    """A map of the scaled products of residuals, shape (k, k): bright off the diagonal is a loss. at: an iteration to
    mark. most: iterations that the axes have room for, so that maps of several methods can be compared."""
    span = (-0.5, max(most, len(products)) - 0.5)
    largest = largest_product(products, at)
    worst = f", at most {number(largest)} for two different ones" if largest else ""
    return Scene(
        f"orthogonality of {name}",
        Axis(f"iteration i of {name}", whole=True, word="iteration", span=span),
        Axis("iteration j", whole=True, span=span),
        [
            CellsOf("|(rᵢ, uⱼ)|", np.clip(products, UNIT, 1), map="viridis", figures=False),
            *([LineAt(at, upright=True), LineAt(at)] if at < len(products) else []),
        ],
        spoken=f"Products of the residuals of {name} up to iteration {at}{worst}.",
        ways="xy",
        square=True,
    )


def largest_product(products: np.ndarray, at: int) -> float:
    """The largest of the scaled products of two different residuals up to iteration `at`, products of shape (k, k); 0
    where there is only one residual.

    Examples:
        >>> import numpy as np
        >>> from workbench.plots.scenes.convergence import largest_product
        >>> largest_product(np.array([[1.0, 1e-9, 0.5], [1e-9, 1.0, 0.1], [0.5, 0.1, 1.0]]), at=1)
        1e-09
    """
    seen = products[: at + 1, : at + 1]
    return float(np.nanmax(seen, where=~np.eye(len(seen), dtype=bool), initial=0.0))
