"""The race's widget: lanes, axis, tolerance and winner, without a browser."""

import functools
import re
import threading

import numpy as np
import pytest

from tests.live.conftest import page_says
from tests.live.states import ENDLESS, bring
from tests.waiting import LIMIT
from workbench.errors import InputError
from workbench.live import ConvergenceView
from workbench.live.compare.race_form import method_of
from workbench.live.compare.race_opening import opening
from workbench.records import History, load
from workbench.run import Race, Run, Session, State, Stopping, configure
from workbench.run.cancellation import STOPPED_IN_SETUP
from workbench.run.jobs.race_record import EntryRecord
from workbench.run.jobs.ranking import Sample
from workbench.run.jobs.repeats import Repeats
from workbench.run.setup.setup_phases import SetupPhase
from workbench.words.numbers import amount, duration

CLOSE = "too close to call"
"""The verdict on entries that take a millisecond or two may be this, without their times."""


def lane_of(**choices):
    return configure("two-layer", n=24, **choices)


@pytest.fixture
def race(view_in):
    """The race of two methods by iterations, in a state."""
    return functools.partial(
        view_in,
        "race",
        lane_of(),
        lane_of(preconditioner="neumann:2", deflation="stripes"),
        measure="iterations",
        budget=0,
    )


@pytest.fixture
def view(race):
    return race()


@pytest.fixture
def ended_race(race):
    return race(state="ended")


def endless_lane():
    """Steepest descent on so many cells that no rounding errors end it."""
    return configure("two-layer", n=64, stopping=ENDLESS, solver="sd")


@pytest.fixture
def endless_race(view_in):
    return view_in("race", endless_lane(), state="racing")


def test_the_winner_is_named_by_the_measure_that_is_chosen(ended_race, eventually):
    view = ended_race
    (first, second) = view.race.entries
    # Names are cut where the line would be too long.
    wins = rf"{second.name[:9]}.* {second.run.iterations} iterations, [\d.]+ times fewer than {first.name}"
    eventually(lambda: re.search(wins, view.winner.text))
    view.look.set("measure", "bytes")
    spent = amount(second.run.iterations * second.iteration_bytes)
    eventually(lambda: f" {spent}, " in view.winner.text)
    view.look.set("measure", "seconds")
    best = view.ranking().finished[0]
    eventually(lambda: duration(best.amount, 2) in view.winner.text or CLOSE in view.winner.text)
    assert view.winner.quote == view.winner.text


def test_seconds_count_the_setup_unless_it_is_switched_off(ended_race, page_of, eventually):
    view = ended_race
    first, second = view.race.entries
    # The one that iterates faster has the longer setup.
    for entry, seconds in ((first, 0.125), (second, 1000.0)):
        entry.run.setup.phases.done = [SetupPhase("A", seconds, 0)]
        entry.run.setup.phases.compile_seconds = 4.5
    for curve, lane in zip(view.convergence.curves, (first, second), strict=True):
        curve.setup_seconds = lane.run.setup_seconds
    page = page_of(view.convergence)
    assert view.look.settings["with_setup"].disabled
    view.look.set("measure", "seconds")
    assert view.ranking().finished[0].entry is first
    took = duration(view.ranking().finished[0].amount, 2)
    eventually(lambda: f"{first.name} in {took}" in view.winner.text and f"ahead of {second.name}" in view.winner.text)
    # Compilation is in no time of an entry, and has a sentence of its own.
    eventually(lambda: view.note.text == "Compiling kernels took 9.00\u202fs more, once per machine.")
    setups = {cells[0]["text"][0]: cells[3]["text"] for cells in view.table.rows}
    assert setups == {"1": "0.125\u202fs", "2": "16\u202fmin 40\u202fs"}
    eventually(lambda: any(m["axis"] == "seconds" and len(m["curves"]) == 2 for m in page.messages))
    message, buffer = next(p for p in page.received if p[0]["axis"] == "seconds" and len(p[0]["curves"]) == 2)
    assert message["setup"]
    count = message["curves"][0]["count"]
    assert np.frombuffer(buffer, np.float32)[count] == np.float32(0.125 + first.run.history["seconds"][0])
    view.look.set("with_setup", False)
    iterating = {lane: lane.run.history["seconds"][lane.run.iterations] for lane in (first, second)}
    fastest = min(iterating, key=lambda lane: iterating[lane])
    assert view.ranking().finished[0].entry is fastest
    eventually(lambda: duration(iterating[fastest], 2) in view.winner.text or CLOSE in view.winner.text)
    eventually(lambda: not page.messages[-1]["setup"])


def test_a_lane_that_was_delayed_is_named_where_seconds_decide(ended_race, eventually, monkeypatch):
    view = ended_race
    first, second = view.race.entries
    histories = {}
    for lane, lost in ((first, 1.0), (second, 0.0)):
        rows = np.arange(lane.run.history.count)
        columns = lane.run.history.to_arrays() | {"seconds": 1e-3 * rows + lost * (rows >= 5)}
        histories[lane.run] = History.from_arrays(columns)
    monkeypatch.setattr(Run, "history", property(histories.get))
    view.look.set("measure", "seconds")
    # It stays, since the seconds do: so it says when, and how long.
    words = "Other work on this machine delayed it for 1.00\u202fs in iteration 5, so its time is overstated."

    def states():
        return {cells[0]["text"][0]: (cells[-1]["text"], cells[-1].get("tip", "")) for cells in view.table.rows}

    eventually(lambda: states()["1"] == ("converged, disturbed", words))
    assert "disturbed" not in states()["2"][0]
    view.look.set("measure", "iterations")
    eventually(lambda: states()["1"][0] == "converged")


def test_the_tolerance_is_typed(ended_race, eventually):
    view = ended_race
    view.look.set("tolerance", "1e-2")
    best = view.ranking().finished[0]
    assert (best.entry, view.ranking().tolerance) == (view.race.entries[1], 0.01)
    eventually(lambda: f" {best.iterations} iteration" in view.winner.text)
    assert {curve.line for curve in view.convergence.curves} == {0.01}
    view.look.set("tolerance", "3.3e-4")
    eventually(lambda: f" {view.ranking().finished[0].iterations} iterations" in view.winner.text)
    assert view.ranking().finished[0].iterations < view.race.entries[1].run.iterations
    view.look.set("tolerance", "1e-13")
    eventually(lambda: view.winner.text == "The entries stop at 10⁻⁶; run them again to 10⁻¹³.")
    assert not view.winner.quote


def test_a_press_adds_a_variation_of_the_first_entry_and_its_button_goes(view, eventually):
    chips = view.adding.variations
    eventually(lambda: chips["pipelined CG"].layout.display is None)
    assert chips["pipelined CG"].description == "+ pipelined CG"
    chips["pipelined CG"].click()
    assert [entry.configuration.solver.name for entry in view.race.entries] == ["cg", "cg", "pipecg"]
    eventually(lambda: chips["pipelined CG"].layout.display == "none")
    assert chips["mixed precision"].layout.display is None
    chips["mixed precision"].click()
    assert [entry.configuration.precision for entry in view.race.entries] == ["float64"] * 3 + ["mixed"]
    eventually(lambda: any("ixed precision" in cells[0]["text"] for cells in view.table.rows))
    eventually(lambda: chips["mixed precision"].layout.display == "none")


def test_the_form_of_a_method_has_its_precision_and_offers_no_change_of_what_all_entries_share(view):
    form = view.adding.form
    assert form.box.schema["advanced"] == ["coarse", "variant", "precision"]
    form.set("precision", "mixed")
    assert view.add_from_form().configuration.precision == "mixed"
    # The right-hand side that this norm needs is no choice of an entry.
    view.rebase(lane_of(stopping=Stopping(norm="error")))
    assert "Norm error needs a known solution" in form.conflict
    assert form.correction == ""
    assert view.adding.button.disabled


def test_short_runs_are_timed_again_and_their_medians_rank(view_in, eventually):
    view = view_in("race", lane_of(), lane_of(preconditioner="neumann:2"), state="ended")
    eventually(lambda: all(view.entries.samples.values()) and view.entries.samples and not view.entries.repeats.alive)
    finished = view.ranking().finished
    assert all(finish.times.count >= 2 for finish in finished)
    eventually(lambda: all("±" in cells[-2]["text"] for cells in view.table.rows))
    # They are in no list of runs, and a new entry has no times of them.
    assert len(view.runs.runs) == 2
    before = view.entries.repeats
    entry = view.add_from_form()
    assert view.entries.repeats is not before
    # The race is at work again, and the page follows it to its end.
    eventually(lambda: "3 entries: all have ended" in view.status.text and entry.ended)
    eventually(lambda: len(view.entries.samples) == 3)


def test_a_race_that_is_replaced_while_it_is_timed_again_leaves_no_job(view_in, eventually, monkeypatch):
    view = view_in("race", lane_of(), lane_of(preconditioner="neumann:2"), state="ended")
    eventually(lambda: view.entries.repeats is not None and not view.entries.repeats.alive)
    begins, goes_on, start = threading.Event(), threading.Event(), Repeats.start

    def slowly(repeats):
        begins.set()
        assert goes_on.wait(LIMIT)
        start(repeats)

    monkeypatch.setattr(Repeats, "start", slowly)
    view.entries.end_repeats()
    view.publisher.wake()
    assert begins.wait(LIMIT)
    # Let it go on once the other thread has had time to replace the race.
    timer = threading.Timer(0.3, goes_on.set)
    timer.start()
    view.show([lane_of(solver="pipecg"), lane_of()])
    timer.join()
    assert view.controller.jobs == (view.race,)
    assert view.entries.repeats is None


def test_a_removed_entry_is_not_timed_again(view_in, eventually, monkeypatch):
    monkeypatch.setattr("workbench.run.jobs.repeats.KNOWN", -1.0)
    methods = ("jacobi", "neumann:2", "none")
    view = view_in("race", *(lane_of(preconditioner=method) for method in methods), budget=1e9)
    view.start()
    eventually(lambda: view.entries.repeats is not None and view.entries.repeats.alive)
    gone, *left = view.race.entries
    view.remove(gone)
    assert list(view.entries.samples) == left
    repeats = view.entries.repeats
    view.close()
    repeats.wait(LIMIT)
    assert not repeats.alive
    assert view.entries.repeats is None


def test_a_race_that_is_stopped_is_not_timed_again(view_in, eventually):
    view = view_in("race", configure("two-layer", n=64), endless_lane())
    view.start()
    eventually(lambda: view.race.entries[0].ended and view.race.entries[1].run is not None)
    view.stop()
    eventually(lambda: view.status.state == "done")
    assert view.entries.repeats is None


def test_a_race_that_has_ended_runs_again(ended_race, eventually):
    view = ended_race
    lanes = view.race.entries
    eventually(lambda: not view.status.run.disabled)
    assert view.status.run.description == "Start again"
    view.status.run.click()
    assert [lane.configuration for lane in view.race.entries] == [lane.configuration for lane in lanes]
    assert not set(view.race.entries) & set(lanes)
    view.race.wait(LIMIT)
    eventually(lambda: "all have ended" in view.status.text and view.winner.quote)
    assert len(view.convergence.curves) == len(view.table.rows) == 2
    assert [lane.run.iterations for lane in view.race.entries] == [lane.run.iterations for lane in lanes]


def test_entries_that_run_again_are_new_runs_and_those_held_before_the_start_stay_held(view, eventually):
    first, second = view.race.entries
    view.remove(first)
    view.race.pause(second)
    third = view.add_from_form()
    view.look.change(tolerance=1e-3, own=True)
    view.start()
    held, begun = view.race.entries
    assert (held.configuration.preconditioner, begun.configuration.label) == (
        second.configuration.preconditioner,
        third.configuration.label,
    )
    assert (held.number, begun.number) == (1, 2)
    eventually(lambda: begun.ended)
    assert held.state is State.PAUSED


def test_a_tolerance_finer_than_the_lanes_own_is_offered_and_run_to(ended_race, eventually):
    view = ended_race
    assert view.again.layout.display == "none"
    view.look.set("tolerance", "1e-9")
    eventually(lambda: view.again.layout.display is None)
    assert view.again.description == "Run again to 10⁻⁹"
    view.again.click()
    view.race.wait(LIMIT)
    assert {lane.configuration.stopping.rtol for lane in view.race.entries} == {1e-9}
    assert {curve.line for curve in view.convergence.curves} == {view.look.present.tolerance} == {1e-9}
    eventually(lambda: view.winner.quote)
    eventually(lambda: view.again.layout.display == "none")
    # Lanes that come later stop there too.
    assert view.add_from_form().configuration.stopping.rtol == 1e-9


def test_the_tolerance_of_a_race_is_its_own(view):
    view.look.change(tolerance=1e-9, own=True)
    elsewhere = configure("poisson5", n=16, stopping=Stopping(rtol=1e-6, norm="natural"))
    view.rebase(elsewhere)
    bring(view, "ended")
    assert {(lane.configuration.stopping.norm, lane.configuration.stopping.rtol) for lane in view.race.entries} == {
        ("residual", 1e-9)
    }
    lanes = view.race.entries
    # Looser, to compare; another tolerance elsewhere takes nothing away.
    view.look.change(tolerance=1e-2, own=True)
    view.rebase(configure("poisson5", n=16, stopping=Stopping(rtol=1e-4)))
    assert view.race.entries == lanes
    assert view.look.present.tolerance == 1e-2
    assert {curve.line for curve in view.convergence.curves} == {1e-2}


def test_number_and_winner_follow_the_line_on_the_plot(ended_race, page_of, eventually):
    view = ended_race
    page = page_of(view.convergence)
    eventually(lambda: page.messages)
    page_says(view.convergence, {"kind": "tolerance", "value": 3.3e-4, "turn": 7})
    assert view.look.box.state["values"]["tolerance"] == "0.00033"
    eventually(lambda: f" {view.ranking().finished[0].iterations} iterations" in view.winner.text)
    eventually(lambda: page.messages[-1]["turn"] == 7)
    assert {message["tolerance"] for message in page.messages[-1]["curves"]} == {3.3e-4}
    page_says(view.convergence, {"kind": "tolerance", "value": None, "turn": 8})
    assert view.look.present.tolerance == view.base.stopping.rtol


@pytest.mark.parametrize("text", ["x", "0", "-1", "nan", ""])
def test_a_wrong_tolerance_is_marked_at_its_field_and_the_old_one_stays(view, text):
    before = view.look.present.tolerance
    view.look.set("tolerance", text)
    assert view.look.box.state["wrong"]["tolerance"].startswith("tolerance must be")
    assert view.look.present.tolerance == before
    view.look.set("tolerance", "1e-3")
    assert (view.look.present.tolerance, view.look.box.state["wrong"]) == (1e-3, {})


def test_lanes_come_from_the_form_while_others_run(endless_race, eventually):
    view = endless_race
    (first,) = view.race.entries
    view.adding.form.set("preconditioner", "neumann")
    view.adding.form.set("preconditioner.order", "3")
    assert view.adding.form.blocks["coarse"].choice.disabled
    view.adding.form.set("deflation", "stripes")
    view.adding.form.set("coarse", "sparse")
    view.adding.form.set("variant", "a-def2")
    lane = view.add_from_form()
    chosen = lane.configuration
    assert (chosen.preconditioner.spec, chosen.coarse.name, chosen.variant.name) == ("neumann:3", "sparse", "a-def2")
    assert lane.configuration.problem == first.configuration.problem
    eventually(lambda: lane.run and lane.run.iterations > 5)
    eventually(lambda: len(view.table.rows) == 2)
    view.pause()
    eventually(lambda: view.status.state == "paused")
    assert lane.state is State.PAUSED
    view.remove(lane)
    eventually(lambda: len(view.table.rows) == 1)
    assert len(view.convergence.curves) == 1
    view.stop()
    eventually(lambda: view.status.state == "done")
    assert not view.race.alive


def test_results_stay_and_are_said_to_be_of_their_problem_until_the_next_start_is_on_the_one_chosen(
    ended_race, eventually
):
    view = ended_race
    lanes, before = view.race.entries, view.base
    methods = [method_of(lane.configuration) for lane in lanes]
    other = configure("poisson5", n=16, solver="pipecg", stopping=Stopping(rtol=1e-4))
    with pytest.raises(InputError, match="rebase the race"):
        view.add(other)
    view.rebase(other)
    assert (view.race.entries, view.base) == (lanes, before)
    assert len(view.export("csv")) == 2
    # The bar is on what Start does, the sentence below it on what is shown.
    eventually(lambda: view.status.text == "Poisson, 16², 2 entries: press Start")
    assert view.status.run.description == "Start"
    assert "These results are of Two layers, 24². Start races the same methods on Poisson, 16²." in view.belongs.value
    view.status.run.click()
    assert [method_of(lane.configuration) for lane in view.race.entries] == methods
    assert {lane.configuration.problem for lane in view.race.entries} == {other.problem}
    assert {lane.configuration.stopping for lane in view.race.entries} == {other.stopping}
    assert view.look.present.tolerance == 1e-4
    view.race.wait(LIMIT)
    eventually(lambda: view.status.text == "Poisson, 16², 2 entries: all have ended")
    assert view.belongs.value == ""
    assert len(view.runs.of("Race")) == 4


def test_what_is_added_after_another_problem_was_chosen_is_on_that(ended_race, eventually):
    view = ended_race
    other = configure("poisson5", n=16, solver="pipecg")
    view.rebase(other)
    assert view.add_from_form().configuration == other
    assert {lane.configuration.problem for lane in view.race.entries} == {other.problem}
    eventually(lambda: len(view.table.rows) == 3 and view.status.text == "Poisson, 16², 3 entries: press Start")
    assert not view.convergence.curves


def test_what_was_chosen_and_is_so_no_more_leaves_no_mark(ended_race, eventually):
    view = ended_race
    lanes, before = view.race.entries, view.base
    view.rebase(configure("poisson5", n=16))
    eventually(lambda: "These results are of" in view.belongs.value)
    view.rebase(before)
    eventually(lambda: view.belongs.value == "" and view.status.run.description == "Start again")
    view.rebase(lane_of(rhs="random", stopping=Stopping(rtol=1e-4)))
    words = "of another right-hand side and stopping rule than chosen now"
    eventually(lambda: f"These results are {words}. Start races the same methods" in view.belongs.value)
    assert view.race.entries == lanes


def test_an_active_race_ends_on_its_problem_and_the_next_start_is_on_the_one_chosen(endless_race, eventually):
    view = endless_race
    (entry,) = view.race.entries
    view.rebase(configure("poisson5", n=16))
    eventually(lambda: "This race is of Two layers, 64²; when it has ended, press Start to race" in view.belongs.value)
    eventually(lambda: view.status.text.startswith("Two layers, 64², 1 entry: "))
    # What joins it is on its system.
    assert view.add_from_form().configuration.problem == entry.configuration.problem
    view.stop()
    eventually(lambda: not view.race.alive and not view.status.run.disabled)
    view.start()
    assert {lane.configuration.problem.label for lane in view.race.entries} == {"Poisson, 16²"}


def test_one_entry_wins_against_nothing(view_in, eventually):
    view = view_in("race", lane_of(), state="ended")
    eventually(lambda: view.winner.text.endswith("; add a method to compare"))
    assert view.fastest.value == ""
    (mark,) = view.table.marks
    assert mark == ""
    view.look.change(tolerance=1e-9, own=True)
    eventually(lambda: view.winner.text == "The entry stops at 10⁻⁶; run it again to 10⁻⁹.")


def test_a_race_opens_with_methods_of_its_problem_which_follow_it_until_they_are_changed(view_in):
    view = view_in("race", lane_of(), opening=opening)
    assert view.look.present.measure == "seconds"
    assert [lane.configuration for lane in view.race.entries] == opening(lane_of())
    assert view.adding.box.selected_index is None
    view.rebase(configure("stand-in"))
    assert [lane.configuration for lane in view.race.entries] == opening(configure("stand-in"))
    view.rebase(lane_of())
    bring(view, "ended")
    # After a start they stay where they fit.
    view.rebase(configure("two-layer", n=20, solver="pipecg"))
    view.join([])
    assert {lane.configuration.solver.name for lane in view.race.entries} == {"cg"}
    bring(view, "ended")
    view.rebase(configure("stand-in"))
    view.join([])
    assert [lane.configuration for lane in view.race.entries] == opening(configure("stand-in"))
    view.remove(view.race.entries[0])
    left = [method_of(lane.configuration) for lane in view.race.entries]
    view.rebase(lane_of())
    assert [method_of(lane.configuration) for lane in view.race.entries] == left


def test_lanes_that_wait_follow_the_stopping_rule_and_so_does_the_tolerance(view, eventually):
    view.rebase(lane_of(stopping=Stopping(rtol=1e-9)))
    assert {lane.configuration.stopping.rtol for lane in view.race.entries} == {1e-9}
    assert view.look.present.tolerance == 1e-9
    eventually(lambda: view.status.text == "Two layers, 24², 2 entries: press Start")
    view.look.change(tolerance=1e-3, own=True)
    view.rebase(lane_of(stopping=Stopping(rtol=1e-7)))
    assert view.look.present.tolerance == 1e-3


def test_a_page_that_is_turned_to_again_changes_nothing(view):
    view.adding.form.set("solver", "pipecg")
    lanes = view.race.entries
    view.rebase(lane_of())
    assert view.race.entries == lanes
    assert view.adding.form.blocks["solver"].choice.value == "pipecg"
    view.rebase(lane_of(solver="sd"))
    assert (view.race.entries, view.adding.form.blocks["solver"].choice.value) == (lanes, "sd")
    view.adding.form.set("solver", "pipecg")
    view.rebase(lane_of(solver="sd"))
    assert view.adding.form.blocks["solver"].choice.value == "pipecg"


def test_a_wrong_number_in_the_form_is_a_sentence(view, eventually):
    view.adding.form.set("preconditioner", "neumann")
    view.adding.form.set("preconditioner.order", "-1")
    view.adding.button.click()
    assert view.adding.form.box.state["wrong"] == {
        "preconditioner.order": "Order of the series must be between 1 and 16, got -1"
    }
    eventually(lambda: "order must be" in view.status.text)
    assert len(view.race.entries) == 2


def test_a_lane_that_fails_shows_its_sentence_in_its_row(view_in, eventually):
    failing = configure("two-layer", n=4, deflation="eigenvectors:400")
    view = view_in("race", failing, configure("two-layer", n=4), state="ended")
    bad, good = view.race.entries

    def state_of(entry):
        return next(cells[-1] for cells in view.table.rows if cells[0]["text"].startswith(str(entry.number)))

    eventually(lambda: "400 vectors" in state_of(bad).get("tip", ""))
    eventually(lambda: state_of(good)["text"] == "converged")
    assert bad.error in state_of(bad)["tip"]


def test_mpcg_races_and_is_left_out_where_bytes_decide(view_in, eventually):
    view = view_in("race", lane_of(solver="mpcg"), lane_of(), state="ended", measure="bytes")
    tips = lambda: [cells[-1].get("tip", "") for cells in view.table.rows]  # noqa: E731
    eventually(lambda: "Not ranked: the bytes of its iterations differ or are not known." in tips())
    assert all(entry.result.converged for entry in view.race.entries)


def test_exports_are_of_the_axis_that_is_shown(view, eventually):
    with pytest.raises(InputError, match="no entry has ended yet"):
        view.export("svg")
    bring(view, "ended")
    view.look.set("measure", "bytes")
    (path,) = view.export("svg")
    text = path.read_text(encoding="utf-8")
    assert "read and written by the iterations" in text
    assert "2: Neumann 2" in text
    paths = view.export("run")
    assert [load(path).summary["iterations"] for path in paths] == [lane.run.iterations for lane in view.race.entries]
    assert len(view.export("csv")) == 2


def test_positions_are_streamed_with_the_residuals(page_of, eventually, opened):
    race = Race([lane_of()])
    race.wait(LIMIT)
    (lane,) = race.entries
    convergence = opened(ConvergenceView(height=200))
    page = page_of(convergence)
    convergence.watch(lane)
    for axis in ("seconds", "bytes"):
        convergence.axis = axis
        count = lane.run.history.count
        eventually(lambda: any(m["axis"] == axis and m["curves"] for m in page.messages))  # noqa: B023
        message, buffer = next(p for p in page.received if p[0]["axis"] == axis and p[0]["curves"])
        (message,) = message["curves"]
        assert message["count"] == count
        residuals, places = np.frombuffer(buffer, np.float32).reshape(2, count)
        assert np.allclose(residuals, lane.run.history["residual"] / lane.run.norm_of_b, rtol=1e-6)
        steps = np.arange(count) * lane.iteration_bytes
        clock = lane.run.setup_seconds + lane.run.history["seconds"]
        assert np.allclose(places, clock if axis == "seconds" else steps, rtol=1e-6)
    with pytest.raises(InputError, match="did you mean seconds"):
        convergence.axis = "second"


def test_an_empty_race_says_what_to_do(view_in, eventually):
    view = view_in("race")
    eventually(lambda: "press Add entry" in view.status.text)
    view.start()
    assert not view.race.begun
    assert not view.race.alive


def test_entries_are_runs_of_the_list_and_stay_there_when_the_race_is_run_again(ended_race, eventually):
    view = ended_race
    first = view.runs.of("Race")
    assert [run.number for run in first] == [1, 2]
    styles = [view.curves.of(run).style for run in first]
    assert styles == [run.style for run in first] == [0, 1]
    bring(view, "ended")
    eventually(lambda: len([run for run in view.runs.runs if run.record is not None]) == 4)
    assert [run.number for run in view.runs.runs] == [1, 2, 3, 4]
    # A method is drawn as before, so that its colour is known; its earlier run has a free style.
    assert [run.style for run in view.runs.runs] == [2, 3, 0, 1]
    assert {curve.style for curve in view.convergence.curves} == {0, 1}
    view.runs.rename(view.runs.find(3), "my method")
    # Entries are counted within the race.
    assert view.convergence.curves[0].label == "1: my method"
    # The vectors of the first race are freed.
    assert all(run.handle.run is None for run in first)


def test_a_race_that_runs_again_keeps_the_styles_of_entries_that_left_the_list(ended_race, eventually):
    """A run that has no result, or that is deleted, leaves the list before the next one of its method comes."""
    view = ended_race
    _, second = view.runs.of("Race")
    view.runs.remove(second)
    bring(view, "ended")
    eventually(lambda: [run.style for run in view.runs.of("Race")] == [2, 0, 1])
    # A run of another view keeps the style that it has got meanwhile.
    view.runs.remove(view.runs.of("Race")[-1])
    solved = view.runs.add(Session(lane_of()), "Solve")
    assert solved.style == 1
    bring(view, "ended")
    eventually(lambda: len(view.entries.listed) == 2 and all(run.number for run in view.entries.listed.values()))
    assert solved.style == 1
    assert [run.style for run in view.entries.listed.values()] == [0, 4]


def test_an_entry_that_is_stopped_before_its_setup_is_done_has_not_failed(view, eventually):
    methods = [entry.configuration for entry in view.race.entries]
    errors = (STOPPED_IN_SETUP, "the factorization takes 4 GB")
    view.entries.recall([EntryRecord(method, error=error) for method, error in zip(methods, errors, strict=True)])
    # Whoever recalls a race wakes the page.
    view.publisher.wake()
    eventually(lambda: view.table.marks == ["", "failed"])
    eventually(lambda: [cells[-1]["text"] for cells in view.table.rows] == ["stopped by the user", "failed"])


def test_entries_are_in_the_list_of_runs_from_the_start_on(view_in, eventually):
    view = view_in("race", lane_of(), lane_of(solver="sd"))
    eventually(lambda: [cells[0]["text"] for cells in view.table.rows] == ["1: CG", "2: Steepest descent"])
    assert view.runs.runs == ()
    # A stop would start the others.
    assert [facts["acts"] for facts in view.table.facts] == [["remove", "pause"]] * 2
    view.entries.act("stop", [entry.number for entry in view.race.entries])
    assert not view.race.begun
    first = view.runs.add(Session(lane_of()), "Solve")
    view.remove(view.race.entries[0])
    assert first.number == 1
    view.start()
    (run,) = view.runs.of("Race")
    assert (run.number, run.label) == (2, "2: Steepest descent, Jacobi")
    view.race.wait(LIMIT)
    # One that is stopped before it begins takes no number.
    view.show([lane_of(), lane_of(solver="sd")])
    view.stop()
    eventually(lambda: all(entry.ended for entry in view.race.entries))
    assert [run.number for run in view.runs.runs] == [1, 2]
    view.start()
    assert [run.number for run in view.runs.runs] == [1, 2, 3, 4]


def test_the_fastest_by_tolerance_is_that_of_the_ranking(ended_race, eventually):
    view = ended_race
    view.look.set("measure", "seconds")
    eventually(lambda: "Time with setup" in view.fastest.value)
    found = view.ranking()
    best, second = found.finished
    row = re.search(r"<tr><td[^>]*>10⁻⁶</td>(.*?)</tr>", view.fastest.value).group(1)
    cells = re.findall(r">([^<]+)</td>", row)
    if len(found.winners) == 2:
        assert cells == [f"{best.entry.label}; {second.entry.label}", duration(best.amount), "–", "–"]
        return
    assert cells[:3] == [best.entry.label, duration(best.amount), second.entry.label]
    assert float(cells[3].replace("\u202f", "")) == pytest.approx(second.amount / best.amount, rel=0.01)


def test_an_entry_is_stopped_held_and_removed_in_its_row(endless_race, eventually):
    view = endless_race
    (entry,) = view.race.entries
    view.table.press("pause", [entry.number])
    eventually(lambda: entry.state is State.PAUSED)
    eventually(lambda: view.table.facts[0]["words"]["pause"] == "Resume")
    view.table.press("stop", [entry.number])
    eventually(lambda: entry.ended)
    view.table.press("remove", [entry.number])
    assert not view.race.entries
    eventually(lambda: view.table.rows == [])
    eventually(lambda: [run.record is not None for run in view.runs.runs] == [True])


def test_curves_and_rows_are_those_of_the_run_in_the_middle(race, eventually):
    view = race(state="ended")
    view.look.change(measure="seconds")
    entry = view.race.entries[0]
    count = entry.made.history.count
    clocks = [Sample(setup, np.linspace(0.0, 3.0, count - short)) for setup, short in ((5.0, 0), (2.0, 1), (1.0, 0))]
    view.entries.recall([EntryRecord.of(entry, clocks)])
    view.publisher.wake()
    (entry,) = view.race.entries
    curve = view.curves.of(view.entries.listed[entry])
    eventually(lambda: curve.clock is clocks[1])
    drawn = curve.positions("seconds")
    # The repetition has an iteration less.
    assert drawn.size == count
    assert (drawn[0], drawn[-1], drawn[-2]) == (2.0, 5.0, 5.0)
    assert curve.positions("seconds", with_setup=False)[-1] == 3.0
    assert curve.positions("iterations")[-1] == count - 1
    times = [view.table.columns.index(name) for name in ("Setup", "Iterating", "Together")]
    eventually(lambda: [view.table.rows[0][at]["key"] for at in times] == [2.0, 3.0, 5.0])
    assert view.ranking().finished[0].amount == pytest.approx(5.0)
    eventually(lambda: "those of the median run" in view.note.text)
    # The picture for a file has the same clock.
    assert view.files.scene().layers[0].x[-1] == 5.0
