"""The field view: what is shown is sent, sections follow the sliders, a sentence can stand for a picture."""

import dataclasses
import gc
import math
import sys
import threading
import time

import numpy as np
import pytest
import traitlets
from scipy import sparse

from tests.waiting import LIMIT
from workbench.deflation.nested import NestedParts
from workbench.live import FieldView
from workbench.live.field import field_view as module
from workbench.live.field.pictures import scene
from workbench.live.field.run_field import reported
from workbench.live.transport.publisher import Publisher
from workbench.plots.figures import plotted_data
from workbench.plots.scenes.plane import Colormap
from workbench.records import load, save
from workbench.records.film import Film
from workbench.run import Run, Session, State, configure, run_through, solve
from workbench.run.results.filming import Camera
from workbench.words.numbers import amount
from workbench.words.numbers import count as grouped


@pytest.fixture
def view(opened):
    return opened(FieldView())


def cube(n=16):
    return scene("cube", configure("bubbles-3d", n=n).problem.assemble())


def test_a_scene_is_sent_and_sent_again_after_a_reload(view, page, eventually):
    view.show(scene("layers", configure("two-layer", n=16).problem.assemble()))
    eventually(lambda: page.messages and page.messages[-1]["title"] == "layers")
    assert len(page.buffers[-1]) == 256
    before = len(page.messages)
    page.reload()
    eventually(lambda: len(page.messages) > before)
    assert page.messages[-1]["title"] == "layers"


def test_a_cube_opens_a_quarter_in_and_follows_the_section(view, page, eventually):
    view.show(cube())
    assert view.index == 4
    eventually(lambda: page.messages and page.messages[-1]["cells"] == 16)
    view.normal = "z"
    eventually(lambda: page.messages[-1]["y"]["label"].startswith("y"))


def test_the_section_stays_while_the_cells_do(view):
    view.show(cube())
    view.index = 9
    view.show(cube())
    assert view.index == 9
    view.show(cube(8))
    assert view.index == 2


def test_a_sentence_can_stand_for_a_picture(view, page, eventually):
    view.say("bcsstk15", "downloaded when the run starts")
    eventually(lambda: page.messages and page.messages[-1]["note"])
    assert page.messages[-1]["width"] == 0
    assert view.figure() is None


def test_a_figure_says_which_plane_it_shows_and_so_do_its_numbers(view):
    view.show(cube())
    view.index = 10_000
    assert view.plane == "y = 0.969"
    figure = view.figure()
    assert figure.axes[0].get_title().endswith(", y = 0.969")
    assert set(plotted_data(figure)["series"]) == {"y = 0.969"}


def plane(page):
    """The last picture, row 0 at the bottom, as shares of the colour scale."""
    message, buffer = page.received[-1]
    earlier = sum(said["bytes"] for said in message["before"])
    pixels = np.frombuffer(buffer, np.uint8, message["width"] * message["height"], earlier)
    return pixels.reshape(message["height"], message["width"])[::-1] / 255


def draws(page, values, *, logarithmic):
    """Whether the last picture shows these values in the colours of their own scale."""
    shades = Colormap.of(values, logarithmic=logarithmic).to_bytes(values)
    return np.array_equal(np.rint(255 * plane(page)).ravel(), shades.ravel())


def shown(page, quantity, **said):
    """Whether the last message is a picture of a quantity, with these values."""
    last = page.messages[-1] if page.messages else {}
    return last.get("quantity") == quantity and last.get("width") and all(last[key] == said[key] for key in said)


def test_the_residual_of_a_session_is_seen_while_it_runs_and_at_its_end(view, page, eventually, run_in):
    view.quantity = "residual"
    eventually(lambda: page.messages and "as soon as a run has begun" in page.messages[-1]["note"])
    session = run_in("idle", view, problem="poisson5", n=384)
    eventually(lambda: "has not begun" in page.messages[-1]["note"])
    session.start()
    eventually(lambda: shown(page, "residual"))
    first = page.messages[-1]["iteration"]
    eventually(lambda: page.messages[-1]["iteration"] > first)
    message = page.messages[-1]
    assert (message["width"], message["scale"], message["signed"]) == (128, "symlog", True)
    assert "3 × 3 cells" in message["note"]
    eventually(lambda: len(page.messages[-1]["before"]) >= 2)
    *said, last = [picture["iteration"] for picture in (*page.messages[-1]["before"], page.messages[-1])]
    assert sorted({*said, last}) == [*said, last]
    assert message["threshold"] == pytest.approx(message["high"] / 1000)
    assert "r of the recurrence" in message["note"]
    session.pause()
    eventually(lambda: session.state is State.PAUSED)
    eventually(lambda: shown(page, "residual", width=384, iteration=session.run.iterations, before=[]))
    r = session.run.workspace.vectors["r"].reshape(384, 384)
    assert draws(page, r, logarithmic=True)
    session.stop()
    session.wait(LIMIT)
    eventually(lambda: page.messages[-1]["iteration"] == session.run.iterations)


def test_pictures_come_at_most_ten_times_a_second(view, page, eventually, run_in):
    view.quantity = "solution"
    session = run_in("running", view, problem="poisson5", n=256)
    eventually(lambda: shown(page, "solution"))
    begun, before = time.monotonic(), session.run.snapshots.count
    eventually(lambda: session.run.snapshots.count >= before + 5)
    taken, spent = session.run.snapshots.count - before, time.monotonic() - begun
    session.stop()
    session.wait(LIMIT)
    assert taken <= 11 * spent + 2


@pytest.mark.parametrize("unseen", ["hidden", "no page", "another quantity"])
def test_a_run_that_nobody_sees_is_not_looked_at(view, page_of, eventually, unseen, run_in):
    view.quantity = "coefficient" if unseen == "another quantity" else "residual"
    page = None if unseen == "no page" else page_of(view)
    view.link.hidden = unseen == "hidden"
    session = run_in("running", view, problem="poisson5", n=256)
    eventually(lambda: session.run.iterations > 500)
    assert session.run.snapshots.count == 0
    if unseen == "hidden":
        view.link.hidden = False
        view.publisher.wake()
        eventually(lambda: shown(page, "residual"))


def test_the_error_where_the_solution_is_known(view, page, eventually):
    view.quantity = "error"
    known = Run(configure("poisson5", n=8, rhs="ones-scaled"))
    view.follow(known)
    eventually(lambda: shown(page, "error", iteration=0))
    for _ in range(4):
        known.step()
    eventually(lambda: shown(page, "error", iteration=3))
    assert draws(page, 1 / 8 - known.x, logarithmic=True)


def test_where_it_is_not_known_states_are_set_against_the_final_x(view, page, eventually):
    view.quantity = "error"
    # Of any cost, since a frame may take long while other work has the cores.
    session = Session(configure("poisson5", n=16), camera=Camera(Film(), share=math.inf))
    view.follow(session)
    states = {}
    for count in range(1, 4):
        session.step()
        eventually(lambda n=count: session.run and session.run.history.count == n and session.state is State.PAUSED)
        eventually(lambda n=count: page.messages and f"its {n} states of x so far" in page.messages[-1]["note"])
        states[count - 1] = session.run.x
    session.resume()
    result = session.wait(LIMIT)
    eventually(lambda: shown(page, "error", iteration=0))
    assert page.messages[-1]["film"]["iterations"][:3] == [0, 1, 2]
    assert "final x of this run − x: the exact solution is not known" in page.messages[-1]["note"]
    assert page.messages[-1]["bar"] == "final x − x"
    assert view.figure().axes[1].get_ylabel().startswith("final x − x, linear within")
    view.frame = 2
    eventually(lambda: shown(page, "error", iteration=2))
    error = result.x - states[2]
    colours = Colormap.of(error, logarithmic=True).to_bytes(error).astype(int)
    assert np.abs(np.rint(255 * plane(page)).ravel() - colours).max() <= 1
    view.follow(run_through(Run(configure("poisson5", n=16))))
    eventually(lambda: "no earlier x was kept" in page.messages[-1]["note"])


def test_a_film_of_one_state_says_so():
    film = Film()
    run_through(Run(configure("two-layer", n=8), camera=Camera(film, share=math.inf)))
    film.frames = film.frames[:1]
    assert reported(film)["words"].startswith("1 state kept, ")


@pytest.mark.parametrize("quantity", ["solution", "residual"])
def test_the_film_of_a_run_is_scrubbed_also_from_its_file(view, page, eventually, tmp_path, quantity):
    view.quantity = quantity
    film = Film()
    result = run_through(Run(configure("two-layer", n=12), camera=Camera(film, share=math.inf)))
    view.follow(result)
    eventually(lambda: shown(page, quantity, iteration=result.iterations))
    said = page.messages[-1]["film"]
    assert said["iterations"] == list(range(result.iterations + 1))
    assert said["words"] == f"{result.iterations + 1} states kept, {amount(film.bytes)} of at most 67.1\u202fMB"
    view.frame = 3
    eventually(lambda: shown(page, quantity, iteration=3))
    values = film.frames[3].vectors[quantity].astype(float)
    assert draws(page, values, logarithmic=quantity == "residual")
    # The file has no solution, but the film.
    record = dataclasses.replace(result.record(), film=film)
    view.follow(load(save(record, tmp_path / "a.run.npz")))
    assert view.frame == -1
    eventually(lambda: page.messages and shown(page, quantity, iteration=result.iterations))
    view.frame = 3
    eventually(lambda: shown(page, quantity, iteration=3))
    assert draws(page, values, logarithmic=quantity == "residual")


def test_a_plane_of_a_filmed_cube_moves_through_its_blocks(view, page, eventually):
    view.quantity = "solution"
    run = Run(configure("poisson7", n=66), camera=Camera(Film(), share=math.inf))
    for _ in range(3):
        run.step()
    view.follow(run)
    view.frame = 1
    eventually(lambda: shown(page, "solution", iteration=1))
    view.normal, view.index = "z", 65
    values = run.film.frames[1].vectors["solution"][32].astype(float)
    eventually(lambda: draws(page, values, logarithmic=False))


def test_colours_sections_and_subdomains_are_chosen(view, page, eventually):
    run = Run(configure("bubbles-3d", n=16, deflation="blocks:2"))
    for _ in range(5):
        run.step()
    view.quantity = "residual"
    view.follow(run)
    eventually(
        lambda: shown(page, "residual", scale="symlog", cells=16, outlined=True) and page.messages[-1]["segments"]
    )
    view.overlay = False
    eventually(lambda: page.messages[-1]["segments"] == 0)
    view.colours = "linear"
    eventually(lambda: page.messages[-1]["scale"] == "linear")
    view.normal, view.index = "z", 3
    cube = run.workspace.vectors["r"].reshape(16, 16, 16)
    eventually(lambda: draws(page, cube[3], logarithmic=False))
    assert page.messages[-1]["y"]["label"].startswith("y")
    figure = view.figure()
    assert figure.axes[0].get_xlabel() == "x (side lengths)"
    assert view.plane == "z = 0.219"
    assert figure.axes[0].get_title() == "after iteration 4, z = 0.219"
    assert set(plotted_data(figure)["series"]) == {"z = 0.219"}


def test_a_section_of_a_run_begins_a_quarter_in_unless_it_is_given(view, page, page_of, eventually, opened):
    run = Run(configure("bubbles-3d", n=16))
    view.quantity = "solution"
    view.follow(run)
    eventually(lambda: page.messages and page.messages[-1]["width"] and view.index == 4)
    given = opened(FieldView(normal="x", index=7, quantity="solution"))
    page = page_of(given)
    given.follow(run)
    eventually(lambda: page.messages and page.messages[-1]["width"])
    assert given.index == 7


def test_the_coefficient_of_a_run_that_is_followed_is_drawn_by_a_worker(view, page, eventually):
    session = Session(configure("two-layer", n=16, deflation="stripes"))
    view.follow(session)
    session.wait(LIMIT)
    eventually(lambda: shown(page, "coefficient", scale="log") and page.messages[-1]["segments"])


def test_a_loaded_run_shows_its_solution_and_says_what_it_lacks(view, page, eventually, tmp_path):
    result = run_through(Run(configure("two-layer", n=16)))
    with_solution, without = (
        load(save(result.record(with_solution=kept), tmp_path / f"{kept}.npz")) for kept in (True, False)
    )
    view.quantity = "solution"
    view.follow(with_solution)
    eventually(lambda: shown(page, "solution", iteration=result.iterations))
    assert draws(page, result.x, logarithmic=False)
    view.quantity = "residual"
    eventually(lambda: shown(page, "residual"))
    assert "recomputed" in page.messages[-1]["note"]
    view.follow(without)
    eventually(lambda: "no solution was kept of this run" in page.messages[-1]["note"])
    view.quantity = "coefficient"
    eventually(lambda: shown(page, "coefficient"))


def test_a_matrix_without_a_grid_shows_a_band(view, page, eventually):
    matrix = sparse.diags_array(np.arange(1.0, 1001.0)).tocsr()
    result = solve(matrix, np.ones(1000), rtol=1e-10)
    view.quantity = "solution"
    view.follow(result)
    eventually(lambda: shown(page, "solution", band=True, width=500))
    message, buffer = page.received[-1]
    low, high = np.frombuffer(buffer, np.float32).reshape(2, 500)
    span = message["high"] - message["low"]
    np.testing.assert_allclose(message["low"] + span * high, result.x[::2], rtol=1e-5)
    np.testing.assert_allclose(message["low"] + span * low, result.x[1::2], rtol=1e-5)
    assert view.figure().axes[0].get_ylabel() == "solution x"
    view.quantity = "residual"
    eventually(lambda: "does not hold its matrix" in page.messages[-1]["note"])


def test_a_session_that_failed_says_why(view, page, eventually):
    view.quantity = "solution"
    session = Session(configure("poisson5", n=8, deflation="blocks:64"))
    view.follow(session)
    session.start()
    eventually(lambda: session.error and page.messages and session.error in page.messages[-1]["note"])


def test_what_an_accelerator_held_is_seen_from_the_host_after_the_end(view, page, eventually, accelerator):
    view.quantity = "residual"
    session = Session(configure("two-layer", n=16, device=accelerator.spec))
    view.follow(session)
    result = session.wait(LIMIT)
    taken = session.run.snapshots.count
    # Whether the last look came before the end, from the recurrence, or after it is a matter of chance.
    eventually(lambda: shown(page, "residual", iteration=result.iterations))
    view.quantity = "solution"
    eventually(lambda: shown(page, "solution", iteration=result.iterations))
    assert draws(page, result.x, logarithmic=False)
    assert session.run.snapshots.count == taken


def test_a_coefficient_that_comes_late_is_not_shown_under_another_run(view, page, eventually, monkeypatch):
    asked, go = threading.Event(), threading.Event()

    def slow(title, system):
        if "Two layers" in title:
            asked.set()
            go.wait(LIMIT)
        return scene(title, system)

    monkeypatch.setattr(module, "scene", slow)
    view.follow(Run(configure("two-layer", n=16)))
    assert asked.wait(LIMIT)
    # Not begun, so that nothing of its own covers what comes late.
    session = Session(configure("poisson5", n=8))
    view.follow(session)
    go.set()
    session.wait(LIMIT)
    eventually(lambda: shown(page, "coefficient", width=8))
    assert not any("Two layers" in message["title"] for message in page.messages)


def test_a_closed_view_leaves_a_publisher_that_was_given_at_work(eventually):
    publisher, ticks = Publisher(), []
    view = FieldView(publisher)
    view.follow(Session(configure("poisson5", n=8)))
    view.close()
    publisher.add(lambda: bool(ticks.append(1)))
    eventually(lambda: ticks)
    publisher.close()


def test_a_view_that_could_not_be_made_is_let_go_in_silence(monkeypatch):
    complaints = []
    monkeypatch.setattr(sys, "unraisablehook", complaints.append)
    with pytest.raises(traitlets.TraitError):
        FieldView(quantity="heat")
    gc.collect()
    assert not complaints


ON_LEVELS = {"deflation": "levelset:8", "coarse": "multilevel:bottom=60", "preconditioner": "jacobi"}


def boundary(page):
    """The length of all boundaries in the last picture, in side lengths."""
    message, buffer = page.received[-1]
    ends = np.frombuffer(buffer[len(buffer) - 16 * message["segments"] :], "<f4").reshape(-1, 4)
    return round(float(np.abs(ends[:, 2:] - ends[:, :2]).sum()), 3)


@pytest.mark.parametrize("quantity", ["coefficient", "solution"])
@pytest.mark.parametrize("problem", ["bubbles-2d", "bubbles-3d"])
def test_parts_of_any_level_can_be_outlined_also_of_a_loaded_run(view, page, eventually, problem, quantity, tmp_path):
    run = Run(configure(problem, n=32, **{**ON_LEVELS, "deflation": "levelset:16"}))
    result = run_through(run)
    view.quantity = quantity
    view.follow(run)
    eventually(lambda: page.messages and page.messages[-1].get("levels"))
    sizes = NestedParts.of(run.setup.projection.levels).sizes
    names = page.messages[-1]["levels"]
    dimensions = len(run.setup.system.grid)
    assert len(names) == len(sizes) > 1
    for level, (name, size) in enumerate(zip(names, sizes, strict=True)):
        box = " × ".join([str(2 * 2**level)] * dimensions)
        assert name.startswith(f"level {level}: {grouped(size)} parts, boxes of {box} cells")
    assert names[-1].endswith(", the coarsest")
    lengths = []
    for level in range(len(names)):
        view.level = level
        eventually(lambda: boundary(page) not in lengths)
        lengths.append(boundary(page))
    # Boundaries of a level are among those of the finer one.
    assert lengths == sorted(lengths, reverse=True)
    view.level = 99
    eventually(lambda: not view.publish())
    assert boundary(page) == lengths[-1]
    page.received.clear()
    view.follow(load(save(result.record(with_solution=True), tmp_path / "run.npz")))
    eventually(lambda: page.messages and page.messages[-1].get("levels") == names)


def kinds(page):
    """The colours of the last picture, of which its pixels have places; none where they mean something else."""
    message, buffer = page.received[-1]
    return set(buffer) - {0} if message.get("kinds") else set()


def test_parts_of_a_matrix_are_coloured_on_its_pattern_by_level_also_of_a_loaded_run(view, page, eventually, tmp_path):
    choices = {"deflation": "parts:20", "coarse": "multilevel:bottom=10", "preconditioner": "jacobi"}
    run = Run(configure("stand-in", of="bcsstk15", scale=0.5, **choices))
    result = run_through(run)
    view.follow(run)
    eventually(lambda: page.messages and page.messages[-1].get("levels"))
    eventually(lambda: kinds(page))
    assert page.messages[-1]["outlined"]
    names, sizes = page.messages[-1]["levels"], NestedParts.of(run.setup.projection.levels).sizes
    assert len(names) == len(sizes) > 1
    for level, (name, size) in enumerate(zip(names, sizes, strict=True)):
        assert name.startswith(f"level {level}: {grouped(size)} parts of ")
        assert "unknowns" in name
    finest = page.buffers[-1]
    view.level = len(names) - 1
    eventually(lambda: page.buffers[-1] != finest)
    assert kinds(page)
    # Its figure has the same kinds.
    assert set(np.unique(view.figure().axes[0].images[0].get_array().compressed())) == kinds(page)
    view.overlay = False
    eventually(lambda: not kinds(page))
    # A vector has no place for them.
    view.quantity = "solution"
    eventually(lambda: shown(page, "solution"))
    assert not page.messages[-1]["outlined"]
    view.quantity, view.overlay, view.level = "coefficient", True, 0
    page.received.clear()
    view.follow(load(save(result.record(with_solution=True), tmp_path / "run.npz")))
    eventually(lambda: page.received and kinds(page))
    assert page.buffers[-1] == finest


def test_there_is_no_choice_of_a_level_where_the_coarse_solver_has_none(view, page, eventually):
    run = Run(configure("bubbles-2d", n=24, **{**ON_LEVELS, "coarse": "cholesky"}))
    run_through(run)
    view.quantity = "solution"
    view.follow(run)
    eventually(lambda: shown(page, "solution"))
    eventually(lambda: page.messages[-1]["outlined"])
    eventually(lambda: not view.publish())
    assert not any(message.get("levels") for message in page.messages)


def test_the_levels_of_a_run_are_not_those_of_another_scene(view, page, eventually):
    run = Run(configure("bubbles-2d", n=24, **ON_LEVELS))
    run_through(run)
    view.follow(run)
    eventually(lambda: page.messages and page.messages[-1].get("levels"))
    labels = run.setup.labels
    view.show(scene("other", run.setup.system).with_labels(labels // 2))
    eventually(lambda: page.messages[-1]["title"] == "other")
    assert not page.messages[-1]["levels"]
    view.level = 1
    assert "level 1" not in view.figure().axes[0].get_title()
    view.show(scene("same", run.setup.system).with_labels(labels.copy()))
    eventually(lambda: page.messages[-1]["title"] == "same")
    assert page.messages[-1]["levels"]
    assert ", level 1: " in view.figure().axes[0].get_title()


def test_the_film_of_several_right_hand_sides_shows_the_chosen_one(view, page, eventually):
    view.quantity = "residual"
    run = Run(configure("poisson5", n=12, rhs="random:3", solver="block-cg"), camera=Camera(Film(), share=math.inf))
    view.follow(run_through(run))
    eventually(lambda: view.columns == 3)
    view.frame = 2
    for column in (0, 2):
        view.column = column
        eventually(lambda chosen=f"column {column + 1}": page.messages[-1]["title"].endswith(chosen))
        values = run.film.frames[2].vectors["residual"][column].astype(float)
        colours = Colormap.of(values, logarithmic=True).to_bytes(values).astype(int)
        assert np.abs(np.rint(255 * plane(page)).ravel() - colours.ravel()).max() <= 1
