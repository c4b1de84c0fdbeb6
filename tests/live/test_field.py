"""The field view: what is shown is sent, sections follow the sliders, a sentence can stand for a picture."""

from __future__ import annotations

import pytest

from workbench.live import FieldView
from workbench.live.pictures import scene
from workbench.run import configure


@pytest.fixture
def view():
    made = FieldView()
    yield made
    made.publisher.close()


def cube(n=16):
    return scene("cube", configure("bubbles-3d", n=n).problem.assemble())


def test_a_scene_is_sent_and_sent_again_after_a_reload(view, page_of, eventually):
    page = page_of(view)
    view.show(scene("layers", configure("two-layer", n=16).problem.assemble()))
    eventually(lambda: page.messages and page.messages[-1]["title"] == "layers")
    assert len(page.buffers[-1]) == 256
    before = len(page.messages)
    page.reload()
    eventually(lambda: len(page.messages) > before)
    assert page.messages[-1]["title"] == "layers"


def test_a_cube_opens_a_quarter_in_and_follows_the_section(view, page_of, eventually):
    page = page_of(view)
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


def test_an_index_out_of_the_cube_is_brought_back(view, page_of, eventually):
    page = page_of(view)
    view.show(cube())
    view.index = 10_000
    eventually(lambda: page.messages and page.messages[-1]["width"] == 16)


def test_a_sentence_can_stand_for_a_picture(view, page_of, eventually):
    page = page_of(view)
    view.say("bcsstk15", "downloaded when the run starts")
    eventually(lambda: page.messages and page.messages[-1]["note"])
    assert page.messages[-1]["width"] == 0
    assert view.figure() is None


def test_what_is_shown_is_a_figure_too(view):
    view.show(cube())
    assert view.figure().axes[0].get_xlabel() == "x (side lengths)"
