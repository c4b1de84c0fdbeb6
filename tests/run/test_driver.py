"""Stopping, confirmation, breakdown, restarts, racing: what the only loop decides."""

import itertools
import weakref

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import linalg

from tests.conftest import grid_stencil, random_matrix
from tests.run.conftest import run_of
from workbench.devices.cpu import Cpu
from workbench.errors import InputError
from workbench.run import Quantity, Reason, Run, Stopping, configure, run_through, solve
from workbench.run.loop.single import iterations
from workbench.run.loop.single.recurrence import Recurrence


def test_scipy_finds_the_same_solution_in_about_as_many_iterations():
    operator = random_matrix(400, seed=8)
    b = np.random.default_rng(0).random(400)
    ours = solve(operator, b, rtol=1e-10)
    counted = []
    inverse = 1 / operator.diagonal()
    theirs, _ = linalg.cg(
        operator.csr, b, rtol=1e-10, M=linalg.LinearOperator((400, 400), lambda r: inverse * r), callback=counted.append
    )
    np.testing.assert_allclose(ours.x, theirs, rtol=1e-8)
    assert abs(ours.iterations - len(counted)) <= 1


def test_an_element_wise_preconditioner_gets_no_kernel_that_is_not_used(monkeypatch):
    applied = []
    monkeypatch.setattr(Cpu, "applied", lambda _, M, *__: applied.append(M))
    Run(configure("two-layer", n=8, preconditioner="jacobi", deflation="stripes", variant="def1"))
    assert applied == []


@pytest.mark.parametrize("norm", ["residual", "preconditioned", "natural"])
def test_the_norm_of_choice_decides(norm):
    operator = grid_stencil((9, 9))
    b = np.random.default_rng(1).random(81)
    result = solve(operator, b, rtol=1e-6, norm=norm)
    inverse = 1 / operator.diagonal()
    of_b = {
        "residual": np.linalg.norm(b),
        "preconditioned": np.linalg.norm(inverse * b),
        "natural": np.sqrt(b @ (inverse * b)),
    }
    history = result.history[norm]
    assert history[-1] <= 1e-6 * of_b[norm] < history[-2]


def test_atol_takes_over_when_it_is_larger():
    operator = grid_stencil((9, 9))
    result = solve(operator, np.ones(81), rtol=1e-12, atol=1e-3)
    assert result.history["residual"][-1] <= 1e-3 < result.history["residual"][-2]


def test_the_error_norm_is_that_of_the_error():
    configuration = configure("poisson5", n=9, rhs="ones-scaled", stopping=Stopping(rtol=1e-6, norm="error"))
    run = Run(configuration)
    exact = np.full(81, 1 / 9)
    A = run.setup.operator.to_csr()
    while run.step():
        error = exact - run.x
        np.testing.assert_allclose(run.history["error"][-1], np.sqrt(error @ (A @ error)), rtol=1e-6)
    assert run.reason is Reason.CONVERGED


def test_iteration_limit():
    run = run_of(grid_stencil((20, 20)), np.ones(400), rtol=1e-12, maxiter=3)
    result = run_through(run)
    assert (result.reason, result.iterations, result.converged) == (Reason.MAXITER, 3, False)
    assert result.history.count == 4


def test_zero_iterations_report_the_start():
    result = run_through(run_of(grid_stencil((4, 4)), np.ones(16), maxiter=0))
    assert (result.reason, result.iterations) == (Reason.MAXITER, 0)
    assert result.true_relative_residual == 1


def test_time_limit():
    result = run_through(run_of(grid_stencil((40, 40)), np.ones(1600), rtol=1e-300, max_seconds=1e-9))
    assert result.reason is Reason.TIME


def test_cancelling_keeps_what_was_computed():
    run = run_of(grid_stencil((20, 20)), np.ones(400), rtol=1e-12)
    for _ in range(5):
        run.step()
    run.cancel()
    result = run.result()
    assert (result.reason, result.iterations) == (Reason.CANCELLED, 4)
    assert 0 < result.true_relative_residual < 1
    assert not run.step()


def test_a_matrix_that_yields_nan_is_noticed():
    operator = linalg.LinearOperator((4, 4), matvec=lambda x: x * np.array([1.0, 2.0, np.nan, 4.0]), dtype=np.float64)
    with pytest.raises(InputError, match="A returned nan at entry 2 for a random vector; entries must be finite"):
        solve(operator, np.ones(4), M="none")


@pytest.mark.parametrize("b", [np.arange(1.0, 61), np.arange(120.0).reshape(60, 2)], ids=["single", "block"])
def test_an_M_that_yields_nan_is_named(b):
    A, calls = random_matrix(60).csr, []

    def late(r):
        calls.append(r)
        return r if len(calls) < 9 else r * np.nan

    result = solve(A, b, M=late, rtol=1e-9)
    assert result.reason is Reason.NOT_FINITE
    assert "so check M" in result.detail
    assert np.isfinite(result.x).all()
    with pytest.raises(InputError, match="M returned nan at entry 0 for a random vector; entries must be finite"):
        solve(A, b, M=lambda r: r * np.nan)


def test_a_matrix_M_may_hold_integers():
    assert solve(2 * np.eye(5), np.ones(5), M=np.eye(5, dtype=int)).converged


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.lil_array])
@pytest.mark.parametrize("solver", ["cg", "fcg"])
def test_nan_in_a_matrix_M_is_refused_with_its_place(form, solver):
    M = np.eye(5)
    M[2, 4] = np.nan
    with pytest.raises(InputError, match="M holds nan at row 2, column 4; entries must be finite"):
        solve(np.eye(5), np.ones(5), M=form(M), solver=solver)


def test_converged_is_said_only_when_the_true_residual_agrees():
    # In single precision the recurrence sinks below what the true residual can reach.
    operator = grid_stencil((30, 30), np.float32, shift=1e-4)
    b = np.random.default_rng(3).random(900).astype(np.float32)
    result = solve(operator, b, rtol=1e-7)
    true = np.linalg.norm(b - operator.to_csr().astype(np.float64) @ result.x) / np.linalg.norm(b)
    assert result.converged == (true <= 1.01e-7)
    assert result.reason is Reason.INACCURATE
    assert result.history.true_residuals.shape[0] > 1
    np.testing.assert_allclose(result.true_relative_residual, true, rtol=0.5)


def test_a_restart_gains_accuracy_when_the_residuals_part():
    # From a huge start the recurrence forgets what rounding did to b - A x; a restart recomputes it.
    operator = grid_stencil((12, 12))
    start = 1e9 * np.random.default_rng(0).random(144)
    b = np.ones(144)
    result = solve(operator, b, x0=start, rtol=1e-8)
    assert result.converged
    assert result.history.true_residuals.shape[0] >= 2
    assert np.linalg.norm(b - operator.to_csr() @ result.x) <= 1e-8 * np.linalg.norm(b)


def run_that_restarts():
    operator = grid_stencil((12, 12))
    return run_of(operator, np.ones(144), x0=1e9 * np.random.default_rng(0).random(144), rtol=1e-8)


def test_a_restart_frees_the_vectors_of_the_recurrence_first(monkeypatch):
    run = run_that_restarts()
    before, alive = weakref.ref(run.workspace), []

    def recurrence(*given):
        alive.append(before() is not None)
        return Recurrence(*given)

    monkeypatch.setattr(iterations, "Recurrence", recurrence)
    assert run_through(run).converged
    assert alive == [False]


def test_a_run_without_room_for_a_restart_ends_with_a_reason(monkeypatch):
    run = run_that_restarts()

    def recurrence(*_):
        raise InputError("device cpu may use 1 MB and 2 MB are needed")

    monkeypatch.setattr(iterations, "Recurrence", recurrence)
    result = run_through(run)
    assert result.reason is Reason.INACCURATE
    assert "without a restart: device cpu may use 1 MB and 2 MB are needed" in run.detail
    assert np.isfinite(result.x).all()
    pending = run.snapshots.request(Quantity.RESIDUAL, np.array)
    run.serve_snapshots()
    np.testing.assert_allclose(np.linalg.norm(pending.values) / 12, result.true_relative_residual)


def test_a_run_repeats_bit_by_bit_from_its_configuration():
    first = run_through(Run(configure("bubbles-2d", n=24, seed=3, deflation="blocks:2")))
    again = configure("poisson5").from_dict(first.provenance["configuration"])
    assert np.array_equal(run_through(Run(again)).x, first.x)


def test_the_clock_of_a_run_does_not_count_pauses(monkeypatch):
    clock = itertools.count()
    monkeypatch.setattr("workbench.run.loop.single.recurrence.time.perf_counter", clock.__next__)
    run = run_of(grid_stencil((20, 20)), np.ones(400), rtol=1e-10)
    for _ in range(2):
        run.step()
        next(clock)
    assert run.iteration_seconds == 2


def test_nothing_given_is_changed():
    operator = grid_stencil((6, 6))
    b, x0 = np.arange(36.0), np.ones(36)
    main = operator.main.copy()
    solve(operator, b, x0=x0, deflation="blocks:3")
    assert np.array_equal(b, np.arange(36.0))
    assert np.array_equal(x0, np.ones(36))
    assert np.array_equal(operator.main, main)


def test_wrong_choices_are_refused():
    with pytest.raises(InputError, match="unknown rhs 'one'; did you mean ones"):
        configure("poisson5", rhs="one")
    with pytest.raises(InputError, match="unknown device 'gpu'"):
        Run(configure("poisson5", n=4, device="gpu"))
    with pytest.raises(InputError, match="seed must be at least 0"):
        configure("poisson5", seed=-1)
