"""Contour lines of a quadratic form of two unknowns, and the paths of methods to its minimum."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from workbench.extensions.lessons.geometry_marks import CURVES, Mark, marks
from workbench.extensions.lessons.quadratic import QuadraticForm, energy_norm
from workbench.plots.scenes.scene import Axis, CurveOf, Layer, PointsOf, Scene
from workbench.words.numbers import counted, number, percent

__all__ = ["quadratic_scene"]

VIEW = 4.5
"""Errors from -4.5 to 4.5 are shown."""
MARKS = (-4, -2, 0, 2, 4)
MOST_CONTOURS = 16
SIDE = 0.3
"""Side of the sign of a right angle."""
AROUND = np.linspace(0, 2 * math.pi, 145)
CIRCLE = np.stack([np.cos(AROUND), np.sin(AROUND)])
INK, MARKED = 5, 2
"""Styles: of contour lines, and of marks."""
HEAD = 0.3
"""Length of the head of an arrow."""


def quadratic_scene(
    form: QuadraticForm,
    paths: Mapping[str, np.ndarray],
    *,
    jacobi: bool = False,
    stretched: bool = False,
    preconditioned: bool = False,
    marked: tuple[str, ...] = (),
    legend: str = "",
) -> Scene:
    """Contour lines in steps of the A-norm, with the errors of all iterates.

    paths: by method, steepest descent first, from one start, shape (steps + 1, 2) each. jacobi: in the coordinates in
    which Jacobi's preconditioner is the identity. stretched: in those in which the A-norm is the length. Both are
    scaled so that the start is as far from the solution as it is. preconditioned: the paths are those with Jacobi.
    marked: keys of what is marked, see `geometry_marks`. legend: the name of all marks there; "" for none.

    Examples:
        >>> from workbench.extensions.lessons.quadratic import QuadraticForm
        >>> from workbench.extensions.lessons.quadratic_scene import quadratic_scene
        >>> form = QuadraticForm(angle=0, lengths=(3, 1))
        >>> quadratic_scene(form, {"CG": form.path("cg", (3.6, 0.4))}).spoken
        'Contour lines of the form with A. Condition number 9.00. CG: 2 steps.'
    """
    start = next(iter(paths.values()))[0]
    map_ = form.stretch(jacobi=jacobi) if stretched else form.jacobi_root if jacobi else np.eye(2)
    far = np.linalg.norm(map_ @ start)
    if far > 0:
        map_ = map_ * (np.linalg.norm(start) / far)
    layers: list[Layer] = [_ellipse(form, map_, level) for level in _levels(form, map_)]
    first = next(iter(paths.values()))[:2]
    if len(first) > 1:
        level = energy_norm(form.matrix, first[1])
        layers.append(_ellipse(form, map_, level, CURVES["touched"], chosen="touched" in marked))
    if "unit" in marked:
        layers.append(_ellipse(form, map_, 1.0, "eᵀAe = 1", chosen=True))
    # The zigzag lies on top, dashed, since the first step of all is the same.
    for style, (name, errors) in enumerate(reversed([*paths.items()])):
        layers += _path(form, map_, name, errors, style, chosen=CURVES["zigzag"] == name and "zigzag" in marked)
    if stretched:
        layers += _right_angle(map_, [*paths.values()][-1])
    for place, mark in enumerate(marks(form, start, marked, jacobi=preconditioned)):
        layers += _mark(map_, mark, FACTORS[jacobi, stretched], "" if place else legend)
    layers.append(PointsOf("solution", np.zeros(1), np.zeros(1), INK, size=6, marker="x", texts=[["the solution"]]))
    seen, title = COORDINATES[jacobi, stretched]
    x, y = (Axis(f"{seen}, {which} entry", span=(-VIEW, VIEW), marks=MARKS) for which in ("first", "second"))
    said = "; ".join(f"{name}: {counted(len(errors) - 1, 'step')}" for name, errors in paths.items())
    return Scene(
        f"quadratic {title}", x, y, layers, title=title, ways="xy", square=True,
        spoken=f"{title}. Condition number {number(form.condition(jacobi=jacobi))}. {said}.",
    )  # fmt: skip


COORDINATES = {
    (False, False): ("error", "Contour lines of the form with A"),
    (True, False): ("√D × error", "Contour lines where Jacobi's M is the identity"),
    (False, True): ("√A × error", "Stretched by √A: conjugate is orthogonal"),
    (True, True): ("stretched error", "Stretched: conjugate is orthogonal"),
}
"""The quantity on the axes and a title, by whether the picture is Jacobi's, and stretched."""
FACTORS = {(False, False): "", (True, False): "√D ", (False, True): "√A ", (True, True): None}
"""The factor of all vectors in these coordinates, for their labels; None for no label."""
OUTSIDE = 0.2
"""Distance of the label of a line from its end, around which a handle is."""


def _levels(form: QuadraticForm, map_: np.ndarray) -> np.ndarray:
    """A-norms that fill the view, at most 16."""
    smallest = np.linalg.svd(map_ @ form.axes, compute_uv=False)[-1]
    most = math.sqrt(2) * VIEW / smallest
    step = 2.0 ** max(-1, math.ceil(math.log2(most / MOST_CONTOURS)))
    return np.arange(1, math.ceil(most / step) + 1) * step


def _ellipse(form: QuadraticForm, map_: np.ndarray, level: float, name: str = "", *, chosen: bool = False) -> CurveOf:
    x, y = level * map_ @ form.axes @ CIRCLE
    return CurveOf(name, x, y, INK, faint=not name, dash=(4.0, 3.0) if name else (), mark=False, chosen=chosen)


def _mark(map_: np.ndarray, mark: Mark, factor: str | None, legend: str) -> list[Layer]:
    """A mark in the colour of none of the paths, with its name. factor: of `FACTORS`; lengths along lines are named in
    plain coordinates alone. legend: its name there; "" for none."""
    x, y = map_ @ mark.points.T
    layers: list[Layer] = [CurveOf(legend, x, y, MARKED, plain=True, chosen=True, rim=True)]
    tip = np.array([x[-1] - x[0], y[-1] - y[0]])
    length = float(np.linalg.norm(tip))
    if mark.arrow and length > 0:
        back, side = min(HEAD, length / 2) * tip / length, min(HEAD, length / 2) * np.array([-tip[1], tip[0]]) / length
        ends = np.array([x[-1], y[-1]])[:, None] - back[:, None] + side[:, None] * np.array([0.5, 0, -0.5])
        ends[:, 1] = x[-1], y[-1]
        layers.append(CurveOf("", ends[0], ends[1], MARKED, plain=True, chosen=True))
    if mark.label and length > 0 and (factor is not None if mark.arrow else factor == ""):
        place = 0.5 if mark.arrow else 1 + OUTSIDE / length
        at = [values[:1] + place * (values[-1:] - values[:1]) for values in (x, y)]
        layers.append(PointsOf("", at[0], at[1], MARKED, size=0.1, marker=".", labels=[f"{factor}{mark.label}"]))
    return layers


def _path(
    form: QuadraticForm, map_: np.ndarray, name: str, errors: np.ndarray, style: int, *, chosen: bool = False
) -> list[Layer]:
    x, y = map_ @ errors.T
    norms = [energy_norm(form.matrix, e) for e in errors]
    texts = [
        [
            f"{name}, step {step}" if step else "start",
            f"A-norm of the error {percent(norm / norms[0])} of its initial value",
        ]
        if norms[0] > 0
        else ["start", "the solution"]
        for step, norm in enumerate(norms)
    ]
    steps = len(errors) - 1
    if not steps:
        return [PointsOf("", x, y, style, size=3.5, marker=".", texts=texts)]
    legend = f"{name}: {counted(steps, 'step')}"
    return [
        CurveOf(legend, x, y, style, plain=True, chosen=chosen or not style, dash=(6.0, 5.0) if style else None),
        PointsOf("", x, y, style, size=3.5, marker=".", texts=texts, of=legend),
    ]


def _right_angle(map_: np.ndarray, errors: np.ndarray) -> list[Layer]:
    """The sign of a right angle between the first two directions, where both can be seen."""
    points = (map_ @ errors.T).T
    steps = np.diff(points, axis=0)[:2]
    lengths = np.linalg.norm(steps, axis=1)
    if len(steps) < 2 or lengths.min() < 2 * SIDE:
        return []
    back, on = SIDE * np.array([-1, 1])[:, None] * steps / lengths[:, None]
    x, y = np.transpose([points[1] + back, points[1] + back + on, points[1] + on])
    return [CurveOf("", x, y, INK, plain=True)]
