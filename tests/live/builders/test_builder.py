"""Build's button "Solve this": off while a field is red or nothing is built, with the reason; on after undo."""

import pytest

from tests.live.builders.forms import choose, press, say
from tests.waiting import until
from workbench.live import Builder
from workbench.live.builders.bubble_model import EMPTY
from workbench.live.builders.builder import SOLVES
from workbench.live.builders.matrix_builder import NOTHING
from workbench.problems.bubbles import Bubbles2D
from workbench.run import configure


@pytest.fixture
def building(opened):
    """A page of builders of a kind, in front, and what it does: set a field, act, and the reason why it is off."""

    def make(kind):
        page = opened(Builder(Bubbles2D(n=32), solve=lambda: None))
        page.kind.value = kind
        return page

    return make


def off(page, sentence):
    """Wait until the button is off for this reason, or for none on."""
    until(lambda: (page.press.disabled, page.press.tooltip) == (bool(sentence), sentence or SOLVES))


@pytest.mark.parametrize(
    ("kind", "right", "wrong", "sentence"),
    [
        ("Poisson", ("n", "16"), ("n", "1"), "Cells per side must be between 2 and 46340, got 1"),
        ("Poisson", ("a", "2"), ("a", "1 +"), "Coefficient of ∂x: column 4: the formula ends too early"),
        ("Bubbles", ("n", "64"), ("n", "4"), "Cells per side must be between 8 and 46340, got 4"),
        ("Bubbles", ("n", "64"), ("radius", "7"), "Radius must be between 0 and 0.5, got 7"),
    ],
)
def test_it_is_off_while_a_field_is_red_and_undo_leads_back(building, kind, right, wrong, sentence):
    page = building(kind)
    before = page.problem
    choose(page.builder, *right)
    changed = page.problem
    choose(page.builder, *wrong)
    assert page.press.disabled
    if "column" not in sentence:
        assert page.press.tooltip == sentence
    press(page.builder, "undo")
    off(page, "")
    assert page.problem == changed
    press(page.builder, "undo")
    off(page, "")
    assert page.problem == before
    press(page.builder, "redo")
    off(page, "")
    assert page.problem == changed


def test_a_formula_that_is_wrong_for_its_values_turns_it_off_too(building):
    page = building("Poisson")
    choose(page.builder, "a", "x - 0.5")
    assert page.press.tooltip.startswith("Coefficient of ∂x: a must be positive and finite, but a = ")
    assert page.built is None
    # Another field that is right does not make it right.
    choose(page.builder, "n", "20")
    assert page.press.disabled
    choose(page.builder, "a", "x")
    off(page, "")
    assert page.problem == configure("poisson-2d", n=20, a="x", f="sin(2*pi*x)").problem


def test_an_empty_canvas_and_a_bubble_that_overlaps_turn_it_off(building):
    page = building("Bubbles")
    say(page.builder, act="clear")
    off(page, EMPTY)
    press(page.builder, "undo")
    off(page, "")
    say(page.builder, act="place", index=0, row=[0.5, 0.25, 0.175], stroke="a")
    off(page, "bubbles 1 and 2 overlap; move them apart or make one smaller")
    say(page.builder, act="place", index=0, row=[0.5, 0.25, 0.175], stroke="a", done=True)
    off(page, "")


def test_it_speaks_of_the_builder_in_front(building):
    page = building("Poisson")
    choose(page.builder, "n", "1")
    assert page.press.disabled
    page.kind.value = "Bubbles"
    off(page, "")
    page.kind.value = "Matrix"
    off(page, NOTHING)
    page.kind.value = "Poisson"
    assert page.press.disabled
    press(page.builder, "undo")
    off(page, "")
