"""The player: start, pause, resume, step, stop, wait, from another thread."""

import threading
import time

import pytest

from tests.waiting import LIMIT, until
from workbench.errors import InputError
from workbench.run import Reason, Run, Session, State, Stopping, configure


def endless(n=64):
    return Session(configure("poisson5", n=n, stopping=Stopping(rtol=1e-300, maxiter=10**9, stagnation=10**9)))


def test_wait_starts_and_gives_the_result():
    session = Session(configure("poisson5", n=16))
    assert session.state is State.IDLE
    result = session.wait(LIMIT)
    assert result.converged
    assert session.state is State.DONE


def test_pause_holds_still_step_makes_one_and_resume_goes_on():
    session = endless()
    session.start()
    until(lambda: session.run is not None and session.run.iterations > 5)
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


def test_a_run_is_pausing_until_the_iteration_in_progress_is_complete(monkeypatch):
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


def test_stop_works_while_paused():
    session = endless()
    session.start(paused=True)
    until(lambda: session.state is State.PAUSED)
    session.stop()
    assert session.wait(LIMIT).iterations == 0


def test_stop_ends_a_run_between_two_iterations():
    """How soon, on any device: test_stopping_anywhere.py."""
    session = endless(n=512)
    session.start()
    until(lambda: session.run is not None and session.run.iterations > 5)
    session.stop()
    until(lambda: not session.alive)
    result = session.wait(LIMIT)
    assert result.reason is Reason.CANCELLED
    assert result.iterations == session.run.iterations == result.history.count - 1 > 5


def test_a_failed_setup_is_a_sentence():
    session = Session(configure("matrix-file:nowhere.mtx"))
    with pytest.raises(InputError, match=r"nowhere\.mtx"):
        session.wait(LIMIT)
    assert session.state is State.FAILED
    assert "nowhere.mtx" in session.error


def test_waiting_has_an_end():
    session = endless()
    with pytest.raises(TimeoutError, match="still"):
        session.wait(0.05)
    until(lambda: session.run is not None)
    session.stop()
    session.wait(LIMIT)


def test_the_end_is_announced():
    ended = []
    session = Session(configure("poisson5", n=8), on_end=ended.append)
    session.wait(LIMIT)
    until(lambda: ended == [session])


def test_listeners_are_called_at_the_end_also_afterwards():
    ended = []
    session = Session(configure("poisson5", n=16), on_end=lambda _session: ended.append("on_end"))
    session.when_over(lambda: ended.append("a view"))
    session.wait(LIMIT)
    until(lambda: len(ended) == 2)
    assert ended == ["on_end", "a view"]
    session.when_over(lambda: ended.append("too late, so at once"))
    assert ended[2:] == ["too late, so at once"]


def test_a_run_is_steady_until_a_request():
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
    session.wait(LIMIT)


def test_many_sessions_at_once_all_end_right():
    sessions = [Session(configure("two-layer", n=24, seed=seed)) for seed in range(8)]
    for session in sessions:
        session.start()
    results = [session.wait(LIMIT) for session in sessions]
    alone = Session(configure("two-layer", n=24, seed=5)).wait(LIMIT)
    assert all(result.converged for result in results)
    assert (results[5].x == alone.x).all()
