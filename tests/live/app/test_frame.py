"""The frame of the page: views, the problem in words, the glossary, and what the page asks of it."""

import ipywidgets as widgets
import pytest

from tests.live.conftest import page_says
from workbench.errors import InputError
from workbench.live.app import glossary
from workbench.live.app.frame import Frame
from workbench.live.app.page import Page
from workbench.live.app.problem_words import problem_words
from workbench.run import configure


def parts(frame):
    return {view["key"]: [part["title"] for part in view["parts"]] for view in frame.shell.views}


def test_a_view_is_listed_with_its_pages_once_it_has_one():
    frame = Frame({}, widgets.HTML())
    assert parts(frame) == {}
    frame.add("runs", "Runs", Page(widgets.VBox))
    frame.add("compare", "Race", Page(widgets.VBox))
    frame.add("compare", "Sweep", Page(widgets.VBox))
    assert parts(frame) == {"compare": ["Race", "Sweep"], "runs": ["Runs"]}
    frame.turn_to("Sweep")
    assert frame.shell.shown == "compare.sweep"
    assert frame.in_front is frame.pages["Sweep"]
    with pytest.raises(InputError, match="unknown view 'compar'; did you mean compare"):
        frame.add("compar", "More", Page(widgets.VBox))


@pytest.mark.parametrize(
    ("problem", "choices", "words"),
    [
        ("bubbles-3d", {}, "8 bubbles in a cube | 128³ = 2.10 × 10⁶ unknowns · density ratio 0.001"),
        (
            "bubbles-2d",
            {"layout": "random", "count": 1, "n": 64},
            "1 random bubble in a square | 64² = 4096 unknowns · density ratio 0.001",
        ),
        (
            "bubbles-2d",
            {"layout": "list", "bubbles": "0.5,0.5,0.2;", "n": 64},
            "1 bubble in a square | 64² = 4096 unknowns · density ratio 0.001",
        ),
        ("two-layer", {"density_ratio": 10.0}, "Two layers | 256² = 65 536 unknowns · density ratio 10"),
        (
            "rising-bubbles",
            {"n": 16},
            "1 rising bubble in a channel | 16 × 32 cells · density ratio 0.1",
        ),
        ("poisson-fd", {"n": 10}, "Poisson on interior points | 9² = 81 unknowns within 10² intervals"),
        ("matrix-file", {"path": "/a/b/c.mtx"}, "Matrix c | "),
        ("suitesparse", {}, "Matrix HB/bcsstk15 | "),
        ("stand-in", {}, "Stand-in for bcsstk15 | "),
    ],
)  # fmt: skip
def test_a_problem_is_named_in_words(problem, choices, words):
    assert " | ".join(problem_words(configure(problem, **choices).problem)).replace("\u202f", " ") == words


@pytest.mark.parametrize("name", glossary.PAGES)
def test_every_page_of_documentation_is_shown(name):
    assert "<h1>" in glossary.page(name)


def test_what_the_page_asks_is_answered_and_what_it_may_not_have_is_not(monkeypatch):
    done, sent = [], []
    frame = Frame({"undo": lambda: done.append("undo")}, widgets.HTML())
    monkeypatch.setattr(frame.shell, "send", sent.append)
    for message in (
        {"kind": "undo"},
        {"kind": "docs", "page": "family"},
        {"kind": "docs", "page": "../secret"},
        {},
    ):
        page_says(frame.shell, message)
    assert done == ["undo"]
    assert (sent[0]["kind"], sent[0]["title"]) == ("docs", "The CG family")
    assert sent[1]["kind"] == "said"
    assert "there is no page '../secret'" in sent[1]["text"]


def test_meanings_of_the_glossary_have_their_mathematics_printed():
    meanings = glossary.terms()
    assert "CG then works with M⁻¹ A" in meanings["preconditioner"]
    assert not [meaning for meaning in meanings.values() if "^" in meaning or "||" in meaning]
