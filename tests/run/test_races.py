"""A race: lanes come, wait, go and fail without a word to the others, and each has its own clock."""

from __future__ import annotations

import time

import numpy as np
import pytest

from workbench.errors import InputError
from workbench.run import Race, Run, State, configure, run_through
from workbench.run.ranking import held_up_seconds, standings
from workbench.run.stopping import Reason, Stopping

CHOICES = (
    {"preconditioner": "jacobi"},
    {"preconditioner": "neumann:2", "deflation": "stripes"},
    {"preconditioner": "jacobi", "solver": "pipecg"},
)
ENDLESS = Stopping(rtol=0, atol=1e-300, stagnation=10**9, maxiter=10**9)
"""Goes on until it is stopped."""


def lane_of(**choices):
    return configure("two-layer", n=24, **choices)


def endless():
    return lane_of(stopping=ENDLESS, solver="sd")


def until(condition):
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_a_race_gives_the_iterations_and_residuals_of_single_runs():
    configurations = [lane_of(**choices) for choices in CHOICES]
    race = Race(configurations)
    raced = race.wait(60)
    for mine, configuration in zip(raced, configurations, strict=True):
        alone = run_through(Run(configuration))
        assert mine.iterations == alone.iterations
        assert mine.history["residual"].tolist() == alone.history["residual"].tolist()
    assert [lane.state for lane in race.lanes] == [State.DONE] * 3


class Slow:
    """A run whose iterations take a known time on the clock that is put in place of the real one."""

    def __init__(self, monkeypatch):
        self.now = 0.0
        self.cost = {}
        monkeypatch.setattr("workbench.run.driver.time.perf_counter", lambda: self.now)

    def slow(self, run, seconds):
        made = run._watch.make

        def make(*given, **more):
            self.now += seconds
            return made(*given, **more)

        run._watch.make = make


def test_a_lanes_clock_does_not_count_the_others(monkeypatch):
    clock = Slow(monkeypatch)
    race = Race([lane_of(), lane_of()])
    first, second = race.lanes
    for lane, seconds in ((first, 1.0), (second, 100.0)):
        lane.turn()
        clock.slow(lane.run, seconds)
    for _ in range(5):
        first.turn()
        second.turn()
    assert clock.now == 505
    assert first.run.iteration_seconds == 5
    assert second.run.iteration_seconds == 500


@pytest.fixture
def steps(monkeypatch):
    """The runs that made a step, in order."""
    seen = []
    made = Run.step
    monkeypatch.setattr(Run, "step", lambda run, most=None: seen.append(run) or made(run, most))
    return seen


def test_turns_of_no_length_are_one_iteration_each(steps):
    race = Race([endless(), endless(), endless()], turn_seconds=0)
    race.start()
    until(lambda: len(steps) > 300)
    race.stop()
    race.wait(20)
    # Setups come in the first round, so that from the second on the order is the lanes'.
    runs = [lane.run for lane in race.lanes]
    assert steps[:300] == runs * 100


def test_long_turns_go_on_until_a_lane_has_ended(steps):
    race = Race([lane_of(), lane_of()], turn_seconds=1000)
    race.wait(60)
    first, second = (lane.run for lane in race.lanes)
    # The start is a step as well.
    assert steps == [first] * (first.iterations + 1) + [second] * (second.iterations + 1)


@pytest.mark.parametrize("seconds", [-1.0, float("nan"), float("inf")])
def test_a_turn_has_a_length(seconds):
    with pytest.raises(InputError, match="turn_seconds must be a finite number of at least 0"):
        Race(turn_seconds=seconds)


def test_a_lane_that_fails_says_why_and_the_others_go_on(monkeypatch):
    race = Race([lane_of(), configure("two-layer", n=4, deflation="eigenvectors:400"), lane_of()])
    good, bad, broken = race.lanes
    broken.turn()

    def burst(most=None):
        raise RuntimeError("a wheel came off")

    broken.run.step = burst
    results = race.wait(60)
    assert len(results) == 1
    assert results[0].converged
    assert good.state is State.DONE
    assert bad.state is broken.state is State.FAILED
    assert "400 vectors" in bad.error
    assert broken.error == "the run failed by a RuntimeError: a wheel came off"


def test_lanes_are_added_held_stopped_and_removed_while_others_run():
    race = Race([endless()])
    (first,) = race.lanes
    race.start()
    until(lambda: first.run and first.run.iterations > 10)
    second = race.add(endless())
    third = race.add(lane_of())
    assert third.number == 3
    until(lambda: second.run and second.run.iterations > 10 and third.ended)
    race.pause(first)
    until(lambda: first.state is State.PAUSED)
    time.sleep(0.05)
    held, going = first.run.iterations, second.run.iterations
    until(lambda: second.run.iterations > going + 10)
    assert first.run.iterations == held
    race.remove(second)
    assert race.lanes == (first, third)
    race.resume(first)
    until(lambda: first.run.iterations > held)
    race.stop()
    race.wait(20)
    assert first.result.reason is Reason.CANCELLED
    assert third.result.reason is Reason.CONVERGED
    assert not race.alive
    with pytest.raises(InputError, match="not in this race"):
        race.pause(second)


def test_all_held_lanes_can_be_stopped_and_a_race_can_go_on_with_a_new_lane():
    race = Race([endless()])
    race.start()
    until(lambda: race.lanes[0].run and race.lanes[0].run.iterations > 3)
    race.pause()
    race.stop()
    assert race.wait(20)[0].reason is Reason.CANCELLED
    race.add(lane_of())
    assert race.wait(20)[1].converged


def test_a_lane_that_is_held_has_not_begun():
    race = Race([configure("poisson5", n=8)])
    race.pause(*race.lanes)
    assert race.held
    assert not race.begun
    assert race.add(configure("poisson5", n=8), number=7).number == 7
    assert race.add(configure("poisson5", n=8)).number == 8
    race.stop()
    assert race.begun


def test_a_lane_stopped_before_it_began_says_so():
    race = Race([lane_of()])
    race.stop()
    assert race.wait(20) == []
    assert race.lanes[0].error == "stopped before it began"


def test_waiting_too_long_says_how_to_end_it():
    race = Race([endless()])
    with pytest.raises(TimeoutError, match=r"stop\(\) ends it"):
        race.wait(0.05)
    race.stop()
    race.wait(20)


def test_standings_are_those_of_the_histories():
    race = Race([lane_of(**choices) for choices in CHOICES])
    race.wait(60)
    found = standings(race.lanes, 1e-3)
    for finish in found.finished:
        run = finish.lane.run
        residual = run.history["residual"] / run.norm_of_b
        assert residual[finish.iterations] <= 1e-3 < residual[: finish.iterations].min()
    assert found.finished[0].lane.number == 2
    assert [finish.lane.number for finish in found.finished[1:]] == [1, 3]
    by_bytes = standings(race.lanes, 1e-3, "bytes").finished
    assert [finish.amount for finish in by_bytes] == [
        finish.iterations * finish.lane.iteration_bytes for finish in by_bytes
    ]
    seconds = standings(race.lanes, 1e-3, "seconds").finished
    assert all(f.amount == f.setup + f.lane.run.history["seconds"][f.iterations] for f in seconds)
    assert all(f.setup == f.lane.run.setup_seconds > 0 for f in seconds)
    iterating = standings(race.lanes, 1e-3, "seconds", with_setup=False).finished
    assert all((f.amount, f.setup) == (f.lane.run.history["seconds"][f.iterations], 0.0) for f in iterating)


def test_a_long_setup_loses_by_seconds_unless_it_is_left_out():
    race = Race([lane_of(), lane_of(preconditioner="neumann:2", deflation="stripes")])
    race.wait(60)
    first, second = race.lanes
    for lane, setup in ((first, 0.1), (second, 7.0)):
        lane.run.setup_seconds = setup
        lane.run.history._columns["seconds"][: lane.run.history.count] = np.arange(lane.run.history.count) * 1e-3
    assert standings(race.lanes, 1e-3, "seconds").finished[0].lane is first
    assert standings(race.lanes, 1e-3, "seconds", with_setup=False).finished[0].lane is second


def test_finer_tolerances_are_reached_by_nobody():
    race = Race([lane_of()])
    race.wait(60)
    assert standings(race.lanes, 1e-12).finished == ()


def test_whoever_has_spent_less_may_still_win():
    race = Race([lane_of(), lane_of()])
    ahead, behind = race.lanes
    while not ahead.ended:
        ahead.turn()
    behind.turn()
    behind.turn()
    found = standings(race.lanes, 1e-5)
    assert found.winners[0].lane is ahead
    assert found.open == (behind,)
    while not behind.ended:
        behind.turn()
    found = standings(race.lanes, 1e-5)
    assert found.open == ()
    assert {finish.lane for finish in found.winners} == {ahead, behind}


def test_the_recurrence_of_a_run_that_has_parted_counts_for_nothing():
    race = Race([lane_of()])
    race.wait(60)
    (lane,) = race.lanes
    lane.run.history.confirm(3, 1e3 * lane.run.history["residual"][3])
    found = standings(race.lanes, 1e-5)
    assert found.finished == ()
    assert found.parted == (lane,)


def test_bytes_are_those_of_the_plan_and_unknown_for_functions():
    race = Race([lane_of(), lane_of(preconditioner="none")])
    race.wait(60)
    jacobi, plain = (lane.iteration_bytes for lane in race.lanes)
    # Sixteen words an unknown with Jacobi on seven points; the 5-point stencil has one band less to read.
    assert jacobi == 15 * 8 * 24 * 24
    assert plain < jacobi


def test_iterations_that_were_held_up_are_told_from_the_others():
    # Nine iterations of 1 s, one of 21 s: 20 s were others'.
    clock = np.cumsum([5.0, 1, 1, 1, 1, 21, 1, 1, 1, 1, 1])
    assert held_up_seconds(clock) == 20
    assert held_up_seconds(np.arange(10.0)) == 0
    assert held_up_seconds(np.array([1.0])) == 0


@pytest.mark.parametrize("tolerance", [0.0, -1.0, float("nan")])
def test_a_tolerance_is_above_zero(tolerance):
    with pytest.raises(InputError, match="above 0"):
        standings([], tolerance)


def test_an_unknown_measure_is_told():
    with pytest.raises(InputError, match="did you mean seconds"):
        standings([], 1e-3, "second")
