"""Vectors that the text of lesson 1 names: the first two steps of CG, by the solver too, and lines through them."""

import numpy as np
import pytest

from workbench.extensions.lessons.geometry_marks import MARKS, FirstSteps, marks
from workbench.extensions.lessons.quadratic import QuadraticForm

START = np.array([3.6, 2.5])
FORM = QuadraticForm(25.0, (3.2, 0.8))


@pytest.mark.parametrize("jacobi", [False, True])
def test_the_steps_are_those_of_the_solver(jacobi):
    steps = FirstSteps.of(FORM, START, jacobi=jacobi)
    e0, e1, e2 = FORM.path("cg", START, jacobi=jacobi)
    np.testing.assert_allclose((steps.e0, steps.e1), (e0, e1), atol=1e-10)
    np.testing.assert_allclose(steps.r1 + steps.bp, e2 - e1, atol=1e-10)
    A, p0 = FORM.matrix, e1 - e0
    # beta_0 p_0 is along the first direction; the sum is conjugate to it, r_1 is not.
    assert np.linalg.det([steps.bp, p0]) == pytest.approx(0, abs=1e-10)
    assert p0 @ A @ (steps.r1 + steps.bp) == pytest.approx(0, abs=1e-10)
    assert abs(p0 @ A @ steps.r1) > 0.1


def test_the_line_of_conjugate_directions_goes_through_both_ends_of_the_second_step():
    [line] = marks(FORM, START, ("conjugate",))
    e1 = FirstSteps.of(FORM, START).e1
    assert np.linalg.det([line.points[1] - line.points[0], e1]) == pytest.approx(0, abs=1e-9)
    assert np.linalg.det(line.points) == pytest.approx(0, abs=1e-9)


def test_all_can_be_drawn_from_the_solution_too():
    for mark in marks(FORM, np.zeros(2), tuple(MARKS)):
        assert np.isfinite(mark.points).all()
    assert marks(FORM, START, ("none such",)) == []
