"""The true residual and the recurrence's: when it is computed, where their gap opens, and what is said at the end."""

import numpy as np
import pytest

from tests.conftest import grid_stencil
from tests.run.conftest import run_of
from workbench.operators import as_operator
from workbench.records import History
from workbench.run import Reason, run_through, solve
from workbench.run.loop.single import iterations


def graded(size=150):
    """One dimension, coefficients over three orders of magnitude: slow with Jacobi, so that rounding has its time."""
    rng = np.random.default_rng(5)
    faces = np.logspace(0, 3, size + 1) * rng.random(size + 1)
    dense = np.diag(faces[:-1] + faces[1:]) - np.diag(faces[1:-1], 1) - np.diag(faces[1:-1], -1)
    return as_operator(dense), rng.random(size)


@pytest.mark.parametrize("often", [1, 7, 50])
def test_the_true_residual_is_computed_every_so_many_iterations_and_at_the_end(often):
    operator, b = grid_stencil((20, 20)), np.random.default_rng(0).random(400)
    run = run_of(operator, b, rtol=1e-9, true_every=often)
    expected = {}
    while True:
        going = run.step()
        if run.iterations % often == 0:
            expected[run.iterations] = np.linalg.norm(b - operator.to_csr() @ run.x)
        if not going:
            break
    found = {int(iteration): value for iteration, value in run.history.true_residuals}
    assert expected.keys() <= found.keys()
    assert run.iterations in found
    for iteration, value in expected.items():
        np.testing.assert_allclose(found[iteration], value, rtol=1e-5)
    assert len(found) == len(run.history.true_residuals)


def test_looking_changes_nothing(accelerator):
    operator, b = grid_stencil((20, 20)), np.random.default_rng(0).random(400)
    for device in ("cpu", accelerator.spec):
        for solver in ("cg", "pipecg"):
            plain, watched = (
                run_through(run_of(operator, b, solver, device, rtol=1e-9, true_every=often)) for often in (None, 3)
            )
            assert np.array_equal(plain.x, watched.x)
            assert np.array_equal(plain.history["residual"], watched.history["residual"])
            assert set(range(0, watched.iterations, 3)) <= set(watched.history.true_residuals[:, 0])


def test_the_first_measured_residual_gap():
    history = History()
    for residual in (1.0, 1e-1, 1e-2, 1e-3):
        history.append(residual=residual)
    for iteration, true_residual in ((0, 1.0), (1, 1.5e-1), (2, 2.1e-2), (3, 9e-3)):
        history.confirm(iteration, true_residual)
    assert history.residual_gap_at == 2
    assert History().residual_gap_at is None
    assert History.from_arrays(history.to_arrays()).residual_gap_at == 2


def test_pipelined_cg_that_stagnates_does_not_say_converged():
    A, b = graded()
    accurate = solve(A, b, rtol=1e-9, maxiter=20_000)
    assert accurate.converged
    pipelined = run_through(run_of(A, b, "pipecg", rtol=1e-9, maxiter=20_000, true_every=5))
    assert not pipelined.converged
    assert pipelined.reason in (Reason.INACCURATE, Reason.STAGNATED, Reason.ROUNDING)
    assert pipelined.true_relative_residual > 1e-9
    gap = pipelined.summary["residual_gap_at"]
    assert 0 < gap < pipelined.iterations
    residual = pipelined.history["residual"]
    true = dict(pipelined.history.true_residuals)
    assert true[gap] > 2 * residual[gap]
    assert all(true[k] <= 2 * residual[int(k)] for k in true if k < gap)


def test_replacing_the_residual_regains_what_pipelining_lost():
    A, b = graded()
    run = run_of(A, b, "pipecg-rr", rtol=1e-9, maxiter=20_000)
    assert run_through(run).converged
    assert run.workspace.scalar("replacements") > 0


@pytest.mark.parametrize(("solver", "restarts"), [("cg", 3), ("pipecg", 0), ("fcg", 0)])
def test_only_cg_restarts_at_a_residual_gap(solver, restarts, monkeypatch):
    operator = grid_stencil((30, 30), np.float32, shift=1e-4)
    b = np.random.default_rng(3).random(900).astype(np.float32)
    run = run_of(operator, b, solver, rtol=1e-7)
    begun, recurrence = [], iterations.Recurrence
    monkeypatch.setattr(iterations, "Recurrence", lambda *given: begun.append(run.iterations) or recurrence(*given))
    result = run_through(run)
    assert not result.converged
    assert len(begun) <= restarts
    if result.reason is Reason.INACCURATE:
        assert len(begun) == restarts
        assert ("after 3 restarts" in result.detail) == (restarts == 3)
    np.testing.assert_allclose(
        result.true_relative_residual, np.linalg.norm(b - operator.to_csr() @ result.x) / np.linalg.norm(b), rtol=0.5
    )
