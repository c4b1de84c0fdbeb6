"""Ritz values and error estimates: by hand on diagonal matrices, and against exact spectra and errors."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from workbench.errors import InputError
from workbench.operators import as_operator
from workbench.problems import LinearSystem
from workbench.run import Run, Stopping, configure, run_through, solve
from workbench.spectra import estimates, ritz_columns, spectra
from workbench.spectra.convergence_estimates import (
    cg_bound,
    effective_condition,
    history_up_to,
    iterations_by_bound,
    nonzero,
    usable_iterations,
)


def small(deflation="none", **more):
    stopping = Stopping(rtol=1e-8, norm="error")
    configuration = configure("two-layer", n=12, rhs="ones-scaled", deflation=deflation, stopping=stopping, **more)
    return configuration, run_through(Run(configuration)).history


def test_ritz_values_of_a_diagonal_matrix_become_its_entries():
    entries = np.array([1.0, 2.0, 5.0, 10.0])
    history = solve(sparse.diags_array(entries).tocsr(), np.ones(4), M="none", rtol=1e-10).history
    columns = ritz_columns(history, usable_iterations(history))
    assert list(columns) == [4, 3, 2, 1]
    # After one iteration: the Rayleigh quotient of r = (1, 1, 1, 1).
    assert columns[1] == pytest.approx([4.5])
    assert columns[4] == pytest.approx(entries, rel=1e-10)
    # Each column lies between the neighbours of the next one (Cauchy's interlacing).
    for k in (1, 2, 3):
        assert np.all(columns[k] > columns[k + 1][:-1])
        assert np.all(columns[k] < columns[k + 1][1:])


def test_ritz_columns_are_evenly_spaced_and_end_at_the_iteration():
    _, history = small()
    columns = ritz_columns(history, 20, most=6)
    assert list(columns) == [20, 16, 12, 8, 4]
    assert [values.size for values in columns.values()] == list(columns)


def test_estimates_of_a_shorter_history_use_it_alone():
    _, history = small()
    early = history_up_to(history, 7)
    assert early.count == 8
    assert early["alpha"][1:].tolist() == history["alpha"][1:8].tolist()
    full = estimates(history, 30, delay=4)
    past = estimates(history, 7, delay=4)
    assert past.lower.tolist() == full.lower[:4].tolist()


@pytest.mark.parametrize("levels", [{}, {"deflation": "stripes:1"}, {"preconditioner": "none"}])
@pytest.mark.parametrize("delay", [1, 4, 10])
def test_the_estimates_enclose_the_true_error(levels, delay):
    configuration, history = small(**levels)
    exact = next(reversed(spectra(configuration).values()))
    found = estimates(history, history.count - 1, delay, exact)
    true = found.true[: found.lower.size]
    assert np.all(found.lower <= true * (1 + 1e-6))
    assert np.all(found.upper >= true * (1 - 1e-6))
    assert found.start == found.true[0]
    assert np.all(found.true <= found.bound * (1 + 1e-9))
    # The Ritz values lie inside the spectrum, so their condition number gives a smaller bound.
    assert np.all(found.bound_so_far <= found.bound * (1 + 1e-9))


def test_there_are_no_estimates_before_the_delay():
    configuration, history = small()
    found = estimates(history, 3, delay=4, exact=spectra(configuration)["M^-1 A"])
    assert found.lower.size == found.upper.size == 0
    assert found.bound_so_far.size == 4


def test_the_true_error_is_none_for_an_unknown_solution():
    history = run_through(Run(configure("two-layer", n=12))).history
    found = estimates(history, 20)
    assert found.true is None
    assert found.upper is None
    assert found.bound is None
    # The initial error is estimated by the sum over all iterations so far.
    energy = history["alpha"][1:21] * history["natural"][:20] ** 2
    assert found.start == pytest.approx(np.sqrt(energy.sum()))


def test_small_eigenvalues_are_not_taken_for_zeros():
    assert nonzero(np.array([-1e-17, 1e-16, 1e-9, 1.0])).tolist() == [1e-9, 1.0]


def test_spectra_of_a_system_in_memory():
    entries = np.array([1.0, 2.0, 4.0])
    system = LinearSystem(as_operator(sparse.diags_array(entries).tocsr()), np.ones(3))
    configuration = configure("poisson5", preconditioner="jacobi")
    found = spectra(configuration, system)
    assert found["A"] == pytest.approx(entries)
    assert found["M^-1 A"] == pytest.approx(np.ones(3))


def test_iterations_after_a_negative_alpha_are_not_usable():
    _, history = small()
    arrays = history.to_arrays()
    arrays["alpha"][6] = -1.0
    assert usable_iterations(type(history).from_arrays(arrays)) == 5


def test_a_run_of_a_block_method_is_said_to_have_no_ritz_values():
    history = run_through(Run(configure("poisson5", n=6, solver="block-cg", rhs="random:2"))).history
    with pytest.raises(
        InputError, match="no alpha or no beta, as block methods .*; use a run of cg with one"
    ):
        effective_condition(history)


def test_steepest_descent_and_wrong_iterations_are_refused():
    history = run_through(Run(configure("poisson5", n=6, solver="sd"))).history
    with pytest.raises(InputError, match="this run has no β, which Ritz values need; use a run of CG"):
        usable_iterations(history)
    with pytest.raises(InputError, match="need iteration >= 1"):
        ritz_columns(history, 0)


@pytest.mark.parametrize("condition", [4.0, 100.0, 1e6])
@pytest.mark.parametrize("factor", [0.5, 1e-6])
def test_iterations_by_bound_is_the_first_iteration_that_reaches_the_factor(condition, factor):
    count = iterations_by_bound(condition, factor)
    bound = cg_bound(condition, count)
    assert bound[count] <= factor * (1 + 1e-9)
    assert bound[count - 1] > factor
    assert iterations_by_bound(1.0) == 1
    with pytest.raises(InputError, match="between 0 and 1"):
        iterations_by_bound(4.0, 2.0)


def test_iterations_by_bound_of_huge_and_infinite_condition_numbers():
    # For a large condition number the rate is 1 - 2/sqrt(condition).
    assert iterations_by_bound(1e36) == pytest.approx(1e18 / 2 * np.log(2e6), rel=1e-9)
    for condition in (np.inf, np.nan):
        with pytest.raises(InputError, match="needs a finite condition number"):
            iterations_by_bound(condition)
