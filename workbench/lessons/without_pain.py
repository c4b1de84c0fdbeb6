"""Exercises of lesson 1: two unknowns, drawn as contour lines."""

from __future__ import annotations

import numpy as np

from workbench.lessons.exercise import Exercise, Number, Verdict
from workbench.number_text import number
from workbench.run import solve

A = np.array([[5.0, 2.0], [2.0, 2.0]])
B = np.array([1.0, 2.0])


def _steps(steps: int) -> Verdict:
    """As many steps as there are distinct eigenvalues."""
    left = [solve(A, B, rtol=1e-14, maxiter=k).true_relative_residual for k in (max(steps - 1, 1), max(steps, 1))]
    if steps < 1:
        return Verdict(False, "without a step the residual is b itself.")
    if left[1] > 1e-12:
        return Verdict(False, f"after {steps} step the residual is still {number(100 * left[1])} % of b.")
    if steps > 1 and left[0] <= 1e-12:
        return Verdict(False, f"already after {steps - 1} steps the residual is {number(left[0])} of b.")
    return Verdict(True, f"after {steps} steps the residual is {number(left[1])} of b.")


EXERCISES = (
    Exercise("How many steps does CG take on A = [[5, 2], [2, 2]], up to rounding?", Number(0, 20, whole=True), _steps),
)
