"""Snapshots of a column: of the present chunk, of one that is done, of one that waits, and of a result."""

import numpy as np
import pytest

from workbench.run import Quantity, Run, Session, Stopping, configure, run_through
from workbench.run.loop.block.memory import bytes_of
from workbench.run.results.snapshots import RECOMPUTED, UNKNOWN, of_result

SIDES = ["block-cg", "pseudo-block-cg", "bf-block-cg", "block-cg-oleary"]


def configuration(**chosen):
    return configure("two-layer", n=16, **{"solver": "block-cg", "rhs": "random:4", "x0": "random", **chosen})


def snapshot_of(run, quantity, column):
    snapshot = run.snapshots.request(quantity, np.array, column)
    run.serve_snapshots()
    assert snapshot.done
    return snapshot


def given(run):
    """A, and B as it was given."""
    A = run.setup.operator.to_csr()
    return A, np.random.default_rng(0).standard_normal((A.shape[0], run.x.shape[1]))


def check(run):
    A, B = given(run)
    X = run.x
    for j in range(X.shape[1]):
        found = snapshot_of(run, Quantity.SOLUTION, j)
        np.testing.assert_allclose(found.values, X[:, j], rtol=1e-14)
        assert found.iteration == run.iterations
        residual = snapshot_of(run, Quantity.RESIDUAL, j)
        np.testing.assert_allclose(residual.values, B[:, j] - A @ X[:, j], atol=1e-11 * np.linalg.norm(B[:, j]))
        assert residual.words == RECOMPUTED
    assert snapshot_of(run, Quantity.ERROR, 0).words == UNKNOWN


@pytest.mark.parametrize("deflation", ["none", "stripes", "eigenvectors:3"])
@pytest.mark.parametrize("solver", SIDES)
def test_a_snapshot_is_the_column_itself(solver, deflation):
    run = Run(configuration(solver=solver, deflation=deflation))
    check(run)
    for _ in range(6):
        run.step()
    check(run)


def test_columns_of_all_chunks_are_seen():
    setup = Run(configuration()).setup
    run = Run(configuration(memory_limit=setup.operator.nbytes + bytes_of(setup, 2) + 100))
    assert len(run.chunks) == 2
    check(run)
    while np.isnan(run.history.columns[-1:, 2:]).all():
        run.step()
    check(run)
    run_through(run)
    check(run)


def test_a_session_of_many_right_hand_sides_serves_snapshots_while_it_is_paused():
    session = Session(configuration(stopping=Stopping(rtol=1e-300)), queue=None)
    session.step()
    while session.run is None or session.slot.held:
        pass
    found = session.run.snapshots.request(Quantity.SOLUTION, np.array, 2)
    while not found.done:
        pass
    np.testing.assert_allclose(found.values, session.run.x[:, 2], rtol=1e-14)
    session.stop()


def test_a_column_that_there_is_not_is_said_in_words():
    run = Run(configuration())
    assert "the snapshot failed" in snapshot_of(run, Quantity.SOLUTION, 4).words
    assert run.step()


def test_a_column_of_a_result():
    run = Run(configuration())
    result = run_through(run)
    A, B = given(run)
    about = run.configuration, run.setup.system, result.x
    x, _ = of_result(*about, Quantity.SOLUTION, 3)
    np.testing.assert_array_equal(x, result.x[:, 3])
    residual, _ = of_result(*about, Quantity.RESIDUAL, 3)
    np.testing.assert_allclose(residual, B[:, 3] - A @ x, atol=1e-12)
    assert of_result(*about, Quantity.ERROR, 3) == (None, UNKNOWN)
