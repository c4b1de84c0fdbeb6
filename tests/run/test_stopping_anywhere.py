"""Stop: 0.2 s from the request until a run counts as ended, wherever it is and on any device.

That bound is a requirement, so it is measured here; a machine that is busy with other things gets three tries.
"""

from __future__ import annotations

import math
import threading
import time

import numpy as np
import pytest

import workbench.run  # noqa: F401  registers every block
from workbench import devices, registry
from workbench.deflation import lapack
from workbench.errors import InputError
from workbench.problems.poisson import Poisson5
from workbench.run import Race, Reason, RunQueue, Session, State, Stopping, configure
from workbench.run.in_memory import InMemoryPreconditioner, InMemoryProblem

BOUND = 0.2
TRIES = 3
ENDLESS = Stopping(rtol=0, atol=1e-300, stagnation=10**9, maxiter=10**9)
SOLVERS = sorted(registry.registered("solver"))


@pytest.fixture
def live():
    """The views, where notebooks are installed."""
    pytest.importorskip("ipywidgets")
    import workbench.live

    return workbench.live


def until(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.001)


def seconds_until(condition, act):
    begun = time.monotonic()
    act()
    until(condition)
    return time.monotonic() - begun


def within_bound(attempt):
    """Measure until the bound is met, three times at most."""
    took = []
    while not took or (took[-1] >= BOUND and len(took) < TRIES):
        took.append(attempt())
    assert took[-1] < BOUND, took


@pytest.fixture(params=["cpu", "opencl", "cuda"])
def device(request):
    try:
        devices.device(request.param)
    except InputError as error:
        pytest.skip(str(error))
    return request.param


def after_three_iterations(configuration, system=None):
    """A session under way; what needs an accelerator and has none skips the test."""
    session = Session(configuration, system, queue=None)
    session.start()
    until(lambda: not session.alive or (session.run is not None and session.run.iterations >= 3))
    if session.state is State.FAILED and configuration.solver.needs_accelerator and configuration.device == "cpu":
        pytest.skip(session.error)
    assert session.state is not State.FAILED, session.error
    return session


def check_whole(session):
    """x and the history are those of one and the same iteration."""
    result = session.wait(60)
    assert result.reason is Reason.CANCELLED
    assert result.iterations == result.history.count - 1 >= 3
    # So early there is no residual gap: x belongs to the last row, and to no other.
    system = session.run.setup.system
    residual = np.linalg.norm(system.b - system.operator.to_csr() @ result.x)
    assert residual == pytest.approx(float(result.history["residual"][-1]), rel=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
def test_any_solver_stops_on_any_device(solver, device):
    def attempt():
        choices = {"preconditioner": "jacobi", "solver": solver, "device": device, "stopping": ENDLESS}
        session = after_three_iterations(configure("two-layer", n=384, **choices))
        took = seconds_until(lambda: session.state is State.DONE, session.stop)
        check_whole(session)
        return took

    within_bound(attempt)


class Slow:
    """M = I that takes a while, as one that cannot be interrupted."""

    def __init__(self, seconds):
        self.seconds, self.calls = 0.0, 0
        self._slow = seconds

    def __call__(self, r):
        self.calls += 1
        time.sleep(self.seconds)
        return r

    def configuration(self, problem=None, **choices):
        first = InMemoryPreconditioner(self)
        return configure(problem or InMemoryProblem(), preconditioner=first, stopping=ENDLESS, **choices)

    def slow_down(self):
        """From the next call on; returns when that has begun."""
        self.seconds, before = self._slow, self.calls
        until(lambda: self.calls > before + 1)


def small_system():
    return configure("poisson5", n=24).problem.assemble()


def test_an_iteration_that_takes_longer_is_made_whole_in_the_background(device):
    slow = Slow(0.6)

    def attempt():
        slow.seconds = 0.0
        session = after_three_iterations(slow.configuration(device=device), small_system())
        slow.slow_down()
        took = seconds_until(lambda: session.state is State.DONE, session.stop)
        assert session.lingering
        check_whole(session)
        assert not session.lingering
        assert session.state is State.DONE
        return took

    within_bound(attempt)


def test_the_next_session_waits_for_what_ends_in_the_background():
    queue, slow = RunQueue(), Slow(0.5)
    first = Session(slow.configuration(), small_system(), queue=queue)
    first.start()
    until(lambda: first.run is not None and first.run.iterations >= 3)
    slow.slow_down()
    second = Session(configure("poisson5", n=8), queue=queue)
    second.start()
    first.stop()
    until(lambda: first.state is State.DONE)
    assert first.lingering
    assert second.state is State.QUEUED
    assert second.wait(60).converged
    assert first.result is not None


@pytest.fixture
def assembling(monkeypatch):
    """Assembly that cannot be interrupted and takes 0.7 s; set while it goes on."""
    made, going = Poisson5.assemble, threading.Event()

    def assemble(problem, seed=0):
        going.set()
        time.sleep(0.7)
        going.clear()
        return made(problem, seed)

    monkeypatch.setattr(Poisson5, "assemble", assemble)
    return going


def test_a_session_stops_during_its_setup_and_throws_away_what_that_makes(assembling):
    told = []

    def attempt():
        nonlocal session
        session = Session(configure("poisson5", n=8), on_end=told.append, queue=None)
        session.start()
        until(assembling.is_set)
        return seconds_until(lambda: session.state is State.DONE, session.stop)

    session = None
    within_bound(attempt)
    assert session.lingering
    assert session.error == "stopped during the setup"
    # There is nothing to wait for.
    with pytest.raises(InputError, match="stopped during the setup"):
        session.wait()
    assert session.lingering
    until(lambda: session in told)
    assert (session.run, session.result, session.state) == (None, None, State.DONE)
    assert not session.lingering


def test_a_session_stops_in_the_middle_of_a_factorization(monkeypatch):
    inside, factor = threading.Event(), lapack.band_cholesky

    def watched(band):
        inside.set()
        try:
            return factor(band)
        finally:
            inside.clear()

    monkeypatch.setattr(lapack, "band_cholesky", watched)

    def attempt():
        session = Session(
            configure("poisson7", n=48, preconditioner="jacobi", deflation="blocks:24", coarse="cholesky")
        )
        session.start()
        until(inside.is_set)
        took = seconds_until(lambda: session.state is State.DONE, session.stop)
        # Nothing would be shown by a factorization that was over before.
        shown = inside.is_set()
        until(lambda: not session.lingering)
        return took if shown else math.inf

    within_bound(attempt)


def test_an_entry_stops_within_an_iteration_and_the_others_go_on():
    slow = Slow(0.6)

    def attempt():
        slow.seconds = 0.0
        race = Race([slow.configuration(problem="poisson5", n=24)], queue=None)
        (entry,) = race.entries
        race.start()
        until(lambda: entry.run is not None and entry.run.iterations >= 3)
        slow.slow_down()
        took = seconds_until(lambda: entry.state is State.DONE, lambda: race.stop(entry))
        assert not race.alive
        assert race.lingering
        other = race.add(configure("poisson5", n=8))
        assert len(race.wait(60)) == 2
        assert entry.result.reason is Reason.CANCELLED
        assert other.result.converged
        return took

    within_bound(attempt)


def test_the_explorer_and_the_race_say_so_in_time(live, tmp_path):
    def explored():
        explorer = live.explore(n=64, folder=tmp_path, solver="sd", deflation="none", stopping=Stopping(rtol=1e-300))
        session = explorer.run()
        until(lambda: session.run is not None and session.run.iterations >= 3)
        inside, made = threading.Event(), session.run._iterations._recurrence.watch.make

        def slowly(*given, **more):
            inside.set()
            time.sleep(0.6)
            made(*given, **more)

        session.run._iterations._recurrence.watch.make = slowly
        until(inside.is_set)
        took = seconds_until(lambda: explorer.status.state == "done", explorer.stop)
        assert explorer.status.text.startswith("Run 1: Stopped by the user; the current step cannot be interrupted")
        until(lambda: len(explorer.records) == 1 and "Stopped by the user, after" in explorer.status.text)
        explorer.close()
        return took

    def raced():
        slow = Slow(0.6)
        view = live.RaceView(configure("poisson5", n=24), folder=tmp_path)
        entry = view.add(slow.configuration(problem="poisson5", n=24))
        view.start()
        until(lambda: entry.run is not None and entry.run.iterations >= 3 and view.race.entries[0].over)
        slow.slow_down()
        took = seconds_until(lambda: view.status.state == "done", view.stop)
        assert "ends in the background" in view.status.text
        until(lambda: "all have ended" in view.status.text and entry.result is not None)
        view.close()
        return took

    within_bound(explored)
    within_bound(raced)


def test_an_entry_stops_during_its_setup(assembling):
    def attempt():
        race = Race([configure("poisson5", n=8), configure("two-layer", n=8)], queue=None)
        race.start()
        until(assembling.is_set)
        entry = race.entries[0]
        took = seconds_until(lambda: entry.ended, lambda: race.stop(entry))
        stopped, result = race.wait(60)
        assert stopped.reason is Reason.CANCELLED
        assert result.converged
        assert entry.error == "stopped during the setup"
        return took

    within_bound(attempt)


def test_a_sweep_stops_during_a_setup_and_runs_again(live, assembling, tmp_path):
    view = live.SweepView("poisson5", {"n": [8, 9]}, folder=tmp_path)

    def attempt():
        view.run()
        until(assembling.is_set)
        took = seconds_until(lambda: view.status.state == "done", view.stop)
        assert "stopped by the user, 0 of 2 runs done" in view.status.text
        assert "ends in the background" in view.status.text
        assert (view.status.run.disabled, view.status.stop.disabled) == (True, True)
        assert view.wait(60).cancelled
        until(lambda: not view.status.run.disabled)
        assert "background" not in view.status.text
        return took

    within_bound(attempt)
    view.run()
    assert view.wait(60).converged
