"""The view of a flow: stepping in a thread, methods that change on the way, past steps, races, exports."""

import threading

import pytest

from tests.waiting import LIMIT, until
from workbench.errors import InputError
from workbench.extensions.flow import records
from workbench.extensions.flow.page import flow_picture
from workbench.extensions.flow.page.flow_field import bubbles_of
from workbench.extensions.flow.page.player import Player
from workbench.extensions.flow.plane_scene import PHASE, Look, film_plane, plane_of_flow, quantities
from workbench.extensions.flow.rising_bubbles import RisingBubbles
from workbench.extensions.flow.scenes import curves
from workbench.extensions.flow.two_phase_flow import TwoPhaseFlow
from workbench.live import FlowView, flow
from workbench.run import State, configure
from workbench.run.loop.single.iterations import SingleIterations

SMALL = {"n": 16, "until": 0.3, "preconditioner": "neumann:2", "deflation": "levelset:2"}


@pytest.fixture
def view(view_in):
    return view_in("flow", **SMALL)


@pytest.fixture
def begun(view_in):
    """The flow after its first step."""
    return view_in("flow", state="begun", **SMALL)


@pytest.fixture
def held_solve(monkeypatch):
    """Holds the next solve of a flow in its fourth step, and keeps it from ending by itself: its steps so far, an event
    that is set when it is held, and what lets it go on."""
    advance, steps, inside, on = SingleIterations.advance, [], threading.Event(), threading.Event()

    def endless(iterations, most):
        steps.append(1)
        if len(steps) == 4:
            inside.set()
            assert on.wait(LIMIT)
        advance(iterations, most)

    monkeypatch.setattr(SingleIterations, "advance", endless)
    yield steps, inside, on
    on.set()


def test_it_plays_to_the_end_and_begins_again(view_in):
    view = view_in("flow", state="ended", **SMALL)
    sequence = view.sequence
    assert sequence.done
    assert sequence.series["time"][-1] == pytest.approx(0.3)
    assert all(len(method.iterations) == sequence.steps for method in sequence.methods)
    view.reset()
    assert view.sequence.steps == 0
    view.play()
    assert view.wait(LIMIT).series["iterations"] == sequence.series["iterations"]


def test_it_pauses_steps_and_stops(view_in):
    # Of the ten times as many steps some are left when it is stopped.
    view = view_in("flow", state="begun", **{**SMALL, "until": 3.0})
    view.step()
    until(lambda: view.sequence.steps == 2)
    view.controller.resume()
    view.stop()
    # It counts as ended before the step in progress is.
    until(lambda: view.player.ended and not view.player.working)
    steps = view.sequence.steps
    view.play()
    until(lambda: view.sequence.steps > steps)
    view.stop()


def test_stop_ends_a_long_solve_within_an_iteration_and_the_flow_plays_on(view, held_solve, monkeypatch):
    steps, inside, on = held_solve
    view.play()
    assert inside.wait(LIMIT)
    player = view.player
    view.stop()
    # It counts as ended before the iteration is.
    until(lambda: player.ended)
    assert player.working
    on.set()
    until(lambda: not player.working)
    assert (player.error, view.sequence.steps, len(steps)) == ("", 0, 4)
    monkeypatch.undo()
    view.play()
    assert view.wait(LIMIT).done


def test_a_velocity_that_is_not_finite_leaves_what_was_played(begun, monkeypatch, tmp_path):
    view = begun
    viscosity = TwoPhaseFlow._viscosity

    def spoiled(flow):
        viscosity(flow)
        if flow.steps == 3:
            flow.u[0, abs(flow.phi).argmin()] = float("nan")

    monkeypatch.setattr(TwoPhaseFlow, "_viscosity", spoiled)
    view.play()
    with pytest.raises(InputError, match="the velocity is not finite in the step after time .*; use a larger n"):
        view.wait(LIMIT)
    assert view.player.state is State.FAILED
    assert records.load(view.files.written("record", tmp_path)).steps == view.sequence.steps == 3
    monkeypatch.undo()
    assert plane_of_flow(view.sequence, Look(PHASE, step=2)).title.startswith("step 2,")
    view.play()
    played = view.wait(LIMIT).series["rise_velocity"]
    view.reset()
    view.play()
    assert view.wait(LIMIT).series["rise_velocity"] == played


def test_a_method_is_changed_between_two_steps(begun):
    view = begun
    view.use(1, preconditioner="mg")
    until(lambda: len(view.sequence.methods[1].marks) == 2)
    view.play()
    sequence = view.wait(LIMIT)
    assert [mark.step for mark in sequence.methods[1].marks] == [1, 2]
    first, second, changed = (layer.name for layer in curves(sequence)[0].layers if layer.name)
    assert first == "1. Neumann 2, 2² blocks split by phase"
    assert [second, changed] == ["2. Jacobi", "from step 2: 2. CG, geometric multigrid"]
    assert max(sequence.methods[1].iterations[2:]) < 12


def test_a_pair_is_taken_from_the_next_step_on_and_another_problem_begins(begun):
    view = begun
    sequence = view.sequence
    view.take_method(configure(sequence.problem, preconditioner="mg", deflation="none"))
    until(lambda: "multigrid" in sequence.methods[0].label)
    assert view.sequence is sequence
    view.take_method(configure("heat-steps", n=16, preconditioner="mg", deflation="none"))
    until(lambda: view.sequence.problem.name == "heat-steps")
    assert "multigrid" in view.sequence.methods[0].label
    until(lambda: view.bubbles.box.layout.display == "none" and view.field.layout.display is None)


def test_a_wrong_value_is_a_sentence_and_the_flow_stays(view):
    view.form.of_problem.set("problem.density_ratio", "0")
    until(lambda: "density" in view.controller.bar.text.lower() and view.controller.bar.run.disabled)
    assert view.sequence.problem.density_ratio == 0.1


def test_planes_hold_what_is_there():
    made = FlowView(configure("rising-bubbles", dimensions=3, height=1.0, radius=0.28, **SMALL))
    sequence = made.sequence
    assert plane_of_flow(sequence, Look("pressure")) is None
    for _ in range(3):
        sequence.step()
    for quantity in quantities(sequence):
        plane = plane_of_flow(sequence, Look(quantity, "y", 8))
        assert plane is not None
        assert plane.values.shape == (16, 16)
        assert len(plane.segments) > 20
    past = plane_of_flow(sequence, Look("pressure", "y", 8, step=1))
    assert past is not None
    assert past.bar == PHASE
    assert past.values.sum() == sequence.phase_at(1)[:, 8].sum()
    made.close()


def test_four_methods_race_on_the_latest_steps(view_in):
    view = view_in("flow", state="ended", **SMALL)
    view.race.start()
    assert view.race.racing is not None
    view.race.racing.join(LIMIT)
    ranking = view.race.racing.sequence.ranking()
    assert len(ranking) == 4
    assert not any(row["failure"] for row in ranking)
    assert [row["milliseconds"] for row in ranking] == sorted(row["milliseconds"] for row in ranking)


def test_what_is_asked_for_is_done_between_two_steps_and_no_step_wakes_the_page(view):
    seen, heard = [], []
    player = Player(view.sequence, lambda: heard.append(view.sequence.steps))
    player.ask(lambda: seen.append(view.sequence.steps))
    assert seen == [0]
    player.start()
    player.ask(lambda: seen.append(view.sequence.steps))
    player.join(LIMIT)
    assert len(seen) == 2
    assert heard == [view.sequence.steps]


def test_one_system_is_refused():
    with pytest.raises(InputError, match="is one system; a sequence is"):
        flow("two-layer", n=16)


def test_drawn_bubbles_are_taken():
    drawn = [configure("bubbles-2d", n=64, layout="list", bubbles="0.3,0.4,0.15; 0.7,0.6,0.17").problem]
    made = FlowView(configure("rising-bubbles", n=32), drawn=lambda: drawn[-1])
    made.take_drawn()
    taken = made.sequence.problem
    assert isinstance(taken, RisingBubbles)
    assert taken.geometry().radii.tolist() == [0.15, 0.17]
    drawn.append(configure("two-layer", n=16).problem)
    made.take_drawn()
    assert "there are no bubbles in Build" in made.controller.complaint
    made.close()


def drawn(view, act, **values):
    """What the page sends when its user does something on the canvas; the state that it is sent."""
    editor = view.bubbles.editor
    editor.receive({"act": act, **values})
    assert editor.acts.wait(LIMIT)
    return editor.canvas.state


def test_bubbles_are_moved_before_the_start_and_refused_where_they_touch(view):
    until(lambda: view.field.layout.display == "none")
    before = view.sequence
    state = drawn(view, "place", index=0, row=[0.4, 1.5, 0.27], stroke="one", moving=True, seq=1)
    assert (state["bubbles"], state["height"]) == ([[0.4, 1.5, 0.27]], 2.0)
    assert view.sequence is before
    for row, sentence in {
        (0.35, 1.5, 0.27): "bubble 1 is 1.3 cells from a wall, 2 are needed",
        (0.4, 1.8, 0.27): "extends beyond the box",
        (0.4, 1.5, 0.2): "a bubble of radius 0.2 has 3.2 cells, at least 4 are needed",
    }.items():
        state = drawn(view, "place", index=0, row=list(row), stroke="one", moving=True, seq=2)
        assert (state["bubbles"], state["refused"]["row"]) == ([[0.4, 1.5, 0.27]], list(row))
        assert sentence in view.bubbles.status.text
    drawn(view, "place", index=0, row=[0.45, 1.5, 0.27], stroke="one", done=True, seq=3)
    assert view.sequence.problem.bubbles == "0.45,1.5,0.27"
    assert view.form.of_problem.problem() == view.sequence.problem
    assert drawn(view, "add", centre=[0.5, 1.1])["bubbles"] == [[0.45, 1.5, 0.27]]
    assert "at least 4 are needed" in view.bubbles.status.text
    assert drawn(view, "add", centre=[0.5, 0.5])["bubbles"][1] == [0.5, 0.5, 0.25]
    assert len(drawn(view, "undo")["bubbles"]) == 1
    assert view.sequence.problem.bubbles == "0.45,1.5,0.27"
    drawn(view, "delete", index=0)
    assert "a flow has at least one bubble" in view.bubbles.status.text
    view.step()
    until(lambda: view.sequence.steps == 1 and view.bubbles.box.layout.display == "none")
    drawn(view, "place", index=0, row=[0.5, 1.5, 0.3], done=True)
    assert "the flow has begun; press Restart" in view.bubbles.status.text
    assert view.sequence.series["centre"][0] == pytest.approx(1.5, abs=0.01)
    view.form.of_problem.set("problem.bubbles", "0.5,0.5,0.3")
    view.reset()
    until(lambda: view.bubbles.editor.canvas.state["bubbles"] == [[0.5, 0.5, 0.3]])


def test_what_is_written(view, tmp_path):
    for steps in (1, 2):
        view.step()
        until(lambda steps=steps: view.sequence.steps == steps and view.player.state is State.PAUSED)
    table = view.files.written("csv", tmp_path).read_text()
    assert table.count("\n") == 3
    assert table.startswith("time,dt,iterations,seconds,centre,rise_velocity,circularity,volume,moved_cells")
    assert view.files.written("gif", tmp_path).read_bytes()[:6] == b"GIF89a"
    assert view.files.written("record", tmp_path).stat().st_size > 1000


def word(view):
    """The word of the first button."""
    return view.controller.bar.run.description


def test_one_button_plays_pauses_and_replays_and_no_step_is_lost(view_in, monkeypatch):
    view = view_in("flow", state="begun", **SMALL)
    until(lambda: word(view) == "Play")
    press = view.controller.bar.run.click
    press()
    until(lambda: word(view) in ("Pause", "Replay"))
    sequence = view.wait(LIMIT)
    until(lambda: word(view) == "Replay" and view.picture.past_step.max == sequence.steps)
    iterations = list(sequence.series["iterations"])
    # Of a step a second some are left when it is paused.
    monkeypatch.setattr(flow_picture, "RATE", 1.0)
    press()
    until(lambda: word(view) == "Pause" and 0 < view.field.step < sequence.steps)
    until(lambda: "Replay of" in view.controller.bar.text)
    press()
    until(lambda: word(view) == "Play")
    monkeypatch.undo()
    press()
    until(lambda: word(view) == "Replay" and view.field.step == 0)
    assert view.sequence is sequence
    assert sequence.series["iterations"] == iterations


def test_another_problem_waits_for_its_button_and_the_run_before_comes_back(view_in):
    view = view_in("flow", state="ended", **SMALL)
    first = view.sequence
    view.form.of_problem.set("problem.until", "0.1")
    # The bar and the buttons are brought up to date one after the other, and the form may change in between.
    words = "Run again from the start"
    until(lambda: view.again.description == words and words in view.controller.bar.text)
    assert view.sequence is first
    view.again.click()
    until(lambda: view.sequence is not first and view.sequence.done)
    assert view.sequence.problem.until == 0.1
    until(lambda: view.back.layout.display is None and view.again.description == "Restart")
    second = view.sequence
    view.back.click()
    until(lambda: view.sequence is first and view.form.of_problem.problem() == first.problem)
    assert view.picture.past_step.value == first.steps
    view.back.click()
    until(lambda: view.sequence is second)


def test_an_example_is_shown_before_the_start(view):
    view.form.of_problem.take_example("Seven light bubbles in 3D")
    until(lambda: view.sequence.problem.geometry().radii.size == 7)
    assert view.sequence.problem.dimensions == 3
    schema = view.form.of_problem.box.schema
    (dimensions,) = [
        each for each in schema["blocks"]["problem"]["rising-bubbles"]["parameters"] if each["name"] == "dimensions"
    ]
    assert (dimensions["kind"], dimensions["choices"]) == ("segments", [[2, "2D"], [3, "3D"]])


def test_sizes_in_space_are_those_of_space_and_come_back_in_the_plane(opened):
    view = opened(flow())
    form = view.form.of_problem
    form.set("problem.n", 96)
    form.set("problem.dimensions", 3)
    assert form.problem().n == 48
    assert form.problem().height == 1.0
    form.set("problem.dimensions", 3)
    assert form.problem().n == 48
    form.set("problem.dimensions", 2)
    assert (form.problem().n, form.problem().count) == (96, 1)


def test_what_is_compiled_and_set_up_is_said_in_the_bar_and_in_place_of_pictures(view, held_solve, monkeypatch):
    _, inside, on = held_solve
    view.play()
    assert inside.wait(LIMIT)
    until(lambda: "Setting up the first step in 2D." in view.controller.bar.text)
    notes = lambda: [chart.scene.note for chart in view.curves.methods]  # noqa: E731
    until(lambda: notes() == ["Setting up the first step in 2D."] * 2)
    monkeypatch.setattr(Player, "compiling", property(lambda _player: True))
    until(lambda: "Compiling the kernels of a flow in 2D, once on this machine" in view.controller.bar.text)
    until(lambda: all("Compiling the kernels" in note for note in notes()))
    monkeypatch.undo()
    on.set()
    view.stop()
    view.player.join(LIMIT)


def test_a_flow_is_made_by_the_thread_that_plays_it(view):
    view.reset()
    assert view.sequence._systems is None


def test_the_slider_reads_out_no_step_while_the_picture_shows_the_last(view):
    view.picture.extend(view.sequence, playing=True)
    assert not view.picture.past_step.readout
    view.picture.extend(view.sequence, playing=False)
    assert view.picture.past_step.readout


def test_a_race_pauses_the_flow_and_ends_in_a_verdict(view_in):
    view = view_in("flow", state="begun", **{**SMALL, "until": 3.0})
    view.play()
    until(lambda: view.sequence.steps > 15)
    view.race.press.click()
    until(lambda: view.player.state is State.PAUSED and view.race.racing is not None)
    view.race.racing.join(LIMIT)
    until(lambda: "steps raced" in view.race.status.text)
    until(lambda: view.race.verdict.status.quote)
    until(lambda: "iterations per step" in view.race.table.value)
    assert "CG, " not in view.race.table.value
    assert view.player.alive
    view.stop()


def test_a_film_of_a_box_shows_its_bubbles_from_the_front():
    made = FlowView(configure("rising-bubbles", dimensions=3, height=1.0, radius=0.28, **SMALL))
    made.sequence.step()
    plane = film_plane(made.sequence, Look(PHASE))
    assert plane.sides == ("x", "z")
    inside = made.sequence.phase_at(1)
    assert ((plane.values > 0) == inside.any(axis=1)).all()
    assert plane.values.max() == pytest.approx(1 - inside.any(axis=(0, 2)).argmax() / 16)
    assert "box of 1.00 × 1.00 × 1.00 widths" in bubbles_of(made.sequence).title
    made.close()
