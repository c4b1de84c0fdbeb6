"""The estimate of iterations left, on histories whose continuation is known."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.records import History
from workbench.run import Run, Stopping, configure
from workbench.spectra.convergence_estimates import effective_condition, iterations_by_bound
from workbench.spectra.iterations_left import BOUND, FEWEST, SLOPE, iterations_left


def history_of(residuals):
    made = History()
    for residual in residuals:
        made.append(residual=float(residual))
    return made


def test_a_geometric_decrease_is_continued_exactly():
    # A factor of 10 every five iterations: from 1e-2 after ten, 1e-6 takes twenty more.
    found = iterations_left(history_of(10 ** (-np.arange(11) / 5)), 1e-6)
    assert (found.iterations, found.basis) == (20, SLOPE)


def test_only_the_last_third_counts():
    slow, fast = np.linspace(0, -1, 20), -1 - np.arange(1, 31) / 2
    found = iterations_left(history_of(10 ** np.concatenate([slow, fast])), 1e-26)
    assert (found.iterations, found.basis) == (20, SLOPE)


@pytest.mark.parametrize("residuals", [np.ones(30), 2.0 ** np.arange(30), [1.0] * FEWEST, [1.0] * 20 + [np.nan]])
def test_what_does_not_decrease_has_no_estimate(residuals):
    assert iterations_left(history_of(residuals), 1e-6) is None


def test_what_has_arrived_needs_none():
    assert iterations_left(history_of(10.0 ** -np.arange(12)), 1e-6).iterations == 0


def test_on_a_plateau_the_bound_of_the_ritz_values_is_the_estimate():
    """The residual of CG rises at first here, so that its slope says nothing."""
    run = Run(configure("poisson5", n=64, preconditioner="none", stopping=Stopping(rtol=1e-10)))
    while run.iterations < 20:
        run.step()
    residual = run.history["residual"]
    assert np.polyfit(np.arange(7), np.log(residual[-7:]), 1)[0] > -0.1
    target = 1e-10 * residual[0]
    found = iterations_left(run.history, target)
    condition = effective_condition(run.history)
    bound = iterations_by_bound(condition, target / residual[-1])
    assert found.iterations <= bound
    if found.basis == BOUND:
        assert found.iterations == bound
