"""Answers that the browser keeps: sent when they change, and judged again when they come back."""

import pytest

from tests.waiting import LIMIT, until
from workbench.extensions.lessons import lesson
from workbench.extensions.lessons.page.exercise import ExerciseView
from workbench.extensions.lessons.page.kept_answer import LONGEST


@pytest.fixture
def view():
    made = []

    def show(number, name="without-pain"):
        made.append(ExerciseView(lesson(name).exercises[number - 1], number, kept_as=f"{name}:{number}"))
        return made[-1]

    yield show
    for each in made:
        each.close()


def come_back(view, **content):
    view.kept._receive(view.kept, {"kind": "kept", **content}, [])


def test_an_answer_is_kept_when_it_changes_and_when_it_is_checked(view):
    shown = view(1)
    shown.field.value = "9"
    assert (shown.kept.name, shown.kept.answer, shown.kept.checked) == ("without-pain:1", "9", False)
    shown.check()
    until(lambda: shown.kept.checked)
    assert (shown.kept.tries, shown.kept.solved) == (1, True)


def test_an_answer_that_comes_back_is_judged_again(view):
    shown = view(1)
    come_back(shown, answer="9", checked=True)
    assert shown.field.value == "9"
    until(lambda: shown.verdict.text.startswith("Right"))


def test_an_answer_that_was_not_checked_has_no_verdict(view):
    shown = view(1)
    come_back(shown, answer="9", checked=False)
    assert (shown.field.value, shown.verdict.text) == ("9", "")


@pytest.mark.parametrize(
    ("kept", "words", "said"),
    [({"tries": 3}, "3rd try", "Not yet: from"), ({"tries": 1}, "1st try", "Not yet: compare"),
     ({}, "1st try", "Not yet: compare"), ({"tries": 10**9}, "1st try", "Not yet: compare"),
     ({"tries": "3", "solved": 1}, "1st try", "Not yet: compare"), ({"tries": True}, "1st try", "Not yet: compare"),
     ({"tries": 2, "solved": True}, "solved at the 2nd try", "Not yet: from")],
)  # fmt: skip
def test_tries_come_back_and_judging_again_is_no_further_try(kept, words, said, view):
    shown = view(1)
    come_back(shown, answer="3", checked=True, **kept)
    assert shown.wait(LIMIT)
    assert shown.tries.value == words
    assert shown.verdict.text.startswith(said)


@pytest.mark.parametrize("content", [{"answer": "none of the choices", "checked": True}, {"answer": 5}, {}])
def test_what_is_no_answer_changes_nothing(content, view):
    shown, heard = view(2, "preconditioning"), []
    shown.on_progress(heard.append)
    come_back(shown, **{"tries": 2, "solved": True, **content})
    assert (shown.field.value, shown.verdict.text, shown.tries.value) == ("", "", "")
    # A class would count it as solved.
    assert (heard, shown.progress.solved, shown.kept.solved) == ([], False, False)


def test_an_answer_that_is_too_long_is_neither_kept_nor_brought_back(view):
    shown = view(1, "waiting")
    shown.field.value = "x" * LONGEST
    assert shown.kept.answer == shown.field.value
    shown.field.value += "x"
    assert len(shown.kept.answer) == LONGEST
    come_back(another := view(1, "waiting"), answer="y" * (LONGEST + 1), checked=False)
    assert "y" not in another.kept.answer


def test_a_view_without_a_name_keeps_nothing():
    shown = ExerciseView(lesson("without-pain").exercises[0], 1)
    assert shown.kept is None
    shown.close()
