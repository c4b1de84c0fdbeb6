"""Rows that are recorded many at once are those that would be recorded one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.devices.rows import Rows
from workbench.jit.launches import Repetition
from workbench.records import History
from workbench.run import Run, Stopping, configure, prepare, solve
from workbench.run.loop.history_writer import best_so_far, roots

NORMS = st.lists(st.floats(1e-9, 1e9), min_size=1, max_size=20)


@given(NORMS, st.floats(1e-9, 1e9))
def test_the_best_norm_so_far(norms, before):
    best, found = best_so_far((before, 3), np.array(norms), 4 + np.arange(len(norms)))
    smallest, place = before, 3
    for k, norm in enumerate(norms):
        if norm < smallest:
            smallest, place = norm, 4 + k
        assert (best[k], found[k]) == (smallest, place)


def test_roots_of_what_rounding_made_negative():
    np.testing.assert_array_equal(roots(np.array([4.0, -1e-30, 0.0])), [2, np.nan, 0])


def test_scalars_by_row_and_by_column():
    rows = Rows(np.array([[1 + 2j, 3], [4, 5], [6, 7]]), {"rr": 0, "uu": 1})
    assert (rows.count, rows.scalar(2, "uu"), rows.scalar(0, "rr")) == (3, 7, 1)
    np.testing.assert_array_equal(rows.column("rr"), [1, 4])
    assert np.isnan(rows.scalar(0, "beta"))
    assert np.isnan(rows.column("beta")).all()


def test_a_history_grows_by_many_rows():
    one, many = History(), History()
    values = np.random.default_rng(0).random((2, 5000))
    for residual, seconds in values.T:
        one.append(residual=residual, seconds=seconds)
    many.append(residual=values[0, 0], seconds=values[1, 0])
    many.extend(residual=values[0, 1:], seconds=values[1, 1:])
    for name, column in one.to_arrays().items():
        np.testing.assert_array_equal(many.to_arrays()[name], column)


@pytest.mark.parametrize(
    "stopping",
    [
        Stopping(rtol=1e-8, check_every=13),
        Stopping(rtol=1e-15, stagnation=9, check_every=50),
        Stopping(rtol=1e-9, maxiter=37),
        Stopping(rtol=1e-6, norm="preconditioned"),
    ],
)
def test_a_run_is_the_same_row_by_row(accelerator, stopping, monkeypatch):
    def run():
        made = Run(configure("two-layer", {"n": 24}, device=accelerator.spec, stopping=stopping))
        while made.step():
            pass
        return made

    at_once = run()
    monkeypatch.setattr("workbench.run.loop.history_writer.MANY_ROWS", 10**9)
    one_by_one = run()
    assert (at_once.reason, at_once.detail) == (one_by_one.reason, one_by_one.detail)
    for name in ("residual", "preconditioned", "natural", "alpha", "beta"):
        np.testing.assert_array_equal(at_once.history[name], one_by_one.history[name])
    assert np.all(np.diff(at_once.history["seconds"]) >= 0)


def hermitian(dtype, size=143):
    """A diagonally dominant matrix of five diagonals; complex entries on two of them where the dtype has them."""
    above = np.diag(np.full(size - 1, -1 + 0.3j if np.dtype(dtype).kind == "c" else -1), 1)
    above = above - np.diag(np.ones(size - 11), 11)
    return (above + above.conj().T + np.diag(np.linspace(4.1, 4.5, size))).astype(dtype)


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128", "complex64"])
@pytest.mark.parametrize("M", ["jacobi", "ic", "fsai", "none"])
def test_iterations_that_machine_code_repeats_are_those_that_are_seen_one_by_one(dtype, M, monkeypatch):
    A, rtol = hermitian(dtype), 1e-9 if np.finfo(dtype).bits == 64 else 1e-5
    b = np.random.default_rng(1).standard_normal(143).astype(dtype)
    repeated = []
    call = Repetition.__call__
    monkeypatch.setattr(Repetition, "__call__", lambda *given: repeated.append(call(*given)) or repeated[-1])
    # An interval of its own length would depend on the time.
    found = prepare(A, M=M, stopping=Stopping(rtol=rtol, check_every=64)).solve(b)
    assert sum(repeated) == found.iterations > 4
    seen = solve(A, b, M=M, rtol=rtol, callback=lambda run: None)
    assert sum(repeated) == found.iterations == seen.iterations
    np.testing.assert_array_equal(found.x, seen.x)
    for name in ("residual", "preconditioned", "natural", "alpha", "beta"):
        np.testing.assert_array_equal(found.history[name], seen.history[name])


@pytest.mark.parametrize("before", [1, 2, 3])
def test_rows_may_be_gathered_anew_between_two_steps(before):
    def residuals(before):
        run = Run(configure("two-layer", n=12))
        run.gather()
        for _ in range(before):
            run.step(5)
            run.gather()
        while run.step():
            pass
        return run.history["residual"]

    np.testing.assert_array_equal(residuals(before), residuals(0))


def test_iterations_in_which_python_takes_part_are_not_repeated(monkeypatch):
    monkeypatch.setattr(Repetition, "__call__", None)
    A = hermitian("float64")
    assert solve(A, np.ones(143), M=lambda r: r / 2, rtol=1e-8).converged
