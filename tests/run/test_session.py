"""The player: start, pause, resume, step, stop, wait, from another thread."""

import threading
import time

import pytest

from tests.run.conftest import iterating
from tests.waiting import LIMIT, until
from workbench.errors import InputError
from workbench.run import Reason, Run, Session, State, configure


def test_wait_starts_and_gives_the_result():
    session = Session(configure("poisson5", n=16))
    assert session.state is State.IDLE
    result = session.wait(LIMIT)
    assert result.converged
    assert session.state is State.DONE


def test_pause_holds_still_step_makes_one_and_resume_goes_on(endless):
    session = endless()
    session.start()
    iterating(session)
    session.pause()
    until(lambda: session.state is State.PAUSED and not session.pausing)
    held = session.run.iterations
    time.sleep(0.1)
    assert session.run.iterations == held
    session.step()
    until(lambda: session.run.iterations == held + 1)
    until(lambda: session.state is State.PAUSED and not session.pausing)
    assert session.run.iterations == held + 1
    session.resume()
    until(lambda: session.run.iterations > held + 5)
    session.stop()
    assert session.wait(LIMIT).reason is Reason.CANCELLED


def test_a_run_is_pausing_until_the_iteration_in_progress_is_complete(monkeypatch, endless):
    """Its number of iterations is final only then, so that no page may say before that it is."""
    started, allowed = threading.Event(), threading.Event()
    whole = Run.step

    def slow(run, _count=None):
        started.set()
        assert allowed.wait(LIMIT)
        return whole(run, 1)

    monkeypatch.setattr(Run, "step", slow)
    session = endless()
    session.start()
    assert started.wait(LIMIT)
    session.pause()
    assert session.state is State.PAUSED
    assert session.pausing
    allowed.set()
    until(lambda: not session.pausing)
    held = session.run.history.count
    assert held == 1
    assert session.state is State.PAUSED
    time.sleep(0.1)
    assert session.run.history.count == held
    session.stop()
    session.wait(LIMIT)
    assert not session.pausing


def test_stop_works_while_paused(endless):
    session = endless()
    session.start(paused=True)
    until(lambda: session.state is State.PAUSED)
    session.stop()
    assert session.wait(LIMIT).iterations == 0


def test_a_failed_setup_is_a_sentence():
    session = Session(configure("matrix-file:nowhere.mtx"))
    with pytest.raises(InputError, match=r"nowhere\.mtx"):
        session.wait(LIMIT)
    assert session.state is State.FAILED
    assert "nowhere.mtx" in session.error


def test_waiting_has_an_end(endless):
    session = endless()
    with pytest.raises(TimeoutError, match="still"):
        session.wait(0.05)
    until(lambda: session.run is not None)


def test_a_run_is_steady_until_a_request(endless):
    session = endless()
    assert not session.steady
    session.start()
    until(lambda: session.steady)
    session.pause()
    assert not session.steady
    session.resume()
    until(lambda: session.steady)
    session.stop()
    assert not session.steady
