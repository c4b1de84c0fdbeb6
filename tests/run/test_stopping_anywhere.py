"""Stop: a run counts as ended while what cannot be interrupted still runs, wherever it is and on any device.

What cannot be interrupted is held by the test until the run counts as ended, so that no time is measured.
"""

from __future__ import annotations

import threading

import numpy as np
import pytest

import workbench.run  # noqa: F401  registers every block
from tests.run.conftest import ENDLESS, iterating
from tests.waiting import LIMIT, until
from workbench import devices
from workbench.deflation import lapack
from workbench.errors import InputError
from workbench.problems.poisson import Poisson5
from workbench.registry import blocks as registry
from workbench.run import Quantity, Race, Reason, Run, RunQueue, Session, State, Stopping, configure
from workbench.run.choices.in_memory import InMemoryPreconditioner, InMemoryProblem

TRIES = 3
"""Of what may be over before it is looked at."""
IN_TIME = 12
"""The application of M that is held. CG on a small system ends within a tenth of a second, in which a thread that is to
hold it may get no core. Later it is solved to rounding, where x and the recursive residual no longer agree."""
EARLY = 3
"""Iterations before the one that is held, and in the step that follows. Much later x and the residual have a gap."""
KINDS = ("cg", "hybrid3", "pipecg")
"""One solver of each kind of loop. Stopping is the loop's, so the others rarely fail where these do not."""
SOLVERS = [
    pytest.param(name, marks=() if name in KINDS else pytest.mark.slow)
    for name in sorted(set(registry.registered("solver")) - {"petsc"})
]


@pytest.fixture
def live():
    """The views, where notebooks are installed."""
    pytest.importorskip("ipywidgets")
    import workbench.live

    return workbench.live


@pytest.fixture(params=["cpu", "opencl", "cuda"])
def device(request):
    try:
        devices.device(request.param)
    except InputError as error:
        pytest.skip(str(error))
    return request.param


def check_whole(session):
    """x and the history are those of one and the same iteration."""
    result = session.wait(LIMIT)
    assert result.reason is Reason.CANCELLED
    assert result.iterations == result.history.count - 1 >= EARLY
    # So early there is no residual gap: x belongs to the last row, and to no other.
    system = session.run.setup.system
    residual = np.linalg.norm(system.b - system.operator.to_csr() @ result.x)
    assert residual == pytest.approx(float(result.history["residual"][-1]), rel=1e-6)


class Hold:
    """Where a thread waits, as in what cannot be interrupted, once `on` is set or in the call `at`, and until it is let
    go."""

    def __init__(self):
        self.on, self.at, self._calls, self._inside, self._free = False, 0, 0, threading.Event(), threading.Event()

    def __call__(self, *_given):
        self._calls += 1
        if self.on or self._calls == self.at:
            self._inside.set()
            assert self._free.wait(LIMIT)

    def catch(self):
        """Hold the thread from its next call on; returns once it waits."""
        self.on = True
        self.wait()

    def wait(self):
        """Returns once a thread waits."""
        assert self._inside.wait(LIMIT)

    @property
    def holds(self):
        """Whether a thread waits, or did."""
        return self._inside.is_set()

    def release(self):
        self.on = False
        self._free.set()


@pytest.fixture
def hold():
    made = Hold()
    yield made
    made.release()


@pytest.mark.parametrize("solver", SOLVERS)
def test_any_solver_stops_on_any_device(solver, device, hold, monkeypatch):
    step = Run.step

    def held(run, most=None):
        # An accelerator makes as many iterations at once as fit between two checks: the faster it is, the more.
        if run.iterations >= EARLY:
            hold()
        return step(run, min(most or EARLY, EARLY))

    monkeypatch.setattr(Run, "step", held)
    hold.on = True
    choices = {"preconditioner": "jacobi", "solver": solver, "device": device, "stopping": ENDLESS}
    session = Session(configure("two-layer", n=384, **choices), queue=None)
    session.start()
    until(lambda: hold.holds or not session.alive)
    if session.state is State.FAILED and session.configuration.solver.needs_accelerator and device == "cpu":
        pytest.skip(session.error)
    assert session.alive, session.error
    session.stop()
    hold.release()
    until(lambda: session.state is State.DONE)
    check_whole(session)


def held_by(hold, problem=None, **choices):
    """A configuration with M = I, an application of which may be held."""

    def apply(r):
        hold()
        return r

    return configure(
        problem or InMemoryProblem(), preconditioner=InMemoryPreconditioner(apply), stopping=ENDLESS, **choices
    )


def small_system():
    return configure("poisson5", n=24).problem.assemble()


def test_an_iteration_that_takes_longer_is_made_whole_in_the_background(device, hold):
    hold.at = IN_TIME
    session = Session(held_by(hold, device=device), small_system(), queue=None)
    session.start()
    hold.wait()
    session.stop()
    until(lambda: session.state is State.DONE)
    assert session.lingering
    hold.release()
    check_whole(session)
    assert not session.lingering
    assert session.state is State.DONE


def test_the_next_session_waits_for_what_ends_in_the_background(hold):
    queue = RunQueue()
    first = Session(held_by(hold), small_system(), queue=queue)
    hold.at = IN_TIME
    first.start()
    hold.wait()
    second = Session(configure("poisson5", n=8), queue=queue)
    second.start()
    first.stop()
    until(lambda: first.state is State.DONE)
    assert first.lingering
    assert second.state is State.QUEUED
    hold.release()
    assert second.wait(LIMIT).converged
    assert first.result is not None


@pytest.fixture
def assembling(monkeypatch, hold):
    """Assembly that cannot be interrupted and is held."""
    made = Poisson5.assemble

    def assemble(problem, seed=0):
        hold()
        return made(problem, seed)

    monkeypatch.setattr(Poisson5, "assemble", assemble)
    hold.on = True
    return hold


def test_a_session_stops_during_its_setup_and_throws_away_what_that_makes(assembling):
    told = []
    session = Session(configure("poisson5", n=8), on_end=told.append, queue=None)
    session.start()
    assembling.catch()
    session.stop()
    until(lambda: session.state is State.DONE)
    assert session.lingering
    assert session.error == "stopped during the setup"
    # There is nothing to wait for.
    with pytest.raises(InputError, match="stopped during the setup"):
        session.wait()
    assert session.lingering
    assembling.release()
    until(lambda: session in told)
    assert (session.run, session.result, session.state) == (None, None, State.DONE)
    assert not session.lingering


def test_a_session_stops_in_the_middle_of_a_factorization(monkeypatch):
    """A real one, which leaves the other threads their turns."""
    begun, over, factor = threading.Event(), threading.Event(), lapack.band_cholesky

    def watched(band):
        begun.set()
        try:
            return factor(band)
        finally:
            over.set()

    monkeypatch.setattr(lapack, "band_cholesky", watched)

    def stopped_inside():
        chosen = {"preconditioner": "jacobi", "deflation": "blocks:24", "coarse": "cholesky"}
        session = Session(configure("poisson7", n=48, **chosen))
        begun.clear()
        over.clear()
        session.start()
        # Also of one that is over before this thread has a core again.
        assert begun.wait(LIMIT)
        session.stop()
        until(lambda: session.ended)
        # Nothing would be shown by a factorization that was over before.
        shown = not over.is_set()
        until(lambda: not session.working)
        return shown

    assert any(stopped_inside() for _ in range(TRIES))


def test_an_entry_stops_within_an_iteration_and_the_others_go_on(hold):
    race = Race([held_by(hold, problem="poisson5", n=24)], queue=None)
    (entry,) = race.entries
    hold.at = IN_TIME
    race.start()
    hold.wait()
    race.stop(entry)
    until(lambda: entry.state is State.DONE)
    assert not race.alive
    assert race.lingering
    other = race.add(configure("poisson5", n=8))
    hold.release()
    assert len(race.wait(LIMIT)) == 2
    assert entry.result.reason is Reason.CANCELLED
    assert other.result.converged


def test_the_explorer_says_so(live, tmp_path, hold):
    explorer = live.explore(n=64, folder=tmp_path, solver="sd", deflation="none", stopping=Stopping(rtol=1e-300))
    session = explorer.run()
    iterating(session, beyond=2)
    hold.on = True
    session.run.snapshots.request(Quantity.SOLUTION, hold)
    hold.catch()
    explorer.stop()
    until(lambda: explorer.status.state == "done")
    assert explorer.status.text.startswith("Run 1: Stopped by the user; the present step ends in the background")
    hold.release()
    until(lambda: len(explorer.records) == 1 and "Stopped by the user. Best x" in explorer.status.text)
    explorer.close()


def test_the_race_says_so(live, tmp_path, hold):
    view = live.RaceView(configure("poisson5", n=24), folder=tmp_path)
    # CG would come to its end within a tenth of a second.
    entry = view.add(held_by(hold, problem="poisson5", n=24, solver="sd"))
    view.start()
    until(lambda: entry.run is not None and entry.run.iterations >= 3 and view.race.entries[0].over)
    hold.catch()
    view.stop()
    until(lambda: view.status.state == "done")
    assert "ends in the background" in view.status.text
    hold.release()
    until(lambda: "stopped, 1 before the end" in view.status.text and entry.result is not None)
    view.close()


def test_an_entry_stops_during_its_setup(assembling):
    race = Race([configure("poisson5", n=8), configure("two-layer", n=8)], queue=None)
    race.start()
    assembling.catch()
    entry = race.entries[0]
    race.stop(entry)
    until(lambda: entry.ended)
    assembling.release()
    stopped, result = race.wait(LIMIT)
    assert stopped.reason is Reason.CANCELLED
    assert result.converged
    assert entry.error == "stopped during the setup"


def test_a_sweep_stops_during_a_setup_and_runs_again(live, assembling, tmp_path):
    view = live.SweepView("poisson5", {"n": [8, 9]}, folder=tmp_path)
    view.run()
    assembling.catch()
    view.stop()
    # The buttons follow the sentence.
    until(lambda: view.status.state == "done" and view.status.stop.disabled)
    assert "stopped by the user, 0 of 2 runs done" in view.status.text
    assert "ends in the background" in view.status.text
    assert view.status.run.disabled
    assembling.release()
    assert view.wait(LIMIT).cancelled
    until(lambda: not view.status.run.disabled and "background" not in view.status.text)
    view.run()
    assert view.wait(LIMIT).converged
