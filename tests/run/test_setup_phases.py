"""The phases of a setup: their names, times and memory, in results, records and on the command line."""

from __future__ import annotations

import gc
import json
import uuid

import numpy as np
import pytest

from tests.waiting import LIMIT
from workbench.jit import compile_time as compiling
from workbench.jit import work_stealing
from workbench.jit.c_abi import kinds_of
from workbench.jit.compiled import WARM_UP, generated
from workbench.run import Race, Run, Session, configure
from workbench.run.setup.setup_phases import COMPILATION, SetupPhases, in_words

TWO_LEVELS = {"n": 16, "preconditioner": "neumann:2", "deflation": "levelset:4"}


def test_a_phase_is_present_while_it_lasts_and_one_of_the_same_name_is_added_to_it():
    phases = SetupPhases()
    with phases("A"):
        assert phases.present == "A"
        with phases("B"):
            assert phases.present == "B"
        assert phases.present == "A"
    with phases("B"):
        pass
    assert phases.present == ""
    assert [phase.name for phase in phases.done] == ["B", "A"]
    assert all(phase.seconds > 0 for phase in phases.done)


def test_a_failed_phase_is_not_listed_and_no_longer_present():
    phases = SetupPhases()
    with pytest.raises(ZeroDivisionError), phases("A"):
        raise ZeroDivisionError
    assert phases.present == ""
    assert phases.done == []


def test_kernels_that_a_setup_asks_for_are_counted():
    phases, kinds = SetupPhases(), kinds_of((work_stealing.counters(1), np.zeros(1)))
    # A text that no cache has.
    kernel = generated(WARM_UP.replace("2)", f"{uuid.uuid4().int % 10**9 + 3})", 1))
    with phases.whole():
        assert (phases.kernels.asked, phases.kernels.done) == (0, 0)
        kernel.prepare(kinds)
        assert phases.kernels.asked == 1
        kernel.compile(kinds)
        assert phases.kernels.done == 1
        kernel.prepare(kinds)
        assert phases.kernels.asked == 1


def test_names_and_times_of_a_run():
    run = Run(configure("bubbles-3d", variant="def1", **TWO_LEVELS))
    names = [phase.name for phase in run.setup.phases.done]
    assert names == [
        "start of the device",
        "problem",
        "A",
        "vectors b and x₀",
        "preconditioner M",
        "deflation vectors",
        "coarse matrix E",
        "coarse solver",
        "AZ",
        "plan of an iteration",
        "rest",
    ]


@pytest.fixture
def clock(monkeypatch):
    """A clock that the test sets: seconds, of which `compiled` were spent on kernels."""

    class Clock:
        now = compiled = 0.0

        def take(self, seconds, compiled=0.0):
            self.now += seconds + compiled
            self.compiled += compiled

    clock = Clock()
    monkeypatch.setattr("workbench.run.setup.setup_phases.time.perf_counter", lambda: clock.now)
    monkeypatch.setattr("workbench.run.setup.setup_phases.compiling.spent", lambda: clock.compiled)
    return clock


def test_phases_add_up_to_the_setup_and_compilation_is_in_none(clock):
    phases = SetupPhases()
    with phases.whole():
        clock.take(1)
        with phases("A"):
            clock.take(2, compiled=16)
            with phases("E"):
                clock.take(4, compiled=32)
        clock.take(8, compiled=64)
    assert {phase.name: phase.seconds for phase in phases.done} == {"A": 2, "E": 4, "rest": 9}
    assert phases.seconds == 15
    assert phases.compile_seconds == 112


def test_a_thread_that_waits_for_kernels_is_in_the_phase_of_their_compilation():
    phases = SetupPhases()
    with phases("A"):
        with compiling.here():
            assert phases.present == COMPILATION
        assert phases.present == "A"


@pytest.mark.parametrize("rhs", ["ones", "random:2"])
def test_setup_seconds_are_the_sum_of_the_phases(rhs, device):
    solver = "cg" if rhs == "ones" else "pseudo-block-cg"
    summary = Run(configure("poisson5", n=9, rhs=rhs, solver=solver, device=device.spec)).result().summary
    assert summary["setup_seconds"] == sum(phase["seconds"] for phase in summary["setup_phases"])
    assert summary["compile_seconds"] >= 0


def test_each_solve_of_a_race_has_its_own_phases():
    race = Race([configure("poisson5", n=9), configure("poisson5", n=9)])
    race.start()
    for result in race.wait(LIMIT):
        assert result.setup_seconds == sum(phase["seconds"] for phase in result.summary["setup_phases"])


def test_bytes_are_those_that_an_accelerator_has_allocated(accelerator):
    # Vectors of earlier runs that wait for the collector would be freed, and subtracted, in any phase.
    gc.collect()
    run = Run(configure("bubbles-3d", device=accelerator.spec, **TWO_LEVELS))
    found = {phase.name: phase.nbytes for phase in run.setup.phases.done}
    size = 16**3
    assert found["A"] >= size
    # b and x in double precision, less what the phase frees of the one before; D^-1 and two vectors of work space.
    assert found["vectors b and x₀"] >= 0.95 * 2 * 8 * size
    assert found["preconditioner M"] >= 3 * 8 * size
    assert found["deflation vectors"] >= 4 * size


def test_summary_and_session_have_them():
    session = Session(configure("bubbles-3d", **TWO_LEVELS))
    summary = session.wait(LIMIT).summary
    assert [phase["name"] for phase in summary["setup_phases"]] == [phase.name for phase in session.phases.done]
    assert summary["coarse_solver"] == "cholesky"
    assert summary["variant"] == "def1"
    json.dumps(summary["setup_phases"])


def test_words_leave_out_what_took_less_than_a_percent():
    phases = [{"name": "A", "seconds": 0.2}, {"name": "M", "seconds": 0.001}, {"name": "E", "seconds": 0.8}]
    assert in_words(phases, 1.0) == "E 0.8 s, A 0.2 s"
