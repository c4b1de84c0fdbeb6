"""Ritz values, error bounds and exact spectra as scenes of a plot."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np

from workbench.plots.scenes.scene import ITERATIONS, Axis, CurveOf, Layer, LineAt, PointsOf, Scene, blank
from workbench.spectra.convergence_estimates import Estimates, cg_bound, nonzero
from workbench.words.numbers import number

NAMES = {"A": "A", "M^-1 A": "M⁻¹A", "M^-1 P A": "M⁻¹PA"}
EXACT = 2
"""The style of exact eigenvalues."""
HALF = 0.32
"""The share of the height of a row that a stroke reaches up and down."""
UNNEEDED = "No iteration was needed, so there are no Ritz values."


def ritz_scene(columns: Mapping[int, np.ndarray], exact: np.ndarray | None, last: int, spoken: str) -> Scene:
    """Ritz values by iteration; lines join the smallest and the largest.

    columns: as `ritz_columns` returns them. exact: eigenvalues, ascending and positive. last: where the axis ends.

    Examples:
        >>> from workbench.spectra import ritz_columns
        >>> from workbench.run import Run, configure, run_through
        >>> from workbench.plots.scenes import ritz_scene
        >>> columns = ritz_columns(run_through(Run(configure("two-layer", n=16))).history, 20)
        >>> ritz_scene(columns, None, last=20, spoken="Ritz values of 20 iterations.").name
        'ritz'
    """
    iterations = sorted(columns)
    x = np.concatenate([np.full(columns[k].size, k) for k in iterations])
    newest = iterations[-1]
    layers: list[Layer] = [
        *(LineAt(float(value), fitted=True, style=EXACT) for value in ([] if exact is None else exact[[0, -1]])),
        PointsOf("", x, np.concatenate([columns[k] for k in iterations]), marker=".", size=1.8, word="Ritz value"),
        PointsOf("", np.full(columns[newest].size, newest), columns[newest], 1, size=3.5, word="Ritz value"),
        *(
            CurveOf(name, np.array(iterations), np.array([columns[k][end] for k in iterations]), style, plain=True)
            for name, end, style in (("smallest", 0, 0), ("largest", -1, 3))
        ),
    ]
    if exact is not None:
        column = np.full(exact.size, 1.03 * last)
        layers.append(PointsOf("exact", column, exact, EXACT, size=4, marker="_", word="exact eigenvalue"))
    x_axis = Axis("iteration", "count", whole=True, word="iteration", span=(0, max(2, 1.05 * last)))
    return Scene("ritz", x_axis, Axis("eigenvalue, Ritz value", log=True), layers, spoken=spoken, logs="y")


def estimates_scene(
    found: Estimates, conditions: Mapping[str, float], last: int, spoken: str, whole: Estimates | None = None
) -> Scene:
    """||e||_A against iterations: true error, bounds, and the CG bound for the condition number of each level.

    whole: the estimates of all iterations, whose errors the axis has room for, so that it rests while `found` is of
    more of them or of fewer; by default `found`.

    Examples:
        >>> from workbench.spectra import estimates
        >>> from workbench.run import Run, configure, run_through
        >>> from workbench.plots.scenes import estimates_scene
        >>> found = estimates(run_through(Run(configure("two-layer", n=16))).history, 20)
        >>> estimates_scene(found, {}, last=20, spoken="Bounds of the error.").name
        'estimates'
    """
    steps = found.bound_so_far.size - 1
    levels = [
        (f"CG bound, κ of {NAMES.get(name, name)}", found.start * cg_bound(kappa, steps), 3 + place, (1.0, 4.0))
        for place, (name, kappa) in enumerate(conditions.items())
    ]
    curves = [
        *levels,
        ("CG bound, exact κ", found.bound, EXACT, None),
        ("CG bound, κ of the Ritz values", found.bound_so_far, 6, None),
        ("upper bound (Gauss–Radau)", found.upper, 1, None),
        ("lower bound (Hestenes–Stiefel)", found.lower, 0, None),
        # Last, since it is drawn on top of its bounds.
        ("true error", found.true, 5, None),
    ]
    layers = []
    for name, values, style, dash in curves:
        if values is not None and values.size:
            true = name == "true error"
            layers.append(CurveOf(name, np.arange(values.size), values, style, dash=dash, only=true, every=true))
    # The axis ignores the CG bound, which may be far above the measured values.
    ends = whole or found
    measured = [values[values > 0] for values in (ends.lower, ends.upper, ends.true) if values is not None]
    values = np.concatenate([*measured, [ends.start]])
    values = values[np.isfinite(values)]
    y = Axis("A-norm of the error", log=True, span=(float(values.min()) / 3, float(values.max()) * 5))
    x = Axis("iteration", "count", whole=True, word="iteration", span=(0, max(2, last, steps)))
    return Scene("estimates", x, y, layers, spoken=spoken, logs="y")


def levels_scene(spectra: Mapping[str, np.ndarray], *, deflates: bool = True) -> Scene:
    """Exact spectra one above the other, a stroke for each eigenvalue.

    spectra: ascending, by names, such as those that `analysis.spectra` gives them. deflates: the last of three or more
    is that of the one before with deflation, and what it removes stands out.

    Examples:
        >>> from workbench.spectra import spectra
        >>> from workbench.run import configure
        >>> from workbench.plots.scenes import levels_scene
        >>> levels_scene(spectra(configure("two-layer", n=8, deflation="blocks:2"))).y.names
        ['M⁻¹PA, κ = 12.4, 4 zeros', 'M⁻¹A, κ = 54.7', 'A, κ = 48\u202f600']
    """
    rows = [nonzero(values) for values in spectra.values()]
    layers: list[Layer] = []
    names, spoken = [], []
    for place, (name, values, whole) in enumerate(zip(spectra, rows, spectra.values(), strict=True)):
        row = len(rows) - 1 - place
        # The eigenvalues of A have another scale and are not compared.
        compared = deflates and 0 < place == len(rows) - 2
        gone = values < rows[-1][0] * (1 - 1e-9) if compared else np.zeros(values.size, bool)
        for part, style in ((values[~gone], 0), (values[gone], 1)):
            if part.size:
                title, word = removed(part.size) if style else "", f"eigenvalue of {NAMES.get(name, name)}"
                layers.append(PointsOf(title, part, np.full(part.size, row), style, tall=HALF, word=word))
        condition = f"κ = {number(values[-1] / values[0])}"
        zeros = whole.size - values.size
        names.append(f"{NAMES.get(name, name)}, {condition}{f', {zeros} zero' + 's' * (zeros != 1) if zeros else ''}")
        spoken.append(names[-1])
    y = Axis("operator", names=names[::-1], span=(-0.6, len(rows) - 0.4))
    return Scene("levels", Axis("eigenvalue", log=True), y, layers, spoken=f"Exact spectra: {'; '.join(spoken)}.")


def strokes_scene(
    values: np.ndarray | None, last: np.ndarray | None = None, note: str = "Nothing solved yet."
) -> Scene:
    """A stroke for each Ritz value of a solve, ascending, and in the row below for those of the last one. None: before
    there are any, for the reason of `note`."""
    x, y = Axis("Ritz value", log=True), Axis("", names=("last", "now"), span=(-0.6, 1.6))
    if values is None or not values.size:
        return blank("live spectrum", note if values is None else UNNEEDED, x, y)
    layers = [
        PointsOf("", part, np.full(part.size, row), tall=HALF, word="Ritz value", faint=row == 0)
        for row, part in enumerate((last, values))
        if part is not None and part.size
    ]
    condition = number(float(values[-1] / values[0]))
    span = f"from {number(values[0])} to {number(values[-1])}"
    x = dataclasses.replace(x, title=f"Ritz value ({values.size} now, κ ≈ {condition})")
    spoken = f"{values.size} Ritz values, {span}; condition number {condition}."
    return Scene("live spectrum", x, y, layers, spoken=spoken, logs="x")


def nothing_yet(name: str, note: str) -> Scene:
    """Axes before there is anything to see."""
    title = "eigenvalue, Ritz value" if name == "ritz" else "A-norm of the error"
    return Scene(name, ITERATIONS, Axis(title, log=True), note=note, spoken=note)


def removed(count: int) -> str:
    """A phrase for the number of eigenvalues that deflation removes."""
    return f"{count} eigenvalue{'s' * (count != 1)} removed by deflation"
