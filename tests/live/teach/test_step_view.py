"""The step view: where it stands, what it sends, and what a button or a key does."""

import time

import numpy as np
import pytest

from tests.live.conftest import page_says
from workbench.errors import InputError
from workbench.live import StepView
from workbench.number_text import number
from workbench.run import configure


@pytest.fixture
def view(opened):
    return opened(StepView("cg", "poisson5", 8, n=9, rhs="random"))


def said(view, **content):
    page_says(view, content)


def test_lines_and_iterations_forth_and_back(view):
    assert view.place == (0, 0)
    view.next_line()
    assert view.place == (0, 1)
    view.next_iteration()
    assert view.place == (0, 7)
    view.next_line()
    assert view.place == (1, 1)
    view.back()
    assert view.place == (0, 7)
    view.next_iteration()
    assert view.place == (1, 12)
    view.next_line()
    view.next_iteration()
    assert view.place == (2, 12)
    view.previous_iteration()
    assert view.place == (1, 12)
    view.go(3, 5)
    assert view.place == (3, 5)
    view.restart()
    view.back()
    assert view.place == (0, 0)
    view.go(view.walk.iterations)
    view.next_line()
    view.next_iteration()
    assert view.place == (view.walk.iterations, 12)


def test_the_page_gets_the_line_its_value_and_the_vectors(view, page, eventually):
    view.go(2, 5)
    eventually(lambda: page.messages and page.messages[-1]["place"] == 7 + 12 + 5)
    message, pixels = page.received[-1]
    norm = np.linalg.norm(view.values["r"])
    assert message["sentence"].startswith("Iteration 2, line 5 of 12: r = r − α\u202fs gives ‖r‖ = ")
    assert message["values"]["iterate"][4] == f"‖r‖ = {number(norm, 4)}"
    # What is still to run shows its value of the iteration before.
    assert message["values"]["iterate"][10] == f"‖x‖ = {number(np.linalg.norm(view.walk.after(1, 11)['x']), 4)}"
    assert [(shown["name"], shown["fresh"]) for shown in message["pictures"]] == [
        ("x", False),
        ("r", True),
        ("p", False),
    ]
    drawn = np.frombuffer(pixels, np.uint8).reshape(3, 9, 9)[1][::-1].astype(float)
    r = view.values["r"].reshape(9, 9)
    np.testing.assert_array_equal(drawn, 128 + np.rint(127 * r / np.abs(r).max()))


def test_a_page_that_comes_anew_gets_everything(view, page, eventually):
    view.next_line()
    eventually(lambda: page.messages and page.messages[-1]["place"] == 1)
    before = len(page.messages)
    page.reload()
    eventually(lambda: len(page.messages) > before)
    assert page.messages[-1]["place"] == 1


def test_what_the_page_asks_for_is_done_and_nothing_else(view):
    said(view, act="next_line")
    assert view.place == (0, 1)
    said(view, iteration=4)
    assert view.place == (4, 12)
    said(view, iteration=10**9)
    assert view.iteration == view.walk.iterations
    for nonsense in ({"act": "close"}, {"act": "__init__"}, {"act": None}, {"iteration": "3"}, {}):
        said(view, **nonsense)
    assert view.iteration == view.walk.iterations


def test_it_plays_until_it_is_paused(view, page_of, eventually):
    page_of(view)
    view.play()
    eventually(lambda: view.place == (0, 2))
    view.pause()
    here = view.place
    time.sleep(0.7)
    assert view.place == here
    view.go(view.walk.iterations)
    view.play()
    assert not view.playing


def test_it_ends_where_the_tolerance_is_met(opened):
    made = opened(StepView("cg", "poisson5", 60, n=4, rhs="random"))
    assert made.walk.iterations < 60
    assert "below the tolerance of 10⁻⁶, verified by b − Ax" in made.ending


def test_a_configuration_can_be_given_and_cubes_are_not_drawn(page_of, eventually, opened):
    made = opened(StepView(configure("poisson7", n=4, solver="pipecg", rhs="random"), iterations=3))
    page = page_of(made)
    made.go(2)
    eventually(lambda: page.messages and page.messages[-1]["iteration"] == 2)
    assert page.messages[-1]["pictures"] == []
    assert not made.program["drawn"]
    assert made.program["title"].startswith("Pipelined CG")


def test_what_cannot_be_stepped_is_refused():
    with pytest.raises(InputError, match="solver hybrid2 has no lines to step through: it shares the lines of pipecg"):
        StepView("hybrid2", "poisson5", n=4)
    with pytest.raises(InputError, match="up to 10000 unknowns, not 16384"):
        StepView("cg", "poisson5", n=128)
    with pytest.raises(InputError, match="iterations must be between 1 and 1000, got 0"):
        StepView("cg", "poisson5", 0, n=4)
    with pytest.raises(InputError, match="iteration must be between 0 and"):
        StepView("cg", "poisson5", 5, n=4).go(99)


@pytest.fixture
def on_levels(opened):
    coarse = {"deflation": "levelset:8", "coarse": "multilevel:bottom=100", "preconditioner": "neumann:1"}
    return opened(StepView("cg", "bubbles-3d", 6, n=16, rhs="random", sides="z-:dirichlet", **coarse))


def test_what_each_level_removes_is_computed_only_when_it_is_shown(on_levels, page_of, eventually, monkeypatch):
    computed = []
    removal = on_levels.walk.removal
    monkeypatch.setattr(on_levels.walk, "removal", lambda x: computed.append(x) or removal(x))
    page = page_of(on_levels)
    on_levels.go(2)
    eventually(lambda: page.messages and page.messages[-1]["iteration"] == 2)
    assert page.messages[-1]["removal"] is None
    assert not computed
    said(on_levels, act="toggle_levels")
    eventually(lambda: page.messages[-1]["removal"])
    reported = page.messages[-1]["removal"]
    found = removal(on_levels.values["x"])
    assert reported["stages"] == [[stage.by, stage.left] for stage in found.stages]
    assert reported["exact"] == found.exact
    removers = [remover["by"] for remover in on_levels.program["removers"]]
    assert set(reported["removed"]) < set(removers)
    assert removers[:3] == ["before", "M", "level 0"]
    # x changes once in an iteration.
    on_levels.go(3, 1)
    eventually(lambda: page.messages[-1]["lines"] == 1)
    assert len(computed) == 1
    on_levels.go(3)
    eventually(lambda: page.messages[-1]["lines"] > 1)
    assert len(computed) == 2
    assert page.messages[-1]["removal"] != reported
    said(on_levels, act="toggle_levels")
    eventually(lambda: page.messages[-1]["removal"] is None)


def test_there_is_nothing_to_remove_without_levels(view, page_of, eventually):
    assert view.program["removers"] == []
    page = page_of(view)
    said(view, act="toggle_levels")
    eventually(lambda: page.messages)
    assert page.messages[-1]["removal"] is None


def test_lines_that_an_iteration_leaves_out_are_one_step():
    view = StepView("pipecg-rr", "poisson5:8", iterations=3)
    try:
        optional, each = view.walk.optional, len(view.walk.iterate)
        assert optional > 10
        view.go(1, each - optional)
        view.next_line()
        assert view.place == (1, each)
        message, _ = view._message()
        assert message["sentence"].startswith(f"Iteration 1: the last {optional} lines are left out, since due = ")
        assert message["left_out"]
        assert message["values"]["iterate"][-1] == ""
        view.back()
        assert view.place == (1, each - optional)
    finally:
        view.close()


def test_complex_scalars_have_both_parts():
    view = StepView("cocg", "stand-in:helm_fem,scale=0.05", iterations=2)
    try:
        view.go(1)
        values = dict(zip(view.program["targets"]["iterate"], view._message()[0]["values"]["iterate"], strict=True))
        assert values["alpha"].endswith("i")
        assert not values["rr"].endswith("i")
    finally:
        view.close()
