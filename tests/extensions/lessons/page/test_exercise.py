"""An exercise on the page: a hint first, numbers after the second try, and no verdict next to another answer."""

from fractions import Fraction

import pytest

from tests.waiting import LIMIT, until
from workbench.extensions.lessons import lesson
from workbench.extensions.lessons.page.exercise import SUBMIT, ExerciseView


@pytest.fixture
def shown():
    made = ExerciseView(lesson("without-pain").exercises[1], 2, name="without-pain:2")
    yield made
    made.close()


def answered(view, text):
    view.field.value = text
    view.check()
    assert view.wait(LIMIT)
    return view.verdict.text


def test_a_hint_comes_first_and_numbers_with_the_second_try(shown):
    first = answered(shown, "3")
    assert first == "Not yet: compute A p₀ first; p₁ is to be orthogonal to it."
    assert shown.tries.value == "1st try"
    assert "p₀ᵀA p₁ is 13.0" in answered(shown, "4")
    assert shown.tries.value == "2nd try"
    assert answered(shown, "-5/2").startswith("Right: ")
    assert shown.tries.value == "solved at the 3rd try"


def test_an_answer_that_is_no_number_is_no_try(shown):
    assert "a number such as" in answered(shown, "nine")
    assert (shown.progress.tries, shown.tries.value) == (0, "")


def test_each_attempt_is_reported(shown):
    heard = []
    shown.on_progress(heard.append)
    answered(shown, "3")
    answered(shown, "-2.5")
    assert [(each.exercise, each.tries, each.solved, each.answer) for each in heard] == [
        ("without-pain:2", 1, False, "3"), ("without-pain:2", 2, True, "-2.5"),
    ]  # fmt: skip
    assert heard[0].when <= heard[1].when


def test_a_verdict_goes_when_the_answer_changes(shown):
    assert answered(shown, "-2.5").startswith("Right")
    shown.field.value = "3"
    assert shown.verdict.text == ""


def test_a_verdict_on_an_answer_that_has_changed_meanwhile_is_not_shown(shown):
    shown.field.value = "-2.5"
    shown._worker.ask(lambda: (setattr(shown.field, "value", "3"), shown._judge("-2.5")))
    assert shown.wait(LIMIT)
    assert (shown.verdict.text, shown.progress.tries) == ("", 0)


def test_enter_checks(shown):
    shown.field.value = "-2.5"
    shown.field._handle_custom_msg(SUBMIT, [])
    until(lambda: shown.verdict.text.startswith("Right"))


def test_a_choice_counts_its_attempts():
    view = ExerciseView(lesson("polynomials").exercises[2], 3)
    assert "Which weight has it here" in answered(view, "0.001")
    assert answered(view, "50").startswith("Right")
    assert view.tries.value == "solved at the 2nd try"
    view.close()


@pytest.mark.parametrize(("given", "shown"), [(Fraction(-5, 2), "-2.5"), (-2.5, "-2.5"), ("-5/2", "-5/2")])
def test_an_answer_that_is_given_is_shown(given, shown):
    view = ExerciseView(lesson("without-pain").exercises[1], 2, given)
    assert view.wait(LIMIT)
    assert (view.field.value, view.verdict.text[:7]) == (shown, "Right: ")
    view.close()
