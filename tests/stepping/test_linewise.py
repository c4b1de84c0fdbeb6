"""Line-by-line execution against CG written in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.errors import InputError
from workbench.run import configure, user_solver
from workbench.stepping.line_by_line import Walk


def by_hand(A, M, b, x, iterations):
    """The name and value that each line of CG assigns; M is the diagonal of the preconditioner."""
    seen = [[("s", A @ x)]]
    r = b - A @ x
    u = r / M
    gamma, uu, rr, p = r @ u, u @ u, r @ r, u
    seen[0] += [("r", r), ("u", u), ("gamma", gamma), ("uu", uu), ("rr", rr), ("p", p)]
    for _ in range(iterations):
        lines = [("s", s := A @ p), ("delta", delta := p @ s), ("alpha", alpha := gamma / delta)]
        lines += [("previous", previous := gamma), ("r", r := r - alpha * s), ("u", u := r / M)]
        lines += [("gamma", gamma := r @ u), ("uu", u @ u), ("rr", r @ r), ("beta", beta := gamma / previous)]
        lines += [("x", x := x + alpha * p), ("p", p := u + beta * p)]
        seen.append(lines)
    return seen


def test_values_are_those_of_cg_by_hand():
    walk = Walk(configure("poisson5", n=4, rhs="random"))
    for _ in range(3):
        walk.advance()
    A = walk.setup.operator.to_csr().toarray()
    seen = by_hand(A, A.diagonal(), walk.setup.b, walk.setup.x, 3)
    for iteration, lines in enumerate(seen):
        assert [line.target for line in walk.lines(iteration)] == [name for name, _ in lines]
        for place, (name, value) in enumerate(lines, 1):
            np.testing.assert_allclose(walk.after(iteration, place)[name], value, rtol=1e-12)


def test_a_line_changes_only_its_target():
    walk = Walk(configure("poisson5", n=4, rhs="random"))
    walk.advance()
    for iteration in (0, 1):
        for place, line in enumerate(walk.lines(iteration), 1):
            before, after = walk.after(iteration, place - 1), walk.after(iteration, place)
            assert {name for name in after if before.get(name) is not after[name]} == {line.target}


def test_four_unknowns_with_integer_values():
    # Every row of A sums to 4 - 1 - 1 = 2, so b = 1 is an eigenvector and CG converges in one step of 1/2.
    walk = Walk(configure("poisson5", n=2, rhs="ones", preconditioner="none"))
    assert walk.after(0, 2)["r"].tolist() == [1.0] * 4
    walk.advance()
    assert walk.after(1, 1)["s"].tolist() == [2.0] * 4
    assert walk.after(1, 2)["delta"] == 8
    assert walk.after(1, 3)["alpha"] == 0.5
    assert walk.after(1, 5)["r"].tolist() == [0.0] * 4
    assert walk.broken_down


def test_too_many_unknowns_are_refused_before_the_setup(monkeypatch):
    monkeypatch.setattr("workbench.stepping.line_by_line.prepare", lambda *_: pytest.fail("it was set up"))
    with pytest.raises(InputError, match="up to 10000 unknowns, not 10201"):
        Walk(configure("poisson5", n=101))


def test_user_defined_solvers_are_executed():
    iteration = user_solver("mine").iterate.replace("beta = gamma/previous", "beta = 0")
    walk = Walk(configure("poisson5", n=5, rhs="random", solver=user_solver("no-beta", iteration=iteration)))
    walk.advance()
    end = walk.after(1, len(walk.lines(1)))
    np.testing.assert_array_equal(end["p"], end["u"])


def test_the_recurrence_and_the_true_residual_agree_under_deflation():
    walk = Walk(configure("two-layer", n=12, deflation="stripes:2"))
    for _ in range(4):
        walk.advance()
    recurrence, afresh = walk.residuals(4)
    assert afresh == pytest.approx(recurrence, rel=1e-6)
