"""What the history of many right-hand sides holds next to its norms: true residuals, and the drift of deflated runs."""

import numpy as np
import pytest

from workbench.run import Run, Stopping, configure, run_through
from workbench.run.loop.block.memory import bytes_of

SIDES = {"n": 16, "rhs": "random:4"}


@pytest.mark.parametrize("room", [4, 2])
@pytest.mark.parametrize("solver", ["block-cg", "pseudo-block-cg"])
def test_true_residuals_are_kept_as_often_as_asked_and_at_the_end(solver, room):
    chosen = {**SIDES, "solver": solver, "stopping": Stopping(rtol=1e-8, true_every=5)}
    setup = Run(configure("two-layer", **chosen)).setup
    limit = setup.operator.nbytes + bytes_of(setup, room) + 100
    result = run_through(Run(configure("two-layer", **chosen, memory_limit=limit)))
    iterations, true = result.history.true_residuals.T
    assert {0, *range(0, result.iterations, 5), result.iterations} <= set(iterations.astype(int))
    assert np.all(np.diff(iterations) > 0)
    residual = result.history["residual"][iterations.astype(int)]
    np.testing.assert_allclose(true, residual, rtol=1e-4)
    assert result.history.residual_gap_at is None
    assert true[-1] <= 1e-8


@pytest.mark.parametrize("deflation", ["stripes", "eigenvectors:4"])
def test_the_drift_of_a_deflated_run_is_measured(deflation):
    result = run_through(Run(configure("two-layer", solver="pseudo-block-cg", deflation=deflation, **SIDES)))
    drift = result.history["drift"]
    assert np.isfinite(drift[::10]).all()
    assert np.nanmax(drift) < 1e-12
    assert result.summary["drift"] == np.nanmax(drift)


def test_a_residual_gap_of_a_column_is_in_the_history():
    stopping = Stopping(rtol=1e-15, maxiter=300, true_every=1)
    result = run_through(Run(configure("two-layer", solver="pseudo-block-cg", stopping=stopping, **SIDES)))
    assert result.history.residual_gap_at is not None
