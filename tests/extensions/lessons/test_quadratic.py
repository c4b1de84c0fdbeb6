"""A quadratic form of two unknowns: its axes, and paths next to steps made by hand."""

import numpy as np
import pytest

from workbench.errors import InputError
from workbench.extensions.lessons.quadratic import MOST_STEPS, QuadraticForm, angle_between, energy_norm

START = np.array([2.5, 1.9])
FORM = QuadraticForm(33.0, (2.7, 0.6))


def by_hand(A, M, e):
    """Errors of steepest descent with M."""
    errors = [e]
    while energy_norm(A, errors[-1]) > 0.01 * energy_norm(A, e) and len(errors) <= MOST_STEPS:
        r = -A @ errors[-1]
        u = np.linalg.solve(M, r)
        errors.append(errors[-1] + (r @ u) / (u @ A @ u) * u)
    return np.array(errors)


def test_axes_and_eigenvalues_are_those_that_were_given():
    values, vectors = np.linalg.eigh(FORM.matrix)
    np.testing.assert_allclose(1 / np.sqrt(values), (2.7, 0.6))
    assert angle_between(vectors[:, 0], np.array([np.cos(np.radians(33)), np.sin(np.radians(33))])) < 1e-5
    for axis in FORM.axes.T:
        assert energy_norm(FORM.matrix, axis) == pytest.approx(1)
    assert FORM.condition() == pytest.approx((2.7 / 0.6) ** 2)


@pytest.mark.parametrize("jacobi", [False, True])
def test_paths_are_those_of_the_methods(jacobi):
    A = FORM.matrix
    M = np.diag(np.diag(A)) if jacobi else np.eye(2)
    descent, cg = (FORM.path(name, START, jacobi=jacobi) for name in ("sd", "cg"))
    np.testing.assert_allclose(descent, by_hand(A, M, START), atol=1e-12)
    assert len(descent) > 5
    assert len(cg) == 3
    np.testing.assert_allclose(cg[1], descent[1], atol=1e-12)
    np.testing.assert_allclose(cg[2], 0, atol=1e-12)
    T = FORM.stretch(jacobi=jacobi)
    np.testing.assert_allclose(T.T @ T, A, atol=1e-12)
    first, second = np.diff(cg, axis=0) @ T.T
    assert angle_between(first, second) == pytest.approx(90, abs=1e-6)
    # M^-1 A is similar to what Jacobi's picture shows.
    eigenvalues = np.sort(np.linalg.eigvals(np.linalg.solve(M, A)).real)
    assert FORM.condition(jacobi=jacobi) == pytest.approx(eigenvalues[1] / eigenvalues[0])


def test_a_path_ends_where_it_begins_in_the_solution_and_is_cut_where_it_is_long():
    assert FORM.path("cg", np.zeros(2)).shape == (1, 2)
    flat = QuadraticForm(0.0, (4.0, 0.25))
    assert len(flat.path("sd", np.array([256.0, 1.0]))) == MOST_STEPS + 1


@pytest.mark.parametrize(("values", "said"), [((0, (5, 1)), "between 0.25 and 4"), ((np.nan, (1, 1)), "finite number")])
def test_what_is_no_ellipse_is_refused(values, said):
    with pytest.raises(InputError, match=said):
        QuadraticForm(*values)
