"""Exercises of lesson 1: two unknowns, drawn as contour lines."""

from __future__ import annotations

import functools

import numpy as np

from workbench.extensions.lessons.exercise import Exercise, Number, Verdict
from workbench.extensions.lessons.quadratic import QuadraticForm, angle_between, energy_norm
from workbench.words.numbers import chosen, number

A = np.array([[5.0, 2.0], [2.0, 2.0]])
P0 = np.array([1.0, 0.0])
LENGTHS = (3.0, 1.0)
NEAR = 1e-3
"""Relative difference from the best answer up to which another one is right."""


def _left(form: QuadraticForm, start: np.ndarray) -> float:
    """The share of the A-norm of the error that is left by the first step of steepest descent."""
    errors = form.path("sd", start, steps=1)
    return energy_norm(form.matrix, errors[1]) / energy_norm(form.matrix, errors[0])


@functools.cache
def _most_left() -> float:
    """The largest of these shares, over starts all over the plane."""
    form = QuadraticForm(0.0, LENGTHS)
    return max(_left(form, np.array([ratio, 1.0])) for ratio in np.geomspace(0.1, 100, 61))


def _slowest(s: float) -> Verdict:
    """By a step of steepest descent from there, and from starts all over the plane."""
    left, worst = _left(QuadraticForm(0.0, LENGTHS), np.array([s, 1.0])), _most_left()
    sentence = f"from ({chosen(s)}, 1) the first step leaves {number(100 * left)}% of the A-norm of the error"
    if left >= (1 - NEAR) * worst:
        return Verdict(True, f"{sentence}, and from no other start more.")
    return Verdict(False, f"{sentence}, and from another start {number(100 * worst)}%.")


def _conjugate(second: float) -> Verdict:
    """By (p_0, A p_1), and the angle in the coordinates in which it is an inner product."""
    p1 = np.array([1.0, second])
    root = np.linalg.cholesky(A).T
    product, seen = float(P0 @ A @ p1), angle_between(root @ P0, root @ p1)
    right = abs(product) <= NEAR * energy_norm(A, P0) * energy_norm(A, p1)
    where = f"in stretched coordinates the directions are at {number(seen)}°"
    return Verdict(
        right, f"(p₀, A p₁) = {number(product if not right else 0.0)}, so {where}{'' if right else ', not 90°'}."
    )


def _useless(angle: float) -> Verdict:
    """By the condition number with Jacobi's preconditioner."""
    form = QuadraticForm(angle, LENGTHS)
    before, after = form.condition(), form.condition(jacobi=True)
    turned = f"at {chosen(angle)}° it takes the condition number from {number(before)} to {number(after)}"
    if abs(after / before - 1) <= NEAR**2:
        diagonal = " and ".join(number(value) for value in np.diag(form.matrix))
        return Verdict(True, f"{turned}, since the diagonal of A, {diagonal}, only scales it.")
    return Verdict(False, f"{turned}, so it does change it.")


EXERCISES = (
    Exercise(
        "The half axes are 3 and 1 long and lie along the coordinates (angle 0°). From which error (s, 1) at the "
        "start, with s > 0, is steepest descent slowest? Only the direction of the error matters.",
        Number(0.1, 100),
        _slowest,
        "compare the shares of the residual at the start in the two eigenvectors.",
    ),
    Exercise(
        "A = [[5, 2], [2, 2]], and the first direction is p₀ = (1, 0). For which second entry is p₁ = (1, …) conjugate "
        "to it?",
        Number(-100, 100),
        _conjugate,
        "compute A p₀ first; p₁ is to be orthogonal to it.",
    ),
    Exercise(
        "The half axes are 3 and 1 long. At which angle between 0° and 90° does Jacobi's preconditioner leave the "
        "condition number as it is?",
        Number(0, 90, unit="°"),
        _useless,
        "compare the two entries on the diagonal of A at this angle; if they differ, Jacobi rescales the unknowns.",
    ),
)
