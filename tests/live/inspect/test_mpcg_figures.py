"""Looks at a running mpcg: what they hold, and when the next is asked for."""

from types import SimpleNamespace

import numpy as np
import pytest

from workbench.live.inspect import mpcg_figures
from workbench.live.inspect.mpcg_figures import Follower, Part, inside
from workbench.live.ui.run_handle import RunHandle
from workbench.run import Run, State, configure


@pytest.fixture
def run():
    """A run before its first iteration."""
    made = Run(configure("poisson-fd", n=24, solver="mpcg", preconditioner="schwarz:2x2"))
    made.step()
    return made


@pytest.fixture
def clock(monkeypatch):
    """The time, which a test sets."""
    now = SimpleNamespace(seconds=100.0)
    monkeypatch.setattr(mpcg_figures.time, "monotonic", lambda: now.seconds)
    return now


def look(follower, run, part=None):
    """Poll, let the run serve what was asked for, and receive it; whether there was a new look."""
    before = follower.seen
    follower.poll(part)
    run.serve_snapshots()
    follower.poll(part)
    return follower.seen is not before


def test_parts_are_those_that_were_asked_for(run):
    for _ in range(3):
        run.step()
    found = inside(run, RunHandle(run), Part.RESIDUAL, Part.BLOCK)
    A, x = run.setup.system.operator.to_csr(), run.x
    np.testing.assert_allclose(found.residual, np.abs(run.setup.system.b - A @ x), atol=1e-12)
    assert found.block.shape == (23**2, 4)
    np.testing.assert_allclose(found.block.T @ (A @ found.block), np.eye(4), atol=1e-9)
    assert len(found.steps) == 3
    none = inside(run, RunHandle(run))
    assert none.has(None)
    assert not none.has(Part.RESIDUAL)
    assert not none.has(Part.BLOCK)


def test_a_running_session_is_looked_at_after_its_pause(run, clock):
    session = SimpleNamespace(run=run, alive=True, state=State.RUNNING)
    follower = Follower(session)
    assert not look(follower, run)
    run.step()
    assert look(follower, run)
    assert not look(follower, run)
    # 1 s of painting is a quarter of 4.
    follower.drawn(1.0)
    run.step()
    clock.seconds += 2.9
    assert not look(follower, run)
    assert look(follower, run, Part.BLOCK)
    run.step()
    clock.seconds += 0.2
    assert look(follower, run, Part.BLOCK)
    follower.drawn(0.01)
    run.step()
    clock.seconds += 0.2
    assert not look(follower, run, Part.BLOCK)
    session.state = State.PAUSED
    assert look(follower, run, Part.BLOCK)
    assert len(follower.seen.steps) == 4


def test_a_session_that_has_ended_is_not_looked_at(run, clock):
    run.step()
    follower = Follower(SimpleNamespace(run=run, alive=False, state=State.DONE))
    assert not look(follower, run)
    assert follower.ended
    assert not run.snapshots
