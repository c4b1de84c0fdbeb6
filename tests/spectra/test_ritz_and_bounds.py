"""Ritz values, bounds and spectra against dense algebra."""

import numpy as np
import pytest

from workbench.errors import InputError
from workbench.run import Run, Stopping, configure, run_through
from workbench.spectra import (
    effective_condition,
    eigenvectors,
    lanczos_matrix,
    lower_bound,
    preconditioned,
    ritz_values,
    spectra,  # fmt: skip
    spectrum,
    upper_bound,
)


def finished(rtol=1e-12, **choices):
    run = Run(configure("two-layer", **{"n": 12} | choices, stopping=Stopping(rtol=rtol, true_every=5)))
    return run_through(run), run


@pytest.mark.parametrize("first", ["none", "jacobi", "neumann:2"])
def test_extreme_ritz_values_become_the_extreme_eigenvalues(first):
    result, run = finished(preconditioner=first)
    values, exact = ritz_values(result.history), spectrum(run.configuration)
    assert values[0] == pytest.approx(exact[0], rel=1e-6)
    # The top of the spectrum is a cluster for the Neumann series, where CG ends before it is resolved.
    assert values[-1] == pytest.approx(exact[-1], rel=2e-3)
    assert effective_condition(result.history) == pytest.approx(exact[-1] / exact[0], rel=2e-3)


def test_the_ritz_value_of_one_iteration_is_one_over_alpha():
    result, _ = finished()
    diagonal, above = lanczos_matrix(result.history, 1)
    assert diagonal.tolist() == [1 / result.history["alpha"][1]]
    assert above.size == 0
    assert ritz_values(result.history, 1).tolist() == diagonal.tolist()


def test_the_spectra_are_those_of_dense_algebra():
    configuration = configure("two-layer", n=8, preconditioner="jacobi", deflation="stripes")
    A = configuration.problem.assemble().operator.to_csr().toarray()
    found = spectra(configuration)
    np.testing.assert_allclose(found["A"], np.linalg.eigvalsh(A), rtol=1e-9)
    scale = 1 / np.sqrt(np.diag(A))
    np.testing.assert_allclose(found["M^-1 A"], np.linalg.eigvalsh(A * np.outer(scale, scale)), rtol=1e-9)
    assert np.count_nonzero(np.abs(found["M^-1 P A"]) < 1e-10) == 16
    assert found["M^-1 P A"][16] > found["M^-1 A"][0]


@pytest.mark.parametrize("first", ["jacobi", "neumann:2", "ic"])
def test_eigenvectors_and_what_is_preconditioned_solve_with_the_same_matrices(first):
    configuration = configure("two-layer", n=7, preconditioner=first)
    A = configuration.problem.assemble().operator.to_csr()
    values, vectors = eigenvectors(configuration, 4)
    np.testing.assert_allclose(values, spectrum(configuration)[:4], rtol=1e-9)
    for value, vector in zip(values, vectors.T, strict=True):
        assert vector.max() == 1 == np.abs(vector).max()
        np.testing.assert_allclose(preconditioned(configuration, A @ vector), value * vector, atol=1e-12)
    with pytest.raises(InputError, match="the matrix has 49 rows"):
        preconditioned(configuration, np.ones(48))
    with pytest.raises(InputError, match="at least 1"):
        eigenvectors(configuration, 0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda history: ritz_values(history, 10**6), "Ritz values need between 1 and"),
        (lambda history: lower_bound(history, 10**6), "needs at least as many iterations"),
        (lambda history: upper_bound(history, -1.0), "needs a positive number below the spectrum"),
    ],
)
def test_invalid_arguments_raise_input_errors(call, message):
    result, _ = finished()
    with pytest.raises(InputError, match=message):
        call(result.history)


def test_large_problems_and_other_variants_are_refused():
    with pytest.raises(InputError, match="at most 4096 unknowns"):
        spectrum(configure("two-layer", n=65))
    with pytest.raises(InputError, match="not available for variant bnn"):
        spectrum(configure("two-layer", n=8, deflation="stripes", variant="bnn"))


def test_the_gauss_radau_bound_needs_a_beta():
    history = run_through(Run(configure("poisson5", n=6, solver="sd"))).history
    with pytest.raises(InputError, match="this run has no β"):
        upper_bound(history, 1e-3, delay=3)


@pytest.mark.filterwarnings("error")
def test_where_rounding_errors_leave_no_gauss_radau_bound_it_is_nan():
    """The pipelined form below its attainable accuracy: up to the residual gap there are bounds, behind it NaN."""
    result, run = finished(rtol=1e-11, solver="pipecg", n=24)
    history, delay = result.history, 10
    found = upper_bound(history, 0.999 * spectrum(run.configuration)[0], delay)
    gap = history.residual_gap_at
    assert np.isnan(found).any()
    assert (found[: gap - delay] >= lower_bound(history, delay)[: gap - delay]).all()
