"""The race's widget: lanes, axis, tolerance and winner, without a browser."""

from __future__ import annotations

import time

import numpy as np
import pytest

from workbench.errors import InputError
from workbench.live import ConvergenceView, RaceView
from workbench.live.race_words import amount, duration
from workbench.recording import load
from workbench.run import Race, State, Stopping, configure

ENDLESS = Stopping(rtol=0, atol=1e-300, stagnation=10**9, maxiter=10**9)


def lane_of(**choices):
    return configure("two-layer", n=24, **choices)


@pytest.fixture
def view(tmp_path):
    made = RaceView(lane_of(), lane_of(preconditioner="neumann:2", deflation="stripes"), folder=tmp_path / "exports")
    yield made
    made.close()


def finished(view, eventually):
    view.start()
    view.race.wait(60)
    eventually(lambda: view.status.state == "done" and "wins" in view.winner.text)


def test_the_winner_is_named_by_the_measure_that_is_chosen(view, eventually):
    finished(view, eventually)
    (first, second) = view.race.lanes
    assert f"lane 2 ({second.configuration.label}) wins by iterations: {second.run.iterations}" in view.winner.text
    assert f"next is lane 1 ({first.configuration.label}) with {first.run.iterations} iterations" in view.winner.text
    view.measure.value = "bytes"
    spent = amount(second.run.iterations * second.iteration_bytes)
    eventually(lambda: f"by bytes: {spent} ({second.run.iterations} iterations)" in view.winner.text)
    view.measure.value = "seconds"
    best = view.standings().finished[0]
    eventually(lambda: f"by seconds: {duration(best.amount)}" in view.winner.text)


def test_a_lane_that_was_held_up_is_named_where_seconds_decide(view, eventually):
    finished(view, eventually)
    first, second = view.race.lanes
    for lane in (first, second):
        even = np.arange(lane.run.history.count) * 1e-3
        lane.run.history._columns["seconds"][: even.size] = even
    first.run.history._columns["seconds"][5 : first.run.history.count] += 1.0
    view.measure.value = "seconds"
    eventually(lambda: f"Lane 1 ({first.configuration.label}): held up by other work" in view.winner.text)
    assert f"ane 2 ({second.configuration.label}): held" not in view.winner.text
    view.measure.value = "iterations"
    eventually(lambda: "by iterations" in view.winner.text and "held up" not in view.winner.text)


def test_the_tolerance_is_dragged_or_typed(view, eventually):
    finished(view, eventually)
    view.tolerance.slider.value = 1e-2
    assert view.tolerance.number.value == "0.01"
    eventually(lambda: "residual of 0.01 lane 2" in view.winner.text)
    assert {curve.line for curve in view.convergence.curves} == {0.01}
    view.tolerance.number.value = "3.3e-4"
    assert view.tolerance.slider.value == 5e-4
    eventually(lambda: "residual of 0.00033 lane 2" in view.winner.text)
    assert view.standings().finished[0].iterations < view.race.lanes[1].run.iterations
    view.tolerance.number.value = "1e-13"
    eventually(lambda: "no lane reached it" in view.winner.text)


def test_slider_number_and_winner_follow_the_line_on_the_plot(view, page_of, eventually):
    finished(view, eventually)
    page = page_of(view.convergence)
    eventually(lambda: page.messages)
    view.convergence._receive(None, {"kind": "tolerance", "value": 3.3e-4, "turn": 7}, [])
    assert view.tolerance.number.value == "0.00033"
    assert view.tolerance.slider.value == 5e-4
    eventually(lambda: "residual of 0.00033 lane 2" in view.winner.text)
    eventually(lambda: page.messages[-1]["turn"] == 7)
    assert {told["tolerance"] for told in page.messages[-1]["curves"]} == {3.3e-4}
    view.convergence._receive(None, {"kind": "tolerance", "value": None, "turn": 8}, [])
    assert view.tolerance.value == view.base.stopping.rtol


@pytest.mark.parametrize("text", ["x", "0", "-1", "nan", ""])
def test_a_wrong_tolerance_is_told_and_the_old_one_stays(view, eventually, text):
    before = view.tolerance.value
    view.tolerance.number.value = text
    eventually(lambda: "tolerance must be a number above 0" in view.status.text)
    assert view.tolerance.value == before


def test_lanes_come_from_the_form_while_others_run(tmp_path, eventually):
    view = RaceView(lane_of(stopping=ENDLESS, solver="sd"), folder=tmp_path)
    view.start()
    (first,) = view.race.lanes
    eventually(lambda: first.run and first.run.iterations > 5)
    view.form.fields["solver"].choice.value = "cg"
    view.form.fields["preconditioner"].choice.value = "neumann"
    view.form.fields["preconditioner"].fields["order"].value = 3
    lane = view.add_from_form()
    assert lane.configuration.preconditioner.spec == "neumann:3"
    assert lane.configuration.problem == first.configuration.problem
    eventually(lambda: lane.run and lane.run.iterations > 5)
    assert len(view.table.children) == 3
    view.pause()
    eventually(lambda: view.status.state == "paused")
    assert lane.state is State.PAUSED
    view.remove(lane)
    assert len(view.table.children) == 2
    assert len(view.convergence.curves) == 1
    view.stop()
    eventually(lambda: view.status.state == "done")
    assert not view.race.alive
    view.close()


def test_a_lane_may_have_any_block_and_device(view):
    form = view.form
    assert form.fields["coarse"].choice.disabled
    form.fields["deflation"].choice.value = "stripes"
    assert not form.fields["variant"].choice.disabled
    form.fields["coarse"].choice.value = "sparse"
    form.fields["variant"].choice.value = "a-def2"
    chosen = view.add_from_form().configuration
    assert (chosen.coarse.name, chosen.variant.name, chosen.device) == ("sparse", "a-def2", view.form.device.value)
    assert chosen.problem == view.base.problem


def test_a_lane_on_another_system_is_refused_and_rebasing_takes_all_there(view, eventually):
    finished(view, eventually)
    other = configure("poisson5", n=16, solver="pipecg", stopping=Stopping(rtol=1e-4))
    with pytest.raises(InputError, match="rebase the race"):
        view.add(other)
    methods = [lane.label for lane in view.race.lanes]
    view.rebase(other)
    view.take_over()
    assert [lane.label for lane in view.race.lanes] == methods
    assert {lane.configuration.problem for lane in view.race.lanes} == {other.problem}
    assert {lane.configuration.stopping for lane in view.race.lanes} == {other.stopping}
    assert len(view.convergence.curves) == len(view._rows) == 2
    eventually(lambda: "2 lanes begin anew here" in view.status.text)
    assert view.form.fields["solver"].choice.value == "pipecg"
    assert view.add_from_form().configuration == other
    view.start()
    view.race.wait(60)
    eventually(lambda: view.status.state == "done")


def test_rebasing_on_the_same_system_keeps_the_lanes(view):
    lanes = view.race.lanes
    view.rebase(lane_of(solver="pipecg"))
    assert view.race.lanes == lanes
    assert view.form.fields["solver"].choice.value == "pipecg"


def test_lanes_that_have_begun_stay_until_the_other_system_is_taken_over(view, eventually):
    finished(view, eventually)
    lanes, before = view.race.lanes, view.base
    view.rebase(configure("poisson5", n=16, stopping=Stopping(rtol=1e-4)))
    assert (view.race.lanes, view.base) == (lanes, before)
    assert "another problem and stopping rule. Taking it over ends these lanes" in view.offer.text.value
    assert view.offer.box.layout.display is None
    view.offer.press.click()
    assert view.offer.box.layout.display == "none"
    assert [lane.configuration.problem.label for lane in view.race.lanes] == ["poisson5:16"] * 2
    assert view.tolerance.value == 1e-4
    view.start()
    view.race.wait(60)
    view.rebase(configure("poisson5", n=20))
    view.rebase(configure("poisson5", n=16, stopping=Stopping(rtol=1e-4), solver="pipecg"))
    # What was offered is chosen no more.
    assert view.offer.box.layout.display == "none"
    assert all(lane.result for lane in view.race.lanes)


def test_lanes_that_wait_follow_the_stopping_rule_and_so_does_the_tolerance(view, eventually):
    view.rebase(lane_of(stopping=Stopping(rtol=1e-9)))
    assert {lane.configuration.stopping.rtol for lane in view.race.lanes} == {1e-9}
    assert view.tolerance.value == 1e-9
    eventually(lambda: "begin anew here, since a race compares methods on one system" in view.status.text)
    view.tolerance.set(1e-3)
    view.rebase(lane_of(stopping=Stopping(rtol=1e-7)))
    assert view.tolerance.value == 1e-3


def test_a_page_that_is_turned_to_again_changes_nothing(view):
    view.form.fields["solver"].choice.value = "pipecg"
    lanes = view.race.lanes
    view.rebase(lane_of())
    assert view.race.lanes == lanes
    assert view.form.fields["solver"].choice.value == "pipecg"
    view.rebase(lane_of(solver="sd"))
    view.form.fields["solver"].choice.value = "pipecg"
    view.rebase(lane_of(solver="sd"))
    assert view.form.fields["solver"].choice.value == "pipecg"


def test_what_nobody_foresaw_is_told(view, eventually, monkeypatch):
    def burst(*_):
        raise RuntimeError("a wheel came off")

    monkeypatch.setattr(view.race, "add", burst)
    view._add.click()
    eventually(lambda: view.status.text == "adding a lane failed by a RuntimeError: a wheel came off")
    monkeypatch.setattr("workbench.live.race.export_race", burst)
    view._exports["csv"].click()
    eventually(lambda: view.saved.text == "the export failed by a RuntimeError: a wheel came off")


def test_a_wrong_number_in_the_form_is_a_sentence(view, eventually):
    view.form.fields["preconditioner"].choice.value = "neumann"
    view.form.fields["preconditioner"].fields["order"].value = -1
    view._add.click()
    eventually(lambda: "order must be" in view.status.text)
    assert len(view.race.lanes) == 2


def test_a_lane_that_fails_shows_its_sentence_in_its_row(eventually):
    view = RaceView(configure("two-layer", n=4, deflation="eigenvectors:400"), configure("two-layer", n=4))
    view.start()
    view.race.wait(60)
    bad, good = view.race.lanes
    eventually(lambda: "400 vectors" in view._rows[bad].text.value)
    eventually(lambda: "converged" in view._rows[good].text.value)
    view.close()


def test_exports_are_of_the_axis_that_is_shown(view, eventually):
    with pytest.raises(InputError, match="no lane has ended yet"):
        view.export("svg")
    finished(view, eventually)
    view.measure.value = "bytes"
    (path,) = view.export("svg")
    text = path.read_text(encoding="utf-8")
    assert "read and written by the iterations" in text
    assert "2: cg + neumann:2" in text
    paths = view.export("run")
    assert [load(path).summary["iterations"] for path in paths] == [lane.run.iterations for lane in view.race.lanes]
    assert len(view.export("csv")) == 2


def test_positions_are_streamed_beside_the_residuals(page_of, eventually):
    race = Race([lane_of()])
    race.wait(60)
    (lane,) = race.lanes
    convergence = ConvergenceView(height=200)
    page = page_of(convergence)
    convergence.watch(lane)
    for axis in ("seconds", "bytes"):
        convergence.axis = axis
        count = lane.run.history.count
        eventually(lambda: any(m["axis"] == axis and m["curves"] for m in page.messages))  # noqa: B023
        message, buffer = next(p for p in page.received if p[0]["axis"] == axis and p[0]["curves"])
        (told,) = message["curves"]
        assert told["count"] == count
        residuals, places = np.frombuffer(buffer, np.float32).reshape(2, count)
        assert np.allclose(residuals, lane.run.history["residual"] / lane.run.norm_of_b, rtol=1e-6)
        steps = np.arange(count) * lane.iteration_bytes
        assert np.allclose(places, lane.run.history["seconds"] if axis == "seconds" else steps, rtol=1e-6)
    with pytest.raises(InputError, match="did you mean seconds"):
        convergence.axis = "second"
    convergence.publisher.close()


def test_an_empty_race_says_what_to_do(eventually):
    view = RaceView()
    eventually(lambda: "press Add lane" in view.status.text)
    view.start()
    time.sleep(0.05)
    assert not view.race.alive
    view.close()


def test_amounts_have_units_that_suit():
    assert [amount(value) for value in (0, 999, 1000, 29_600_000, 1.5e12)] == [
        "0 B",
        "999 B",
        "1 kB",
        "29.6 MB",
        "1.5 TB",
    ]
    assert [duration(value) for value in (2, 0.0123, 4.5e-6)] == ["2 s", "12.3 ms", "4.5 µs"]
