"""Finite differences on interior points: by hand, symmetry, and what is refused."""

import numpy as np
import pytest

from workbench.errors import InputError
from workbench.problems.poisson_fd import PoissonFD
from workbench.run import Run, Stopping, configure, run_through


def matrix(**parameters):
    return PoissonFD(**parameters).assemble(0).operator.to_csr().toarray()


def test_three_intervals_by_hand():
    system = PoissonFD(n=3).assemble(0)
    expected = [[4, -1, -1, 0], [-1, 4, 0, -1], [-1, 0, 4, -1], [0, -1, -1, 4]]
    np.testing.assert_array_equal(system.operator.to_csr().toarray(), expected)
    np.testing.assert_array_equal(system.b, np.full(4, 1 / 9))


def test_coefficients_lie_half_way_between_points():
    # Points at 1/3 and 2/3, faces at 1/6, 1/2 and 5/6.
    found = matrix(n=3, a="x", b="1 + y")
    assert found[0, 1] == pytest.approx(-1 / 2)
    assert found[0, 2] == pytest.approx(-3 / 2)
    assert found[0, 0] == pytest.approx(1 / 6 + 1 / 2 + 7 / 6 + 3 / 2)


@pytest.mark.parametrize(
    ("a", "b"), [("1 + y", "1 + x"), ("1 + x*y", "1 + x*y"), ("(1 + y)*(2 + x)", "2 + x"), ("1 + x", "1")]
)
def test_the_printed_form_where_it_can_be_made_symmetric(a, b):
    found = matrix(n=6, a=a, b=b, form="printed")
    np.testing.assert_allclose(found, found.T, rtol=1e-14)
    # The rows are those of the printed operator up to a factor each.
    points = np.arange(1, 6) / 6
    x, y = np.meshgrid(points, points)
    values = [np.broadcast_to(eval(text, {"x": x, "y": y}), x.shape).ravel() for text in (a, b)]
    np.testing.assert_allclose(-found[0, 1] / found[0, 0], values[0][0] / (2 * (values[0][0] + values[1][0])))


def test_other_printed_forms_are_refused():
    with pytest.raises(InputError, match="not symmetric for a = 1 \\+ x\\*y, b = 1"):
        PoissonFD(n=8, a="1 + x*y", form="printed").assemble(0)


def test_the_printed_operator_that_is_not_symmetric_by_hand():
    """Points at 1/3 and 2/3: each row has a and b of its own point."""
    found = matrix(n=3, a="1 + x*y", b="1", form="unsymmetric")
    a = 1 + np.array([1, 2, 2, 4]) / 9
    expected = [
        [2 * a[0] + 2, -a[0], -1, 0],
        [-a[1], 2 * a[1] + 2, 0, -1],
        [-1, 0, 2 * a[2] + 2, -a[2]],
        [0, -1, -a[3], 2 * a[3] + 2],
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-15)
    # Where it is symmetric it is that of form=printed.
    same = {"n": 7, "a": "1 + y", "b": "1 + x"}
    np.testing.assert_allclose(matrix(**same, form="unsymmetric"), matrix(**same, form="printed"), rtol=1e-15)


@pytest.mark.parametrize(("solver", "first"), [("cg", "jacobi"), ("mpcg", "schwarz:2x2"), ("pseudo-block-cg", "none")])
def test_a_run_without_symmetry_says_what_came_of_it(solver, first):
    chosen = {"n": 24, "a": "1 + 9*x*y", "b": "1", "form": "unsymmetric"}
    stopping = Stopping(rtol=1e-8, maxiter=60)
    result = run_through(Run(configure("poisson-fd", **chosen, solver=solver, preconditioner=first, stopping=stopping)))
    A, b = matrix(**chosen), PoissonFD(**chosen).assemble(0).b
    true = np.linalg.norm(b - A @ result.x) / np.linalg.norm(b)
    assert result.true_relative_residual == pytest.approx(true, rel=1e-6)
    assert result.converged == (true <= 1e-8)
    assert any("A is not symmetric" in note for note in result.provenance["notes"])


def test_what_needs_a_symmetric_matrix_is_refused_for_it():
    with pytest.raises(InputError, match="preconditioner ic needs a symmetric A, and A is not symmetric; choose"):
        Run(configure("poisson-fd", n=8, a="1 + x*y", form="unsymmetric", preconditioner="ic"))


def test_rows_that_are_scaled_are_noted():
    system = PoissonFD(n=8, a="1 + x", form="printed").assemble(0)
    assert "rows were scaled" in system.notes[0]
    assert not PoissonFD(n=8, a="1 + y", b="1 + x", form="printed").assemble(0).notes


def test_the_error_is_of_second_order():
    errors = []
    for n in (16, 32):
        system = PoissonFD(n=n, f="2*pi**2*sin(pi*x)*sin(pi*y)").assemble(0)
        u = np.linalg.solve(system.operator.to_csr().toarray(), system.b)
        points = np.arange(1, n) / n
        errors.append(np.abs(u - np.outer(np.sin(np.pi * points), np.sin(np.pi * points)).ravel()).max())
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.05)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"a": "x - 0.5"}, "a must be positive and finite, but a = -"),
        ({"f": "1/0"}, "f must be finite"),
        ({"b": "1 +"}, "poisson-fd: in b,"),
    ],
)
def test_wrong_formulas_are_one_sentence(parameters, sentence):
    with pytest.raises(InputError, match=sentence):
        PoissonFD(n=8, **parameters).assemble(0)
