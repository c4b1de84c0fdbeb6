"""Runs of a race that are made again, and the medians of their times."""

import gc
import threading
import weakref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from tests.waiting import LIMIT, until
from workbench.run import Race, State, Stopping, configure
from workbench.run.jobs import repeats as repeats_module
from workbench.run.jobs.ranking import LEVEL, Median, Sample, middle, rank, timed_runs
from workbench.run.jobs.repeats import LEAST, Repeats
from workbench.run.jobs.run_queue import RunQueue

METHODS = ({"preconditioner": "jacobi"}, {"preconditioner": "neumann:2"})


@pytest.fixture
def ended():
    race = Race([configure("two-layer", n=16, **method) for method in METHODS], queue=RunQueue())
    race.wait(LIMIT)
    return race.entries


def repeated(entries, **more):
    repeats = Repeats(entries, queue=RunQueue(), **more)
    repeats.start()
    repeats.wait(LIMIT)
    assert not repeats.alive
    return repeats


def test_short_runs_are_made_until_their_medians_are_known(ended):
    # Enough for runs of milliseconds, and a bound where others disturb them so much that no median becomes known.
    repeats = repeated(ended, budget=10.0)
    assert repeats.state is State.DONE
    for entry, samples in repeats.samples.items():
        assert len(samples) >= LEAST
        assert {sample.seconds.size for sample in samples} == {entry.run.history.count}
        assert all(np.all(np.diff(sample.seconds) >= 0) and sample.setup > 0 for sample in samples)
    found = rank(ended, 1e-6, "seconds", samples=repeats.samples)
    for finish in found.finished:
        totals = [sample.setup + sample.seconds[finish.iterations] for sample in repeats.samples[finish.entry]]
        assert finish.amount == pytest.approx(sorted(totals)[(len(totals) - 1) // 2])
        assert finish.times.low <= finish.amount <= finish.times.high
    iterations = rank(ended, 1e-6, "iterations", samples=repeats.samples)
    assert all(finish.times is None for finish in iterations.finished)


def test_no_round_begins_that_would_take_longer_than_is_left(ended):
    repeats = repeated(ended, budget=0.0)
    assert (repeats.rounds, repeats.due) == (0, [])
    first = rank(ended, 1e-6, "seconds", samples=repeats.samples).finished[0]
    assert first.times is None


def test_entries_that_did_not_converge_are_not_run_again():
    few = Stopping(maxiter=3)
    race = Race([configure("two-layer", n=16), configure("two-layer", n=16, stopping=few)], queue=RunQueue())
    race.wait(LIMIT)
    assert list(Repeats(race.entries).samples) == [race.entries[0]]


def test_rounds_are_paused_and_stopped(ended, monkeypatch):
    monkeypatch.setattr("workbench.run.jobs.repeats.KNOWN", -1.0)
    rounds = []
    repeats = Repeats(ended, lambda: rounds.append(repeats.rounds), RunQueue(), budget=1e9)
    repeats.start()
    until(lambda: repeats.rounds >= 2)
    assert repeats.alive
    repeats.stop()
    repeats.wait(LIMIT)
    assert (repeats.state, repeats.ending) == (State.DONE, False)
    # The round in which it was stopped does not count.
    assert rounds[-1] == repeats.rounds
    assert repeats.due == []


@given(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=30))
def test_the_interval_of_a_median_contains_it_with_the_level(numbers):
    median, count = Median.of(numbers), len(numbers)
    assert median.low <= median.value <= median.high
    assert median.count == count
    found = sorted(numbers)
    # The largest k whose interval has the level, by SciPy's binomial distribution; 1 where none has.
    k = max([1, *(k for k in range(1, count // 2 + 1) if 1 - 2 * binom.cdf(k - 1, count, 0.5) >= LEVEL)])
    assert (median.low, median.high) == (found[k - 1], found[-k])


def test_a_run_that_took_fewer_iterations_counts_to_its_end(ended):
    samples = {ended[0]: (Sample(1.0, np.array([0.0, 2.0])), Sample(1.0, np.array([0.0, 2.0])))}
    (finish,) = [each for each in rank(ended, 1e-6, "seconds", samples=samples).finished if each.entry is ended[0]]
    assert (finish.amount, finish.setup) == (3.0, 1.0)
    (finish,) = [
        each
        for each in rank(ended, 1e-6, "seconds", samples=samples, with_setup=False).finished
        if each.entry is ended[0]
    ]
    assert finish.amount == 2.0


def test_few_times_do_not_decide_what_is_within_a_guess(ended):
    def winners(count, seconds):
        made = {
            entry: (Sample(0.0, np.array([0.0, each])),) * count for entry, each in zip(ended, seconds, strict=True)
        }
        return len(rank(ended, 1e-6, "seconds", samples=made).winners)

    assert [winners(count, (0.100, 0.101)) for count in (1, 4, 5)] == [2, 2, 1]
    assert winners(1, (0.1, 0.2)) == 1


def test_a_pause_between_two_rounds_holds_the_next(ended, monkeypatch):
    monkeypatch.setattr("workbench.run.jobs.repeats.KNOWN", -1.0)
    repeats = Repeats(ended, lambda: repeats.pause(), RunQueue(), budget=1e9)
    repeats.start()
    until(lambda: repeats.rounds == 1 and repeats.state is State.PAUSED)
    repeats.wait(0.2)
    assert (repeats.rounds, repeats.state, repeats.alive) == (1, State.PAUSED, True)
    repeats.resume()
    until(lambda: repeats.rounds == 2)
    repeats.stop()
    repeats.wait(LIMIT)
    assert (repeats.alive, repeats.state) == (False, State.DONE)


def test_runs_are_freed_when_all_have_ended(ended, monkeypatch):
    made = []

    class Noted(Race):
        def __init__(self, *given, **more):
            super().__init__(*given, **more)
            made.append(weakref.ref(self))

    monkeypatch.setattr("workbench.run.jobs.repeats.Race", Noted)
    repeated(ended)
    assert made
    # The thread of the last race may still be returning from its work.
    until(lambda: gc.collect() >= 0 and not any(race() for race in made))


def test_an_entry_that_is_left_out_is_run_no_more(ended, monkeypatch):
    monkeypatch.setattr("workbench.run.jobs.repeats.KNOWN", -1.0)
    repeats = Repeats(ended, queue=RunQueue(), budget=1e9)
    repeats.start()
    until(lambda: repeats.rounds >= 1)
    repeats.leave_out(ended[0])
    assert repeats.due == [ended[1]]
    before = repeats.rounds
    until(lambda: repeats.rounds > before + 1)
    assert list(repeats.samples) == [ended[1]]
    repeats.stop()
    repeats.wait(LIMIT)


def test_a_round_that_ends_in_the_background_keeps_nobody_waiting(ended, monkeypatch):
    monkeypatch.setattr("workbench.run.jobs.repeats.KNOWN", -1.0)
    inside, free = threading.Event(), threading.Event()
    made = repeats_module.Race.wait

    def slow(race, *given):
        inside.set()
        free.wait(LIMIT)
        return made(race, *given)

    monkeypatch.setattr(repeats_module.Race, "wait", slow)
    repeats = Repeats(ended, queue=RunQueue(), budget=1e9)
    repeats.start()
    until(inside.is_set)
    assert (repeats.alive, repeats.lingering) == (True, False)
    repeats.stop()
    # Its round has not been set up, so that nothing of it counts as working.
    until(lambda: repeats.lingering)
    assert (repeats.alive, repeats.ending, repeats.state) == (False, False, State.DONE)
    free.set()
    repeats.wait(LIMIT)
    assert not repeats.lingering


def test_the_run_in_the_middle_is_the_one_of_median_time():
    samples = [Sample(setup, np.array([0.0, 1.0])) for setup in (3.0, 1.0, 2.0, 9.0)]
    assert middle(samples[:3]).setup == 2.0
    assert middle(samples).setup == 2.0


def test_the_run_that_stands_for_an_entry_is_that_of_its_median_time_to_the_tolerance(ended):
    entry = ended[0]
    count = entry.made.history.count
    # By their totals, 6, 5 and 4, the second is in the middle; without setup, 1, 3 and 2, the third is.
    samples = {
        entry: [Sample(setup, np.linspace(0, end, count)) for setup, end in ((5.0, 1.0), (2.0, 3.0), (2.0, 2.0))]
    }
    for with_setup, place in ((True, 1), (False, 2)):
        found = rank(ended[:1], 1e-6, "seconds", with_setup=with_setup, samples=samples)
        (finish,) = found.finished
        run = timed_runs(found, samples)[entry]
        assert run is samples[entry][place]
        assert finish.amount == with_setup * run.setup + run.seconds[finish.iterations]
        assert finish.setup == with_setup * run.setup
    by_iterations = rank(ended[:1], 1e-6, "iterations", samples=samples)
    assert timed_runs(by_iterations, samples)[entry] is samples[entry][1]
