"""Vectors and lines of two unknowns that the text of lesson 1 names, and the steps of CG with those that they mark."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from workbench.extensions.lessons.quadratic import QuadraticForm

FAR = 20.0
"""Length of a line that leaves the picture."""
ALL = 60
"""Steps of a whole path."""


@dataclasses.dataclass(frozen=True)
class Mark:
    """points: ends of lines in errors, shape (n, 2). label: at the middle of an arrow, or next to the last point of a
    line, where its handle is. arrow: it has a head at the last point."""

    points: np.ndarray
    label: str
    arrow: bool = True


@dataclasses.dataclass(frozen=True)
class FirstSteps:
    """The vectors of the first two steps of CG, in errors, shape (2,) each: x_0, x_1 and the solution are e0, e1 and 0.

    r1: alpha_1 r_1, or with Jacobi alpha_1 M^-1 r_1. bp: alpha_1 beta_0 p_0. Together they are the second step, from e1
    to the solution. Directions are drawn as the steps along them, since only then a sum can be seen. residual: the
    letters of r, or with Jacobi of M^-1 r.
    """

    e0: np.ndarray
    e1: np.ndarray
    r1: np.ndarray
    bp: np.ndarray
    residual: str = "r"

    @classmethod
    def of(cls, form: QuadraticForm, start: np.ndarray, *, jacobi: bool = False) -> FirstSteps:
        """The steps from an error; all are zero at the solution. The formulas are those of Hestenes and Stiefel (1952)
        with p_0^T A p_1 = 0."""
        A = form.matrix
        M = np.diag(np.diag(A)) if jacobi else np.eye(2)
        residual = "M⁻¹r" if jacobi else "r"
        p0 = np.linalg.solve(M, -A @ start)
        curvature = float(p0 @ A @ p0)
        if not curvature > 0:
            return cls(start, start, np.zeros(2), np.zeros(2), residual)
        e1 = start - float(p0 @ A @ start) / curvature * p0
        u1 = np.linalg.solve(M, -A @ e1)
        beta = -float(p0 @ A @ u1) / curvature
        p1 = u1 + beta * p0
        size = float(p1 @ A @ p1)
        alpha = -float(p1 @ A @ e1) / size if size > 0 else 0.0
        return cls(np.array(start, float), e1, alpha * u1, alpha * beta * p0, residual)


def _arrow(start: np.ndarray, along: np.ndarray, label: str) -> list[Mark]:
    return [Mark(np.array([start, start + along]), label)]


def _sum(_form: QuadraticForm, steps: FirstSteps) -> list[Mark]:
    return [*_arrow(steps.e1, steps.r1, f"α₁{steps.residual}₁"), *_arrow(steps.e1 + steps.r1, steps.bp, "α₁β₀p₀")]


def _axes(form: QuadraticForm, _steps: FirstSteps) -> list[Mark]:
    return [Mark(np.array([-axis, axis]), f"1/√λ{'₁₂'[place]}", arrow=False) for place, axis in enumerate(form.axes.T)]


def _conjugate(_form: QuadraticForm, steps: FirstSteps) -> list[Mark]:
    length = float(np.linalg.norm(steps.e1))
    along = steps.e1 / length if length > 0 else np.zeros(2)
    return [Mark(np.array([-FAR * along, FAR * along]), "", arrow=False)]


MARKS: dict[str, Callable[[QuadraticForm, FirstSteps], list[Mark]]] = {
    "e": lambda form, steps: _arrow(np.zeros(2), steps.e0, "e₀"),
    "e1": lambda form, steps: _arrow(np.zeros(2), steps.e1, "e₁"),
    "axes": _axes,
    "r0": lambda form, steps: _arrow(steps.e0, steps.e1 - steps.e0, f"α₀{steps.residual}₀"),
    "p0": lambda form, steps: _arrow(steps.e0, steps.e1 - steps.e0, "α₀p₀"),
    "r1": lambda form, steps: _arrow(steps.e1, steps.r1, f"α₁{steps.residual}₁"),
    "bp": _sum,
    "p1": lambda form, steps: _arrow(steps.e1, steps.r1 + steps.bp, "α₁p₁"),
    "conjugate": _conjugate,
}
"""Marks by the keys of the text."""
CURVES = {"zigzag": "steepest descent", "touched": "contour line that the first step touches", "unit": "unit"}
"""Keys of curves that the picture has anyway, or has then."""


def marks(form: QuadraticForm, start: np.ndarray, keys: tuple[str, ...], *, jacobi: bool = False) -> list[Mark]:
    """The marks of some keys at a start, shape (2,).

    Examples:
        >>> from workbench.extensions.lessons.geometry_marks import marks
        >>> from workbench.extensions.lessons.quadratic import QuadraticForm
        >>> [second] = marks(QuadraticForm(), (3.6, 2.5), ("p1",))
        >>> bool(abs(second.points[1]).max() < 1e-12)
        True
    """
    steps = FirstSteps.of(form, np.asarray(start, float), jacobi=jacobi)
    return [mark for key in keys if key in MARKS for mark in MARKS[key](form, steps)]


@dataclasses.dataclass(frozen=True)
class Thought:
    """A step of the derivation: its title, sentences and what the picture marks. drawn: steps of steepest descent and
    of CG in the picture, at most. stretched: true if it is."""

    title: str
    sentences: tuple[str, ...]
    marked: tuple[str, ...]
    drawn: tuple[int, int]
    stretched: bool = False


THOUGHTS = (
    Thought(
        "The error",
        (
            "CG starts at the round handle. e₀ leads from the solution to it.",
            "r₀ = −A e₀ points downhill, as α₀ r₀ does.",
        ),
        ("e", "r0"),
        (0, 0),
    ),
    Thought(
        "The first step",
        (
            "p₀ = r₀, as in steepest descent. The step α₀ p₀ ends where φ is smallest on its line:",
            "α₀ = r₀ᵀr₀ / p₀ᵀA p₀.",
            "There it touches the dashed contour line.",
        ),
        ("p0", "touched"),
        (1, 1),
    ),
    Thought(
        "The next residual",
        ("r₁ = r₀ − α₀ A p₀ is orthogonal to p₀.", "Steepest descent follows it, and misses the solution."),
        ("p0", "r1"),
        (ALL, 1),
    ),
    Thought(
        "The conjugate line",
        (
            "The step was the best one, so p₀ᵀA e₁ = 0.",
            "All p with p₀ᵀA p = 0 are on one line, and e₁ is: it leads to the solution.",
        ),
        ("conjugate", "e1"),
        (ALL, 1),
    ),
    Thought(
        "A sum in place of r₁",
        (
            "p₁ = r₁ + β₀ p₀ is on that line for",
            "β₀ = r₁ᵀr₁ / r₀ᵀr₀.",
            "A part of the last direction corrects the new residual.",
            "The picture shows α₁ times this sum.",
        ),
        ("bp", "p1"),
        (ALL, 1),
    ),
    Thought(
        "The second step",
        ("α₁ p₁ ends in the solution: two steps for two unknowns, whatever the bowl.",),
        ("p0", "p1"),
        (ALL, ALL),
    ),
    Thought(
        "Stretched by √A",
        (
            "The contour lines are circles now, and both steps are at a right angle.",
            "Conjugate means orthogonal once the bowl is round.",
        ),
        ("p0", "p1"),
        (ALL, ALL),
        stretched=True,
    ),
)
"""The first two steps of CG, one thought after the other."""
