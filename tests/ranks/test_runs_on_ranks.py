"""A run on two ranks looks like any run: history, phases, x, snapshots, trace, reasons, files."""

from __future__ import annotations

import numpy as np
import pytest

from tests.waiting import LIMIT, until
from workbench.errors import InputError
from workbench.recording import History, load, save
from workbench.run import Quantity, Reason, Run, Session, configure, run_through, solve
from workbench.run.ranks.setup import START

CHOICES = {"problem": "two-layer", "n": 33, "preconditioner": "neumann:2", "deflation": "stripes"}


@pytest.fixture(scope="module")
def both():
    """The same run on two ranks and in this process."""
    run = Run(configure(**CHOICES, ranks=2), trace=True)
    snapshots = [run.snapshots.request(quantity, lambda vector: vector.copy()) for quantity in Quantity]
    return run, snapshots, run_through(run), run_through(Run(configure(**CHOICES)))


def test_history_and_x_are_those_of_one_process(both):
    run, _, result, one = both
    assert (result.reason, result.iterations) == (Reason.CONVERGED, one.iterations)
    assert type(result.history) is History
    np.testing.assert_allclose(result.history["residual"], one.history["residual"], rtol=1e-6)
    np.testing.assert_allclose(result.x, one.x, atol=1e-9 * abs(one.x).max())
    assert result.true_relative_residual == pytest.approx(one.true_relative_residual, rel=1e-3)
    assert result.history.true_residuals.shape == one.history.true_residuals.shape
