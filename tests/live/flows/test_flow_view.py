"""The view of a flow: stepping in a thread, methods that change on the way, past steps, races, exports."""

import time

import pytest

from workbench.errors import InputError
from workbench.flow.rising_bubbles import RisingBubbles
from workbench.live import FlowView, flow
from workbench.live.flows.player import Player
from workbench.run import State, configure
from workbench.run.cancellation import GRACE
from workbench.scenes.flow import curves
from workbench.scenes.flow_plane import PHASE, Look, plane_of_flow, quantities

SMALL = {"n": 16, "until": 0.3, "preconditioner": "neumann:2", "deflation": "levelset:2"}


@pytest.fixture
def view():
    made = flow(**SMALL)
    yield made
    made.close()


def until(true, seconds=20):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_it_plays_to_the_end_and_begins_again(view):
    view.play()
    sequence = view.wait(60)
    assert sequence.done
    assert sequence.series["time"][-1] == pytest.approx(0.3)
    assert all(len(method.iterations) == sequence.steps for method in sequence.methods)
    view.reset()
    assert view.sequence.steps == 0
    view.play()
    assert view.wait(60).series["iterations"] == sequence.series["iterations"]


def test_it_pauses_steps_and_stops(view):
    view.step()
    until(lambda: view.sequence.steps == 1 and view.player.state is State.PAUSED)
    view.step()
    until(lambda: view.sequence.steps == 2)
    view.controller.resume()
    begun = time.monotonic()
    view.stop()
    until(lambda: view.player.ended)
    assert time.monotonic() - begun < GRACE + 0.5
    steps = view.sequence.steps
    view.play()
    assert view.wait(60).steps > steps


def test_a_method_is_changed_between_two_steps(view):
    view.step()
    until(lambda: view.sequence.steps == 1 and view.player.state is State.PAUSED)
    view.use(1, preconditioner="mg")
    until(lambda: len(view.sequence.methods[1].marks) == 2)
    view.play()
    sequence = view.wait(60)
    assert [mark.step for mark in sequence.methods[1].marks] == [1, 2]
    first, second, changed = (layer.name for layer in curves(sequence)[0].layers)
    assert first == "1. CG, Neumann 2, 2 blocks split by phase"
    assert [second, changed] == ["2. CG, Jacobi", "from step 2: 2. CG, geometric multigrid"]
    assert max(sequence.methods[1].iterations[2:]) < 12


def test_a_wrong_value_is_a_sentence_and_the_flow_stays(view):
    view.form.of_problem.set("problem.density_ratio", "0")
    assert "density" in view._why_not().lower()
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


def test_four_methods_race_on_the_latest_steps(view):
    view.play()
    view.wait(60)
    view.race.start()
    assert view.race.racing is not None
    view.race.racing.join(60)
    ranking = view.race.racing.sequence.ranking()
    assert len(ranking) == 4
    assert not any(row["failure"] for row in ranking)
    assert [row["milliseconds"] for row in ranking] == sorted(row["milliseconds"] for row in ranking)


def test_what_is_asked_for_is_done_between_two_steps_and_no_step_wakes_the_page():
    view = flow(**SMALL)
    seen, heard = [], []
    player = Player(view.sequence, lambda: heard.append(view.sequence.steps))
    player.ask(lambda: seen.append(view.sequence.steps))
    assert seen == [0]
    player.start()
    player.ask(lambda: seen.append(view.sequence.steps))
    player.join(60)
    assert len(seen) == 2
    assert heard == [view.sequence.steps]
    view.close()


def test_one_system_is_refused():
    with pytest.raises(InputError, match="is one system; a sequence is"):
        flow("two-layer", n=16)


def test_drawn_bubbles_are_taken():
    drawn = configure("bubbles-2d", n=64, layout="list", bubbles="0.3,0.4,0.15; 0.7,0.6,0.17").problem
    made = FlowView(configure("rising-bubbles", n=32), drawn=lambda: drawn)
    made.take_drawn()
    taken = made.sequence.problem
    assert isinstance(taken, RisingBubbles)
    assert taken.geometry().radii.tolist() == [0.15, 0.17]
    made._drawn = lambda: configure("two-layer", n=16).problem
    made.take_drawn()
    assert "there are no bubbles in Build" in made.controller.complaint
    made.close()


def test_what_is_written(view, tmp_path):
    for steps in (1, 2):
        view.step()
        until(lambda steps=steps: view.sequence.steps == steps and view.player.state is State.PAUSED)
    table = view._written("csv", tmp_path).read_text()
    assert table.count("\n") == 3
    assert table.startswith("time,dt,iterations,seconds,centre,rise_velocity,circularity,volume,moved_cells")
    assert view._written("gif", tmp_path).read_bytes()[:6] == b"GIF89a"
    assert view._written("record", tmp_path).stat().st_size > 1000
