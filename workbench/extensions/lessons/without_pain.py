"""Exercises of lesson 1: two unknowns, drawn as contour lines."""

from __future__ import annotations

import functools
import math

import numpy as np

from workbench.extensions.lessons.exercise import Exercise, Number, Verdict
from workbench.extensions.lessons.next_step import NextStep, waiting_race
from workbench.extensions.lessons.quadratic import QuadraticForm, angle_between, energy_norm
from workbench.run import configure
from workbench.words.numbers import apart, chosen, number

A = np.array([[5.0, 2.0], [2.0, 2.0]])
P0 = np.array([1.0, 0.0])
LENGTHS = (3.0, 1.0)
DIGITS = 12
"""Digits of an answer that a verdict repeats."""
NEAR = 0.01
"""Relative difference from the slowest start up to which another one is right."""
ZERO = 1e-6
"""Largest (p_0, A p_1) that counts as zero, for directions about 1 long."""
RADIANS = "the answer is in degrees, and this may be radians."
SAME = 1e-9
"""Relative change of a condition number that counts as none."""


def _left(form: QuadraticForm, start: np.ndarray) -> float:
    """The share of the A-norm of the error that is left by the first step of steepest descent."""
    errors = form.path("sd", start, steps=1)
    return energy_norm(form.matrix, errors[1]) / energy_norm(form.matrix, errors[0])


@functools.cache
def _most_left() -> tuple[float, float]:
    """The slowest start (s, 1), where r has equal parts in both eigenvectors, and the share that its step leaves."""
    s = (LENGTHS[0] / LENGTHS[1]) ** 2
    return s, _left(QuadraticForm(0.0, LENGTHS), np.array([s, 1.0]))


def _slowest(s: float) -> Verdict:
    """By a step of steepest descent from there, and from the slowest start."""
    left = 100 * _left(QuadraticForm(0.0, LENGTHS), np.array([s, 1.0]))
    slowest, most = _most_left()
    here, there = apart(left, 100 * most)
    sentence = f"from ({chosen(s, digits=DIGITS)}, 1) the first step leaves {here}% of the A-norm of the error"
    if abs(s / slowest - 1) > NEAR:
        # The residual is -(s / slowest, 1), by the eigenvalues 1/slowest and 1.
        parts = f"r has the parts {chosen(s / slowest, digits=3)} and 1 in the two eigenvectors"
        return Verdict(False, f"{sentence}, since {parts}, and from another start {there}%.")
    if here == there:
        return Verdict(True, f"{sentence}, and from no other start more.")
    return Verdict(True, f"{sentence}, and from ({chosen(slowest)}, 1), the slowest start, {there}%.")


def _conjugate(second: float) -> Verdict:
    """By p_0^T A p_1, and the angle in the coordinates in which it is an inner product."""
    p1 = np.array([1.0, second])
    root = np.linalg.cholesky(A).T
    product, angle = float(P0 @ A @ p1), angle_between(root @ P0, root @ p1)
    sentence = f"for p₁ = (1, {chosen(second, digits=DIGITS)}) p₀ᵀA p₁ is {number(product)}"
    if abs(product) > ZERO:
        seen, right_angle = apart(angle, 90.0)
        return Verdict(
            False, f"{sentence}, so in stretched coordinates the directions are at {seen}°, not {right_angle}°."
        )
    rounding = "" if product == 0 else ", zero up to rounding"
    return Verdict(True, f"{sentence}{rounding}, so in stretched coordinates the directions are at 90°.")


def _useless(angle: float) -> Verdict:
    """By the condition number with Jacobi's preconditioner."""
    form = QuadraticForm(angle, LENGTHS)
    before, after = form.condition(), form.condition(jacobi=True)
    at = f"at {chosen(angle, digits=DIGITS)}° it"
    if abs(after / before - 1) <= SAME:
        one, other = (number(value) for value in np.diag(form.matrix))
        why = f"the diagonal of A, {one} and {other}, only scales A"
        return Verdict(True, f"{at} leaves the condition number at {number(before)}, since {why}.")
    one, other = apart(before, after)
    said = f"{at} takes the condition number from {one} to {other}"
    if 0 < angle < math.pi / 2:
        return Verdict(False, f"{said}; {RADIANS}", RADIANS)
    return Verdict(False, f"{said}.")


EXERCISES = (
    Exercise(
        "The half axes are 3 and 1 long and lie along the coordinates (angle 0°). From which error (s, 1) at the "
        "start, with s from 0.1 to 100, is steepest descent slowest? Only the direction of the error matters.",
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

NEXT_STEPS = (
    NextStep(
        "Steepest descent and CG on Poisson's equation, with and without Jacobi: why does next to nothing change? The "
        "diagonal is constant.",
        "compare.race",
        race=lambda: waiting_race(
            "iterations",
            *(
                configure("poisson5", n=32, solver=solver, preconditioner=name)
                for solver in ("sd", "cg")
                for name in ("none", "jacobi")
            ),
        ),
    ),
    NextStep(
        "CG on two fluid layers, with and without Jacobi: the diagonal varies by a factor of 1000.",
        "compare.race",
        race=lambda: waiting_race(
            "iterations", *(configure("two-layer", n=32, preconditioner=name) for name in ("none", "jacobi"))
        ),
    ),
    NextStep(
        "CG line by line, with the values of all scalars.",
        "learn.step",
        lambda: configure("poisson5", n=16, preconditioner="none"),
    ),
)
"""Where the lesson leads: problems and views of the workbench."""
