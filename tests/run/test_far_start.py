"""A start that is too far off: what is said, and that no x is returned that is worse than zero or x0."""

import numpy as np
import pytest

from workbench.run import Reason, solve

N = 60
A = np.diag(2.0 * np.ones(N)) - np.diag(np.ones(N - 1), 1) - np.diag(np.ones(N - 1), -1)


@pytest.mark.parametrize("solver", ["cg", "pipecg", "pseudo-block-cg"])
@pytest.mark.parametrize(("size", "of_b"), [(1e200, 1.0), (1.0, 1e-300)])
def test_it_is_named_and_zero_is_returned(solver, size, of_b):
    b, x0 = of_b * np.ones(N), size * np.random.default_rng(0).random(N)
    result = solve(A, b, x0=x0, solver=solver)
    assert not result.converged
    assert result.reason not in (Reason.INDEFINITE, Reason.INDEFINITE_M)
    assert "x0 is too far off" in result.detail
    assert "x is 0" in result.detail
    assert not result.x.any()


def test_many_columns_return_zero_where_they_fail():
    b = 1e-300 * np.ones((N, 2))
    result = solve(A, b, x0=np.random.default_rng(0).random((N, 2)), solver="block-cg")
    assert not result.converged
    assert "x0 is too far off" in result.detail
    assert not result.x.any()


def test_restarts_bridge_a_distance_that_one_recurrence_does_not():
    x0 = 1e50 * np.random.default_rng(0).random(N)
    for solver in ("cg", "pseudo-block-cg"):
        result = solve(A, np.ones(N), x0=x0, solver=solver)
        assert result.converged
        assert np.linalg.norm(1 - A @ result.x) <= 1e-6 * np.sqrt(N)


@pytest.mark.parametrize("deflation", [None, "blocks:4"])
def test_a_start_that_is_nearly_the_solution_is_not_made_worse(deflation):
    rng = np.random.default_rng(1)
    exact = rng.standard_normal(N)
    b, x0 = A @ exact, exact + 1e-9 * rng.standard_normal(N)
    result = solve(A, b, x0=x0, M="jacobi", deflation=deflation, solver="pipecg", rtol=1e-17, maxiter=200)
    assert not result.converged
    assert np.linalg.norm(b - A @ result.x) <= np.linalg.norm(b - A @ x0)


def test_zero_is_never_far_off():
    for M in (None, "jacobi"):
        result = solve(A, np.random.default_rng(2).random(N), M=M, rtol=1e-17, maxiter=300)
        assert not result.converged
        assert "too far off" not in result.detail
