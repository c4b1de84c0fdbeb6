"""A race: entries come, wait, go and fail without a word to the others, and each has its own clock."""

from __future__ import annotations

import numpy as np
import pytest

from tests.run.conftest import ENDLESS, iterating
from tests.waiting import LIMIT, until
from workbench.errors import InputError
from workbench.run import Race, Run, State, configure, run_through
from workbench.run.choices.in_memory import InMemoryPreconditioner
from workbench.run.choices.stopping import Reason
from workbench.run.jobs.ranking import delay, rank

CHOICES = (
    {"preconditioner": "jacobi"},
    {"preconditioner": "neumann:2", "deflation": "stripes"},
    {"preconditioner": "jacobi", "solver": "pipecg"},
)


def entry_of(**choices):
    return configure("two-layer", n=24, **choices)


def endless():
    return entry_of(stopping=ENDLESS, solver="sd")


def test_a_race_gives_the_iterations_and_residuals_of_single_runs():
    configurations = [entry_of(**choices) for choices in CHOICES]
    race = Race(configurations)
    raced = race.wait(LIMIT)
    for mine, configuration in zip(raced, configurations, strict=True):
        alone = run_through(Run(configuration))
        assert mine.iterations == alone.iterations
        assert mine.history["residual"].tolist() == alone.history["residual"].tolist()
    assert [entry.state for entry in race.entries] == [State.DONE] * 3
    assert race.state is State.DONE


class Slow:
    """Runs whose applications of M = I take a known time on a clock that replaces the real one."""

    def __init__(self, monkeypatch):
        self.now = 0.0
        self.on = False
        monkeypatch.setattr("workbench.run.loop.single.recurrence.time.perf_counter", lambda: self.now)

    def entry(self, seconds):
        def apply(r):
            self.now += self.on * seconds
            return r

        return entry_of(preconditioner=InMemoryPreconditioner(apply))


def test_an_entrys_clock_does_not_count_the_others(monkeypatch):
    clock = Slow(monkeypatch)
    race = Race([clock.entry(1.0), clock.entry(100.0)])
    first, second = race.entries
    first.advance()
    second.advance()
    clock.on = True
    for _ in range(5):
        first.advance()
        second.advance()
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


def test_time_slices_of_no_length_are_one_iteration_each(steps):
    race = Race([endless(), endless(), endless()], slice_seconds=0)
    race.start()
    until(lambda: len(steps) > 300)
    race.stop()
    race.wait(LIMIT)
    # Setups come in the first round, so that from the second on the order is the entries'.
    runs = [entry.run for entry in race.entries]
    assert steps[:300] == runs * 100


def test_long_time_slices_last_until_an_entry_has_ended(steps):
    race = Race([entry_of(), entry_of()], slice_seconds=1000)
    race.wait(LIMIT)
    first, second = (entry.run for entry in race.entries)
    # The start is a step as well.
    assert steps == [first] * (first.iterations + 1) + [second] * (second.iterations + 1)


@pytest.mark.parametrize("seconds", [-1.0, float("nan"), float("inf")])
def test_a_time_slice_has_a_length(seconds):
    with pytest.raises(InputError, match="slice_seconds must be a finite number of at least 0"):
        Race(slice_seconds=seconds)


def test_entries_are_added_held_stopped_and_removed_while_others_run():
    race = Race([endless()])
    (first,) = race.entries
    race.start()
    iterating(first)
    second = race.add(endless())
    third = race.add(entry_of())
    assert third.number == 3
    iterating(second)
    until(lambda: third.ended)
    race.pause(first)
    until(lambda: first.state is State.PAUSED)
    # Once more than the slice in progress when it was paused.
    iterating(second, beyond=second.run.iterations + 3)
    held, going = first.run.iterations, second.run.iterations
    iterating(second, beyond=going + 10)
    assert first.run.iterations == held
    race.remove(second)
    assert race.entries == (first, third)
    race.resume(first)
    iterating(first, beyond=held)
    race.stop()
    race.wait(LIMIT)
    assert first.result.reason is Reason.CANCELLED
    assert third.result.reason is Reason.CONVERGED
    assert not race.alive
    with pytest.raises(InputError, match="not in this race"):
        race.pause(second)


def test_a_removed_entry_ends():
    race = Race([endless(), endless()])
    first, second = race.entries
    race.start()
    until(lambda: first.run and second.run)
    race.pause()
    race.remove(first)
    until(lambda: first.over)
    assert (first.state, first.lingering) == (State.DONE, False)
    assert race.alive
    race.remove(second)
    until(lambda: second.over)
    assert race.wait(LIMIT) == []


def test_all_held_entries_can_be_stopped_and_a_race_continues_with_a_new_entry():
    race = Race([endless()])
    race.start()
    iterating(*race.entries)
    race.pause()
    race.stop()
    assert race.wait(LIMIT)[0].reason is Reason.CANCELLED
    race.add(entry_of())
    assert race.wait(LIMIT)[1].converged


def test_an_entry_that_is_held_has_not_begun():
    race = Race([configure("poisson5", n=8)])
    race.pause(*race.entries)
    assert race.held
    assert not race.begun
    assert race.add(configure("poisson5", n=8)).number == 2
    race.remove(race.entries[-1])
    # Numbers are of one entry each.
    assert race.add(configure("poisson5", n=8)).number == 3
    race.stop()
    assert race.begun


def test_an_entry_stopped_before_it_began_says_so():
    race = Race([entry_of()])
    race.stop()
    (result,) = race.wait(LIMIT)
    assert result.reason is Reason.CANCELLED
    assert race.entries[0].error == "stopped before it began"


def test_waiting_too_long_says_how_to_end_it():
    race = Race([endless()])
    with pytest.raises(TimeoutError, match=r"stop\(\) ends it"):
        race.wait(0.05)
    race.stop()
    race.wait(LIMIT)


def test_the_ranking_is_that_of_the_histories():
    race = Race([entry_of(**choices) for choices in CHOICES])
    race.wait(LIMIT)
    found = rank(race.entries, 1e-3)
    for finish in found.finished:
        run = finish.entry.run
        residual = run.history["residual"] / run.norm_of_b
        assert residual[finish.iterations] <= 1e-3 < residual[: finish.iterations].min()
    assert found.finished[0].entry.number == 2
    assert [finish.entry.number for finish in found.finished[1:]] == [1, 3]
    by_bytes = rank(race.entries, 1e-3, "bytes").finished
    assert [finish.amount for finish in by_bytes] == [
        finish.iterations * finish.entry.iteration_bytes for finish in by_bytes
    ]
    seconds = rank(race.entries, 1e-3, "seconds").finished
    assert all(f.amount == f.setup + f.entry.run.history["seconds"][f.iterations] for f in seconds)
    assert all(f.setup == f.entry.run.setup_seconds > 0 for f in seconds)
    iterating = rank(race.entries, 1e-3, "seconds", with_setup=False).finished
    assert all((f.amount, f.setup) == (f.entry.run.history["seconds"][f.iterations], 0.0) for f in iterating)


def test_a_long_setup_loses_by_seconds_unless_it_is_left_out(monkeypatch):
    race = Race([entry_of(), entry_of(preconditioner="neumann:2", deflation="stripes")])
    monkeypatch.setattr(
        "workbench.run.loop.single.recurrence.time.perf_counter", iter(1e-3 * np.arange(10**6)).__next__
    )
    race.wait(LIMIT)
    first, second = race.entries
    monkeypatch.setattr(Run, "setup_seconds", property(lambda run: 0.1 if run is first.run else 7.0))
    assert rank(race.entries, 1e-3, "seconds").finished[0].entry is first
    assert rank(race.entries, 1e-3, "seconds", with_setup=False).finished[0].entry is second


def test_finer_tolerances_are_not_reached():
    race = Race([entry_of()])
    race.wait(LIMIT)
    assert rank(race.entries, 1e-12).finished == ()


def test_an_entry_that_has_spent_less_may_still_win():
    race = Race([entry_of(), entry_of()])
    ahead, behind = race.entries
    while not ahead.ended:
        ahead.advance()
    behind.advance()
    behind.advance()
    found = rank(race.entries, 1e-5)
    assert found.winners[0].entry is ahead
    assert found.open == (behind,)
    while not behind.ended:
        behind.advance()
    found = rank(race.entries, 1e-5)
    assert found.open == ()
    assert {finish.entry for finish in found.winners} == {ahead, behind}


def test_an_entry_with_a_residual_gap_is_not_ranked():
    race = Race([entry_of()])
    race.wait(LIMIT)
    (entry,) = race.entries
    entry.run.history.confirm(3, 1e3 * entry.run.history["residual"][3])
    found = rank(race.entries, 1e-5)
    assert found.finished == ()
    assert found.residual_gap == (entry,)


def test_bytes_are_those_of_the_plan_and_unknown_for_functions():
    race = Race([entry_of(), entry_of(preconditioner="none")])
    race.wait(LIMIT)
    jacobi, plain = (entry.iteration_bytes for entry in race.entries)
    # Twelve words an unknown with Jacobi, and a byte for the coefficients of A.
    assert jacobi == (12 * 8 + 1) * 24 * 24
    assert plain < jacobi


def test_seconds_and_iterations_of_a_delay():
    # Nine iterations of 1 s, one of 21 s: 20 s were others'.
    found = delay(np.cumsum([5.0, 1, 1, 1, 1, 21, 1, 1, 1, 1, 1]))
    assert (found.seconds, found.iterations.tolist()) == (20, [5])
    for clock in (np.arange(10.0), np.array([1.0])):
        found = delay(clock)
        assert (found.seconds, found.iterations.size) == (0, 0)


@pytest.mark.parametrize("tolerance", [0.0, -1.0, float("nan")])
def test_a_tolerance_is_above_zero(tolerance):
    with pytest.raises(InputError, match="above 0"):
        rank([], tolerance)


def test_an_unknown_measure_is_an_error():
    with pytest.raises(InputError, match="did you mean seconds"):
        rank([], 1e-3, "second")
