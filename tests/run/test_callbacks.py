"""Callbacks of `solve`: what they see, how they stop a run, and what is left where they fail."""

import numpy as np
import pytest
from scipy import sparse

from tests.conftest import grid_stencil
from workbench.devices.programs import planning
from workbench.run import Quantity, Reason, solve
from workbench.run.loop.single.iterations import SingleIterations


@pytest.mark.parametrize("b", [np.ones(81), np.ones((81, 3)) * [1, 2, 3]], ids=["single", "block"])
def test_callbacks_see_every_iteration_with_its_x(b):
    A, seen = grid_stencil((9, 9)), []
    result = solve(A, b, callback=lambda run: seen.append((run.iterations, run.x)))
    assert [iteration for iteration, _ in seen] == list(range(1, result.iterations + 1))
    norms = [np.linalg.norm(b - A.to_csr() @ x, axis=0).max() for _, x in seen]
    assert norms[-1] <= 1e-5 * np.linalg.norm(b) < norms[0]
    assert np.array_equal(seen[-1][1], result.x)


@pytest.mark.parametrize(
    ("A", "b"),
    [(grid_stencil((9, 9)), np.ones(81)), (grid_stencil((9, 9)), np.ones((81, 3)) * [1, 2, 3])],
    ids=["single", "block"],
)
def test_a_callback_cannot_change_the_x_that_was_verified(A, b):
    def write(run):
        for x in (run.x, run.result().x, *taken(run)):
            if x.flags.writeable:
                x[:] = 7

    def taken(run):
        seen = []
        run.snapshots.request(Quantity.SOLUTION, lambda x: seen.append(x) or x[:1].copy())
        run.serve_snapshots()
        return seen

    result = solve(A, b, callback=write)
    assert result.converged
    norms = np.linalg.norm(b - A.to_csr() @ result.x, axis=0) / np.linalg.norm(b, axis=0)
    assert norms.max() <= 1e-6
    assert result.true_relative_residual == pytest.approx(norms.max(), rel=1e-6)
    # It belongs to the caller of solve alone.
    result.x[0] = 0


def test_a_solve_in_one_iteration_shows_its_solution():
    seen = []
    solve(np.diag([2.0, 2.0]), np.array([2.0, 4.0]), callback=lambda run: seen.append(run.x))
    np.testing.assert_allclose(seen, [[1, 2]], rtol=1e-15)


def stopping(run):
    raise StopIteration


@pytest.mark.parametrize("b", [np.ones(81), np.ones((81, 3)) * [1, 2, 3]], ids=["single", "block"])
@pytest.mark.parametrize("callback", [lambda run: run.iterations == 3, stopping], ids=["returns True", "raises"])
def test_a_callback_stops_the_run(callback, b):
    A = grid_stencil((9, 9))
    result = solve(A, b, callback=callback)
    assert result.reason is Reason.CALLBACK
    assert result.iterations == (1 if callback is stopping else 3)
    assert not result.converged
    assert all(column.reason is Reason.CALLBACK for column in result.columns)
    norms = np.linalg.norm(b - A.to_csr() @ result.x, axis=0) / np.linalg.norm(b, axis=0)
    assert 1e-5 < norms.max() < 10
    assert result.true_relative_residual == pytest.approx(norms.max(), rel=1e-9)


def test_what_a_callback_returns_otherwise_stops_nothing():
    assert solve(grid_stencil((9, 9)), np.ones(81), callback=lambda run: run.x).converged
    # The last iteration has converged, so there is nothing to stop.
    assert solve(np.eye(3), np.ones(3), callback=lambda run: True).converged


def test_the_x_of_a_callback_that_fails_is_kept():
    runs = []

    def fail(run):
        runs.append(run)
        if run.iterations == 4:
            raise ZeroDivisionError("of the callback")

    with pytest.raises(ZeroDivisionError, match="of the callback") as raised:
        solve(grid_stencil((9, 9)), np.ones(81), callback=fail)
    assert "run.result()" in raised.value.__notes__[0]
    result = runs[-1].result()
    assert (result.reason, result.iterations) == (Reason.CALLBACK, 4)
    assert np.linalg.norm(result.x) > 0


@pytest.mark.parametrize("M", ["none", "jacobi", "ssor", "neumann:2"])
@pytest.mark.parametrize("size", [1, 2, 50, 143])
def test_without_a_callback_norms_are_seen_several_at_a_time_with_the_same_outcome(monkeypatch, M, size):
    advance, made = SingleIterations.advance, []
    monkeypatch.setattr(SingleIterations, "advance", lambda *given: made.append(1) or advance(*given))
    A = sparse.diags_array([-np.ones(size - 1), np.full(size, 2.01), -np.ones(size - 1)], offsets=[-1, 0, 1]).tocsr()
    b = np.random.default_rng(size).random(size)
    at_once, checks = solve(A, b, M=M, rtol=1e-10), len(made)
    one_by_one = solve(A, b, M=M, rtol=1e-10, callback=lambda run: None)
    assert at_once.converged
    assert at_once.iterations == one_by_one.iterations
    np.testing.assert_array_equal(at_once.x, one_by_one.x)
    np.testing.assert_array_equal(at_once.history["residual"], one_by_one.history["residual"])
    assert checks <= 3 + at_once.iterations // 30


def test_a_solve_plans_its_programs_as_earlier_ones_did():
    A, b = sparse.diags_array(np.arange(1.0, 30.0)).tocsr(), np.ones(29)
    solve(A, b, M="none")
    before = planning.planned.cache_info()
    solve(A, 2 * b, M="none")
    after = planning.planned.cache_info()
    assert (after.misses, after.hits) == (before.misses, before.hits + 1)
