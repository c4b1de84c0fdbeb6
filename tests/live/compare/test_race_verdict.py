"""The verdict of a race: one line of at most 100 characters, which says no more than was measured."""

import functools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.live.compare.race_text import measured_again
from workbench.live.compare.race_verdict import LONGEST, remarks, verdict
from workbench.records import History
from workbench.run import Race, configure
from workbench.run.jobs.ranking import Finish, Median, Ranking, rank
from workbench.run.jobs.run_queue import RunQueue

BUBBLES = configure("bubbles-2d", n=256).problem
METHODS = (
    {"preconditioner": "mg"},
    {"preconditioner": "neumann:2", "deflation": "levelset:8"},
    {"preconditioner": "jacobi"},
    {"preconditioner": "neumann:2"},
)


@functools.cache
def entries_of(count=4, n=256, **choices):
    made = [configure("bubbles-2d", n=n, **METHODS[place], **choices) for place in range(count)]
    return Race(made, queue=RunQueue()).entries


def found(entries, amounts, measure="seconds", **more):
    ends = [Finish(entry, int(amount), amount) for entry, amount in zip(entries, amounts, strict=False)]
    return Ranking(1e-6, measure, tuple(ends), **{"open": (), "residual_gap": (), "uncounted": (), **more})


def said(entries, amounts, measure="seconds", **more):
    return verdict(found(entries, amounts, measure, **more), BUBBLES, 1e-6, entries=entries)


@pytest.fixture(autouse=True)
def two_cores(monkeypatch):
    monkeypatch.setattr("workbench.live.compare.race_verdict.usable_cores", lambda: 2)


def test_the_winner_and_its_lead_are_one_line():
    text = said(entries_of(), [0.1, 0.3, 0.5])
    assert (
        text == "4 bubbles 256², 2 cores: Geometric multigrid in 0.10\u202fs, 3.0 times ahead of Neumann 2, 8² blocks…"
    )
    first, last = entries_of()[2:4], [0.1, 1.0]
    assert said(first, last) == (
        "4 bubbles in a square 256², 2 cores: Jacobi in 0.10\u202fs, 10 times ahead of Neumann 2"
    )
    assert said(first, [12, 15], "iterations").endswith("Jacobi in 12 iterations, 1.2 times fewer than Neumann 2")
    assert said(first, [1e6, 2e6], "bytes").endswith("Jacobi with 1.00\u202fMB, 2.0 times less than Neumann 2")
    assert said(first, last, open=(first[1],)).endswith(" so far")


def test_what_is_within_the_spread_is_too_close_to_call():
    entries = entries_of()
    close = "4 bubbles in a square 256², 2 cores: Jacobi and Neumann 2 are too close to call"
    assert said(entries[2:], [0.10, 0.11]) == f"{close}, 0.10\u202fs to 0.11\u202fs"
    poisson = configure("poisson5", n=64).problem
    assert verdict(found(entries[2:], [0.10, 0.11]), poisson, 1e-6, entries=entries[2:]) == (
        "Poisson 64², 2 cores: Jacobi and Neumann 2 are too close to call, 0.10\u202fs to 0.11\u202fs"
    )
    assert said(entries, [0.1, 0.105, 0.11]).endswith("3 methods are too close to call, 0.10\u202fs to 0.11\u202fs")
    # Iterations are exact.
    assert said(entries[2:], [100, 101], "iterations").endswith("100 iterations, 1.01 times fewer than Neumann 2")
    assert "Jacobi and Neumann 2 in 100 iterations" in said(entries[2:], [100, 100], "iterations")


def test_the_note_says_how_times_to_the_tolerance_were_measured():
    one, two = entries_of()[2:]
    ends = [Finish(one, 9, 0.1, times=Median(0.1, 0.1, 0.1, 3)), Finish(two, 9, 0.2, times=Median(0.2, 0.2, 0.2, 5))]
    assert measured_again(Ranking(1e-6, "seconds", tuple(ends), (), (), ())) == (
        "Times to tolerance are medians of 3 to 5 more runs with loaded kernels. "
        "Curves, setup and iterating are those of the median run."
    )
    assert " of 3 more runs " in measured_again(Ranking(1e-6, "seconds", tuple(ends[:1]), (), (), ()))
    once = Finish(one, 9, 0.1, times=Median(0.1, 0.1, 0.1, 1))
    assert measured_again(Ranking(1e-6, "seconds", (once,), (), (), ())) == (
        "Times and curves are those of a second run, with loaded kernels."
    )
    assert measured_again(found([one, two], [0.1, 0.2])) == ""


def test_measured_spreads_replace_the_guess():
    one, two = entries_of()[2:]
    near = (
        Finish(one, 9, 0.100, times=Median(0.100, 0.099, 0.101, 5)),
        Finish(two, 9, 0.104, times=Median(0.104, 0.103, 0.105, 5)),
    )
    assert "1.04 times ahead of" in verdict(
        Ranking(1e-6, "seconds", near, (), (), ()), BUBBLES, 1e-6, entries=(one, two)
    )
    far = Finish(one, 9, 0.1, times=Median(0.1, 0.05, 0.3, 3)), Finish(two, 9, 0.2, times=Median(0.2, 0.19, 0.4, 3))
    assert "too close to call" in verdict(Ranking(1e-6, "seconds", far, (), (), ()), BUBBLES, 1e-6, entries=(one, two))


def test_one_entry_wins_against_nothing_and_a_missing_winner_has_its_reason():
    entries = entries_of()
    assert said(entries[2:3], [0.5]).endswith("Jacobi in 0.50\u202fs; add a method to compare")
    none = found(entries, [])
    assert verdict(none, BUBBLES, 1e-6, entries=entries) == "No entry reached 10⁻⁶."
    assert verdict(none, BUBBLES, 1e-3, entries=entries) == "The entries stop at 0.001; run them again to 10⁻⁶."
    assert verdict(none, BUBBLES, 1e-3, entries=entries[:1]) == "The entry stops at 0.001; run it again to 10⁻⁶."
    running = found(entries, [], open=entries)
    assert verdict(running, BUBBLES, 1e-6, entries=entries) == "No entry has reached 10⁻⁶ yet."


def test_a_name_is_not_cut_to_that_of_another_entry():
    spaces = ("levelset:8", "levelset:4", "blocks:4")
    bubbles = configure("bubbles-2d", n=48, layout="random", count=9)
    made = [configure(bubbles.problem, deflation=each, coarse="inverse") for each in spaces]
    entries = Race(made, queue=RunQueue()).entries
    ranking = found(entries, [22e6, 26e6, 87e6], "bytes")
    text = verdict(ranking, bubbles.problem, 1e-6, entries=entries)
    assert (
        text == "48², 2 cores: 8² blocks split by phase with 22.0\u202fMB, 1.2 times less than 4² blocks split by phase"
    )
    # Both names would be cut.
    slower = verdict(found(entries, [21, 53, 90], "iterations"), bubbles.problem, 1e-6, entries=entries[:2])
    assert slower == "48², 2 cores: 8² blocks split by phase in 21 iterations, 2.5 times fewer than 4² blocks split by…"
    # Where no entry has the shorter name, the problem stays.
    shorter = verdict(ranking, bubbles.problem, 1e-6, entries=entries[:2])
    assert shorter.startswith("9 random bubbles 48², 2 cores: ")
    assert shorter.endswith("less than 4² blocks…")


def test_devices_are_named_where_all_entries_share_one():
    assert ", OpenCL: Jacobi" in said(entries_of(device="opencl")[2:], [0.1, 1.0])
    mixed = Race([configure("bubbles-2d", n=64, device=device) for device in ("cpu", "opencl")], queue=RunQueue())
    assert ", this machine: On CPU in 0.10" in said(mixed.entries, [0.1, 1.0])


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.floats(1e-9, 1e6), min_size=0, max_size=4),
    st.sampled_from(["seconds", "iterations", "bytes"]),
    st.integers(1, 4),
)
def test_a_verdict_is_one_line(amounts, measure, count):
    entries = entries_of(count, solver="pipecg", precision="mixed")
    text = said(entries, sorted(amounts)[:count], measure)
    assert 0 < len(text) <= LONGEST
    assert "\n" not in text


def test_an_entry_that_other_work_disturbed_has_a_remark_unless_its_time_is_a_median(monkeypatch):
    race = Race([configure("two-layer", n=16)], queue=RunQueue())
    race.wait(60)
    (entry,) = race.entries
    columns = entry.run.history.to_arrays()
    rows = np.arange(entry.run.history.count)
    delayed = History.from_arrays(columns | {"seconds": 1e-3 * rows + (rows >= 5)})
    monkeypatch.setattr(type(entry.run), "history", property(lambda _run: delayed))
    ((word, reason),) = remarks(rank(race.entries, 1e-6, "seconds")).values()
    assert word == "disturbed"
    assert reason == "Other work on this machine delayed it for 1.00\u202fs in iteration 5, so its time is overstated."
    assert not remarks(rank(race.entries, 1e-6, "iterations"))
    times = Finish(entry, 9, 1.0, times=Median(1.0, 0.9, 1.1, 5))
    assert not remarks(Ranking(1e-6, "seconds", (times,), (), (), ()))


@pytest.mark.parametrize("name", ["heat-steps", "rising-bubbles"])
def test_a_size_of_many_words_leaves_one_line(name):
    entries = entries_of()
    problem = configure(name).problem
    for measure, amounts in (("iterations", [12000, 12120]), ("bytes", [1e-9, 1e9]), ("seconds", [0.1, 1.0])):
        text = verdict(found(entries, amounts, measure, open=entries[2:]), problem, 1e-6, entries=entries)
        assert len(text) <= LONGEST
        assert "64 cells" in text


def test_names_that_would_be_cut_to_the_same_keep_more():
    one, two = Race(
        [configure("bubbles-2d", n=256, deflation="levelset:8", preconditioner=f"neumann:{order}") for order in (1, 2)],
        queue=RunQueue(),
    ).entries
    text = said([one, two], [0.1, 0.3])
    assert len(text) <= LONGEST
    assert "Neumann 1" in text
    assert "Neumann 2" in text
