"""The widget that shows scenes: what the page is sent, and what it says back."""

import numpy as np
import pytest

from tests.live.conftest import page_says
from workbench.live.plots.chart import ChartStack, ChartView
from workbench.plots.scenes.scene import Axis, BarsOf, CellsOf, CurveOf, LineAt, ParallelOf, PointsOf, Scene

X, Y = Axis("x"), Axis("y", log=True)


@pytest.fixture
def view(opened):
    return opened(ChartView())


def test_a_scene_travels_as_its_layers_and_their_numbers_one_after_another():
    layers = [
        CurveOf("a", np.array([1, 2]), np.array([3.0, 4.0])),
        LineAt(0.5, "half"),
        PointsOf("b", np.array([5]), np.array([6.0]), keys=["k"]),
        BarsOf("c", np.array([7]), np.array([8]), base=np.array([1])),
        CellsOf("d", np.array([[9.0, np.nan], [10, 11]])),
        ParallelOf([("p", []), ("q", [])], np.array([[0.0, 1.0]]), [["run"]]),
    ]
    message, data = Scene("all", X, Y, layers).message()
    numbers = np.frombuffer(data, np.float32)
    np.testing.assert_array_equal(numbers, [1, 2, 3, 4, 5, 6, 7, 8, 1, 9, np.nan, 10, 11, 0, 1])
    assert [layer["layer"] for layer in message["layers"]] == ["curve", "line", "points", "bars", "cells", "parallel"]
    counted = [layer.get("count", 0) for layer in message["layers"]]
    assert counted == [2, 0, 1, 1, 4, 2]
    assert message["layers"][3]["based"]
    assert (message["layers"][4]["rows"], message["layers"][4]["columns"]) == (2, 2)
    assert message["y"]["log"]


def test_the_page_is_sent_each_scene_once_and_all_again_when_it_asks(view, page, eventually):
    eventually(lambda: page.messages)
    view.show(Scene("first", X, Y))
    eventually(lambda: page.messages[-1]["name"] == "first")
    count = len(page.messages)
    view.publisher.wake()
    view.show(Scene("second", X, Y), live=True)
    eventually(lambda: page.messages[-1]["name"] == "second")
    assert len(page.messages) == count + 1
    assert page.messages[-1]["live"]
    page.reload()
    eventually(lambda: len(page.messages) == count + 2)
    assert page.messages[-1]["name"] == "second"


def test_a_click_gives_the_key(view):
    given = []
    view.on_pick(given.append)
    page_says(view, {"kind": "picked", "key": "7"})
    page_says(view, {"kind": "ready"})
    assert given == ["7"]


def test_a_stack_shows_as_many_plots_as_there_are_scenes(view):
    stack = ChartStack(view.publisher)
    assert stack.scenes == []
    assert stack.box.layout.display == "none"
    stack.show([Scene("one", X, Y), Scene("two", X, Y)])
    assert [scene.name for scene in stack.scenes] == ["one", "two"]
    stack.show([Scene("three", X, Y)])
    assert [scene.name for scene in stack.scenes] == ["three"]
