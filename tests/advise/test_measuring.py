"""Solves at full size in a search: neighbours of the best, estimates that no neighbour supports, repeats in turns."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest

from tests.waiting import LIMIT
from workbench.advise import advising, advisor, budget, measuring
from workbench.advise.advice import Estimate, Probed, RuledOut, Stage, ranked
from workbench.advise.budget import Budget
from workbench.advise.level_pairs import LevelPair
from workbench.advise.measuring import OFF, Measuring, bounds, nearest, neighbours
from workbench.errors import InputError
from workbench.run.jobs.ranking import Median


def pair(first="neumann:2", second="blocks:8", coarse="cholesky"):
    return LevelPair(first, second, coarse, "cpu")


def measured(of, seconds, *more):
    return Estimate(of, 20, 0.0, seconds, True, times=Median.of([seconds, *more]))


def predicted(of, seconds):
    return Estimate(of, 20, 0.0, seconds, False, 16)


class FakeRun:
    """A run of ten iterations that takes some seconds by its own clock; setup takes none."""

    setup_seconds = 0.0
    setup = SimpleNamespace(deflation_vectors=0)

    def __init__(self, seconds, converges=True):
        self.seconds, self.converges, self.iterations = seconds, converges, 0
        self.history = {"seconds": [k * seconds / 10 for k in range(11)]}

    def step(self):
        self.iterations += 1
        return self.iterations < 10

    @property
    def iteration_seconds(self):
        return self.iterations * self.seconds / 10

    def result(self):
        return SimpleNamespace(converged=self.converges, iterations=10, summary={"reason": "it diverges"})


@pytest.fixture(autouse=True)
def known_rate(monkeypatch):
    """Runs of the stand-in have no norms; ten iterations are what all of them need. The best needs no rivals."""
    monkeypatch.setattr(measuring, "LEAST_MEASURED", 1)
    needed = measuring.iterations_needed
    monkeypatch.setattr(measuring, "iterations_needed", lambda run: 10 if isinstance(run, FakeRun) else needed(run))


class Machine:
    """Seconds of pairs, a list for those that vary from solve to solve; all others are refused. solved: in order."""

    def __init__(self, seconds, failing=()):
        self.seconds, self.failing, self.solved, self.refused = dict(seconds), failing, [], []
        self.made = []

    def begin(self, of):
        if of not in self.seconds:
            raise InputError("there is no such pair")
        self.solved.append(of)
        took = self.seconds[of]
        if isinstance(took, list):
            took = took[(self.solved.count(of) - 1) % len(took)]
        self.made.append(FakeRun(took, of not in self.failing))
        return self.made[-1]

    def search(self, candidates, found=(), budget=None):
        made = Measuring(
            self.begin,
            "the problem",
            2,
            {row.pair: row for row in found},
            lambda of, why: self.refused.append(of) or RuledOut(of, why),
            lambda: False,
            budget,
        )
        return made, list(made.all(candidates))


def test_neighbours_are_an_order_or_a_number_of_blocks_away():
    assert neighbours(pair(), 2) == [
        pair("neumann:1"),
        pair("neumann:3"),
        pair(second="blocks:4"),
        pair(second="blocks:16"),
    ]
    # E of 16 blocks per side in three dimensions is too large for a band.
    assert pair(second="blocks:16", coarse="multilevel") in neighbours(pair(), 3)
    assert neighbours(pair("block-ic:8", "none"), 2) == [pair("block-ic:4", "none"), pair("block-ic:16", "none")]
    assert neighbours(pair("neumann:1", "none"), 2) == [pair("neumann:2", "none")]
    assert neighbours(pair("amg:sa", "stripes"), 2) == []


def test_an_estimate_is_bounded_by_its_two_nearest_measured_neighbours_of_one_parameter():
    rows = {of: measured(of, took) for of, took in ((pair("neumann:1"), 1.0), (pair("neumann:3"), 2.0))}
    assert bounds(pair(), rows) == (1 / OFF, 2 * OFF)
    assert bounds(pair(second="none"), rows) == (0.0, math.inf)
    # The farther one of three has no say.
    rows[pair("neumann:9")] = measured(pair("neumann:9"), 50.0)
    assert [{row.seconds for row in two} for two in nearest(pair(), rows)] == [{1.0, 2.0}]


def test_the_neighbours_of_the_best_are_solved_until_none_is_better():
    took = {pair(f"neumann:{k}"): 1.0 + abs(k - 5) for k in range(1, 9)}
    machine = Machine(took)
    search, events = machine.search([pair("neumann:2")])
    assert search.best.pair == pair("neumann:5")
    assert set(machine.solved) == {pair(f"neumann:{k}") for k in range(1, 7)}
    assert any(isinstance(event, Stage) and event.doing == "neighbours of the best" for event in events)
    # Other numbers of blocks do not exist here, which rules them out.
    assert pair("neumann:5", "blocks:16") in machine.refused


def test_another_first_level_is_solved_where_its_estimate_may_be_wrong_and_a_hopeless_one_is_not():
    jacobi, ic = pair("jacobi"), pair("ic")
    machine = Machine({pair(): 1.0, jacobi: 0.5, ic: 0.5})
    search, _ = machine.search([pair()], [predicted(pair(), 1.0), predicted(jacobi, 2.9), predicted(ic, 3.1)])
    assert search.best.pair == jacobi
    # By then the estimate of ic is 6 times the best.
    assert ic not in machine.solved


@pytest.mark.parametrize("wrong", [20.0, 0.01])
def test_an_estimate_far_from_its_neighbours_is_measured(wrong):
    one, two, three = (pair(f"neumann:{k}", "none") for k in (1, 2, 3))
    machine = Machine({one: 1.0, two: 1.6, three: 1.2, pair("jacobi", "none"): 0.5})
    found = [predicted(pair("jacobi", "none"), 0.5), predicted(two, wrong)]
    search, _ = machine.search([one, three, pair("jacobi", "none")], found)
    assert search.rows[two].seconds == (1.6 if search.rows[two].measured else pytest.approx(3.2))
    assert two in machine.solved
    low, high = bounds(two, {of: row for of, row in search.rows.items() if row.measured})
    assert low <= search.rows[two].seconds <= high


def test_a_pair_that_takes_longer_than_its_neighbours_says_how_long_it_ran():
    one, two, three = (pair(f"neumann:{k}", "none") for k in (1, 2, 3))
    machine = Machine({one: 1.0, two: 40.0, three: 1.2})
    search, _ = machine.search([three, one], [predicted(two, 20.0)])
    row = search.rows[two]
    assert (row.measured, row.at_least) == (False, True)
    assert row.seconds == pytest.approx(OFF * 1.2, rel=0.5)
    assert row.basis.startswith("stopped after ")


def test_a_pair_that_does_not_converge_is_ruled_out_once():
    one, two, three = (pair(f"neumann:{k}", "none") for k in (1, 2, 3))
    machine = Machine({one: 1.0, two: 1.0, three: 1.2}, failing=[two])
    search, events = machine.search([three, one], [predicted(two, 20.0)])
    assert machine.solved.count(two) == 1
    assert two not in search.rows
    assert [event.reason for event in events if isinstance(event, RuledOut) and event.pair == two] == [
        "does not converge on the problem: it diverges"
    ]


@pytest.mark.parametrize("alone", [True, False])
@pytest.mark.parametrize("refuses", [True, False])
def test_a_pair_that_fails_when_solved_again_is_dropped(alone, refuses):
    one, two = pair("neumann:1", "none"), pair("jacobi", "none")
    machine = Machine({one: 1.0, two: 1.1})
    begin = machine.begin

    def again(of):
        if of == one and one in machine.solved:
            if refuses:
                raise InputError("the device is lost")
            machine.failing = [one]
        return begin(of)

    machine.begin = again
    search, _ = machine.search([one] if alone else [one, two])
    assert one not in search.rows
    assert (search.best and search.best.pair) == (None if alone else two)
    assert machine.solved.count(one) <= 2


def test_the_fastest_are_solved_in_turns_until_their_medians_are_known():
    fast, slow, other = pair("jacobi", "none"), pair("ic", "none"), pair("mic", "none")
    machine = Machine({fast: [0.14, *[0.1] * 9], slow: 0.1, other: 1.0})
    search, _ = machine.search([fast, slow, other])
    assert search.rows[fast].seconds == search.rows[slow].seconds == pytest.approx(0.1)
    assert search.rows[fast].close_to(search.rows[slow])
    # One to load kernels and five that count; those far behind are stopped.
    assert [machine.solved.count(each) for each in (fast, slow)] == [6, 6]
    assert machine.solved[3:] == 5 * [fast, slow]


def test_repeats_end_when_their_time_is_spent(monkeypatch):
    monkeypatch.setattr(measuring, "BUDGET", 0.5)
    noisy = pair("jacobi", "none")
    machine = Machine({noisy: [0.1, 0.2]})
    search, _ = machine.search([noisy])
    assert 3 <= machine.solved.count(noisy) <= 7
    assert search.rows[noisy].times.spread > 0.1
    assert "runs ± " in search.rows[noisy].basis


def test_the_best_has_rivals_that_were_measured(monkeypatch):
    monkeypatch.setattr(measuring, "LEAST_MEASURED", 3)
    pairs = [pair(first, "none") for first in ("jacobi", "ic", "mic", "ssor", "fsai")]
    machine = Machine(dict(zip(pairs, (1.0, 1.6, 1.8, 2.0, 9.0), strict=True)))
    search, _ = machine.search(pairs)
    assert [of for of, row in search.rows.items() if row.measured] == pairs[:3]
    assert {search.rows[of].at_least for of in pairs[3:]} == {False}


def test_a_solve_that_was_stopped_does_not_call_its_own_grid_a_coarser_one():
    one, two = pair("jacobi", "none"), pair("ic", "none")
    machine = Machine({one: 0.1, two: 1.0})
    search, events = machine.search([one, two], [predicted(two, 0.1)])
    row = search.rows[two]
    assert row.basis == f"stopped at iteration {row.stopped_at}"
    # Its iterations are those that coarser grids predict, at the time that each takes here.
    assert (row.iterations, row.seconds) == (20, pytest.approx(2.0))
    assert Probed(row, None) in events


def test_no_estimate_is_ranked_before_the_best_that_was_measured():
    rows = [predicted(pair("ic"), 0.5), measured(pair(), 1.0), predicted(pair("mic"), 2.0), measured(pair("ssor"), 3.0)]
    assert [row.pair.preconditioner for row in ranked(rows)] == ["neumann:2", "ic", "mic", "ssor"]


@pytest.mark.parametrize(("name", "size"), [("bubbles-2d", 48), ("two-layer", 64), ("bubbles-3d", 16)])
def test_no_estimate_of_a_search_stands_three_times_off_two_measured_neighbours(name, size, monkeypatch, brief_search):
    monkeypatch.setattr(advisor, "MIN_UNKNOWNS_TO_COARSEN", 2000)
    monkeypatch.setattr(measuring, "MIN_SECONDS", 0.002)
    # By default the search ends after two seconds, before its last solves where the machine is busy.
    *events, end = advising(name, n=size, seconds=LIMIT)
    advice = end.advice
    rows = {row.pair: row for row in advice.estimates if row.measured}
    # Of the others each may have been stopped, where other work disturbs them.
    assert len(rows) > 1 or all(row.at_least for row in advice.estimates if row.pair not in rows)
    for row in advice.estimates:
        low, high = bounds(row.pair, rows)
        assert row.measured or row.at_least or low <= row.seconds <= high, row
    best = advice.estimates[0].pair
    known = {row.pair for row in advice.estimates} | set(advice.refused)
    assert any(isinstance(event, Stage) and event.doing for event in events)
    missing = [each for each in neighbours(best, len(advice.best.problem.assemble().grid)) if each not in known]
    assert all(each.label in advice.refused for each in missing)
    assert not any(f"n = {size}" in row.basis for row in advice.estimates)


def spending(machine, monkeypatch):
    """The clock of budgets: the seconds that the runs of a machine have taken."""
    monkeypatch.setattr(budget, "_clock", lambda: sum(run.iteration_seconds for run in machine.made))


def test_a_budget_ends_the_search_and_the_solve_in_progress(monkeypatch):
    pairs = [pair(f"neumann:{k}", "none") for k in range(1, 9)]
    machine = Machine(dict.fromkeys(pairs, 1.0))
    spending(machine, monkeypatch)
    search, _ = machine.search(pairs, budget=Budget(3.5))
    assert machine.solved == pairs[:4]
    assert [row.measured for row in search.rows.values()] == [True, True, True, False]
    assert search.rows[pairs[3]].stopped_at == 6
    assert search.tried == frozenset(pairs[:4])


def test_by_default_a_budget_is_a_multiple_of_the_fastest_solve_and_two_seconds_at_least(monkeypatch):
    monkeypatch.setattr(budget, "_clock", lambda: 0.0)
    search = Budget(None)
    assert search.left == math.inf
    for seconds, expected in ((10.0, 200.0), (2.0, 40.0), (3.0, 40.0), (0.01, 2.0)):
        search.note(seconds)
        assert search.seconds == search.left == pytest.approx(expected)
    assert Budget().seconds == math.inf


def test_neighbours_of_parts_of_a_graph_keep_their_coarse_solver():
    found = neighbours(pair("ic", "parts:100", "auto"), 1)
    assert found == [pair("ic", "parts:50", "auto"), pair("ic", "parts:200", "auto")]


def test_a_first_setup_that_loads_kernels_rules_no_pair_out():
    one, two, three = (pair(f"neumann:{k}", "none") for k in (1, 2, 3))
    machine = Machine({one: 0.01, two: 0.01, three: 0.01})
    begin, setups = machine.begin, {two: [0.5, 0.001], three: 9 * [2.0]}

    def loading(of):
        run = begin(of)
        run.setup_seconds = setups[of].pop(0) if setups.get(of) else 0.0
        return run

    machine.begin = loading
    search, _ = machine.search([one, two, three])
    assert search.rows[two].measured
    assert not search.rows[three].measured


def test_setup_and_iterations_of_a_pair_are_those_of_one_solve():
    """Of two solves after the first the median is the faster one, whose setup is shorter than the mean of both."""
    one, two = pair("neumann:1", "none"), pair("neumann:3", "none")
    machine = Machine({one: 0.01, two: 0.01})
    begin = machine.begin

    def uneven(of):
        run = begin(of)
        run.setup_seconds = 0.5 if machine.solved.count(of) % 2 else 0.002
        return run

    machine.begin = uneven
    search, _ = machine.search([one, two])
    for row in search.rows.values():
        assert row.times.count % 2 == 0
        assert (row.setup_seconds, row.iteration_seconds) == (0.002, pytest.approx(0.01))
        assert row.seconds == pytest.approx(row.times.value)
