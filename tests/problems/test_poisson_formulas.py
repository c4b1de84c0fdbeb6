"""Poisson from formulas: by hand, against manufactured solutions, and errors."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse.linalg import spsolve

from tests.conftest import refusal
from workbench.errors import InputError
from workbench.problems.diffusion import assemble_diffusion
from workbench.problems.poisson_formulas import PoissonFormulas2D, PoissonFormulas3D


def error(problem, exact):
    """The largest error at the cells' centres."""
    system = problem.assemble()
    u = spsolve(system.operator.to_csr().tocsc(), system.b)
    wanted = problem.on_cells(problem.formula("f").parse(exact, "xyz"[: problem.dimensions]))
    return np.abs(u - wanted.reshape(-1)).max()


SINES = "sin(pi*x)*sin(pi*y)"
MANUFACTURED = {
    "constant": {"f": f"2*pi**2*{SINES}"},
    "anisotropic": {"a": "3", "b": "0.5", "f": f"3.5*pi**2*{SINES}"},
    # a = 1 + x: -(a u_x)_x = (1 + x) pi^2 u - pi cos(pi x) sin(pi y), and b = 2 + y likewise.
    "varying": {
        "a": "1+x",
        "b": "2+y",
        "f": f"(3+x+y)*pi**2*{SINES} - pi*cos(pi*x)*sin(pi*y) - pi*sin(pi*x)*cos(pi*y)",
    },
}


@pytest.mark.parametrize("values", MANUFACTURED.values(), ids=MANUFACTURED)
def test_the_error_is_second_order(values):
    errors = [error(PoissonFormulas2D(n=n, **values), SINES) for n in (12, 24, 48)]
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    assert errors[-1] < 5e-3
    assert np.all(orders > 1.8), (errors, orders)


def test_three_dimensions_converge_too():
    cube = "sin(pi*x)*sin(pi*y)*sin(pi*z)"
    values = {"a": "1", "b": "2", "c": "3", "f": f"6*pi**2*{cube}"}
    errors = [error(PoissonFormulas3D(n=n, **values), cube) for n in (6, 12)]
    assert np.log2(errors[0] / errors[1]) > 1.8


def test_two_walls_and_a_linear_profile_by_hand():
    # -(a u')' = 0 has no source; with f = 0 and walls held at 0 only u = 0 solves it.
    held = PoissonFormulas2D(n=4, a="1+x", f="0", sides="x-:dirichlet").assemble()
    assert not held.b.any()
    assert held.null_space is None
    # Row by hand at the corner cell: faces to the right (harmonic mean of 1.125 and 1.375), above, and the wall.
    dense = held.operator.to_csr().toarray()
    right = 2 * 1.125 * 1.375 / 2.5
    assert dense[0, 0] == pytest.approx(16 * (right + 1.125 + 2 * 1.125), rel=1e-15)
    assert dense[0, 1] == pytest.approx(-16 * right, rel=1e-15)
    assert dense[0, 4] == pytest.approx(-16 * 1.125, rel=1e-15)


def test_a_constant_coefficient_is_the_five_point_stencil():
    system = PoissonFormulas2D(n=5, a="1").assemble()
    bare = assemble_diffusion(np.ones((5, 5)), "dirichlet", scale=25.0)
    np.testing.assert_array_equal(system.operator.to_csr().toarray(), bare.to_csr().toarray())
    inner = system.operator.to_csr().toarray()[12]
    assert (inner[12], inner[[7, 11, 13, 17]].tolist()) == (100, [-25] * 4)


def test_each_axis_has_its_own_coefficient_and_the_matrix_is_symmetric():
    problem = PoissonFormulas3D(n=4, a="1+x", b="2 if y < 0.5 else 30", c="exp(z)", sides="y+:dirichlet")
    dense = problem.assemble().operator.to_csr().toarray()
    np.testing.assert_array_equal(dense, dense.T)
    centre = 1 + 4 * (1 + 4 * 1)
    a, b, c = [1 + 0.375, 1 + 0.625], [2, 30], [np.exp(0.375), np.exp(0.625)]
    for stride, (here, there) in zip((1, 4, 16), (a, b, c), strict=True):
        assert dense[centre, centre + stride] == pytest.approx(-16 * 2 * here * there / (here + there), rel=1e-14)


def test_closed_boxes_are_singular_with_a_consistent_right_hand_side():
    system = PoissonFormulas2D(n=8, a="1+x*y", f="x", sides="neumann").assemble()
    assert system.null_space is not None
    assert abs(system.b.sum()) < 1e-12
    assert np.abs(system.operator.to_csr() @ np.ones(64)).max() < 1e-10


def test_evaluation_in_blocks_gives_the_same_values(monkeypatch):
    problem = PoissonFormulas3D(n=7, a="1 + x + 10*y + 100*z")
    whole = problem.values("a")
    monkeypatch.setattr("workbench.problems.poisson_formulas.CELLS_AT_ONCE", 100)
    np.testing.assert_array_equal(problem.values("a"), whole)
    z, y, x = 2, 3, 5
    assert whole[z, y, x] == pytest.approx(1 + (x + 0.5) / 7 + 10 * (y + 0.5) / 7 + 100 * (z + 0.5) / 7)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        (
            {"a": "x - 0.5"},
            "a must be positive and finite, but a = -0.375 at x = 0.125, y = 0.125; try max(1e-3, ...) around it",
        ),
        ({"b": "where(y > 0.5, 0, 1)"}, "b must be positive and finite, but b = 0 at x = 0.125, y = 0.625"),
        ({"a": "1/(x-0.125)"}, "a must be positive and finite, but a = inf at x = 0.125, y = 0.125"),
        ({"a": "log(x - 0.5)"}, "but a = nan at x = 0.125, y = 0.125; change the formula there, as where("),
        ({"f": "log(x - 0.5)"}, "f must be finite, but f = nan at x = 0.125, y = 0.125"),
        ({"a": "1 +"}, "poisson-2d: in a, column 4: the formula ends too early"),
        ({"f": "z"}, "poisson-2d: in f, column 1: unknown name 'z'"),
        ({"sides": "left"}, "unknown boundary condition 'left'"),
    ],
)
def test_invalid_parameters_are_refused(values, sentence):
    assert sentence in refusal(lambda: PoissonFormulas2D(n=4, **values).assemble())


def test_coefficients_per_axis_must_have_one_shape():
    with pytest.raises(InputError, match=r"one array per dimension, all of the same shape, got \(2, 2\), \(2, 3\)"):
        assemble_diffusion([np.ones((2, 2)), np.ones((2, 3))], "neumann")
