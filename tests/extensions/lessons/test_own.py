"""A teacher's own exercises and notebooks: how they are declared, judged, found and refused."""

import json
import sys

import numpy as np
import pytest

from workbench.errors import InputError
from workbench.extensions.lessons.folder import MOST, own_lesson, own_lessons
from workbench.extensions.lessons.own import LONGEST, declared
from workbench.words.numbers import THIN


def words(exercise, answer):
    return str(exercise.check(answer))


def test_a_number_is_right_within_its_tolerance():
    angle = declared("At which angle?", 45, tolerance=0.5, unit="°")
    assert [angle.check(answer).right for answer in ("44.49", "44.5", "45", "45.5", "45.51")] == [
        False, True, True, True, False,
    ]  # fmt: skip
    assert words(angle, "45.5") == "Right: 45.5° is the answer."
    assert words(angle, "40") == "Not yet: 40° is not the answer."
    assert words(declared("How many?", 3, unit="steps"), "4") == f"Not yet: 4{THIN}steps is not the answer."


def test_rounding_takes_no_answer_out_of_its_tolerance():
    assert declared("Near 0.3?", 0.3, tolerance=0.1).check("0.4").right


@pytest.mark.parametrize(
    "right", [np.array([1, 3]), np.array([1.0, 3.0]), [np.int64(1), np.float32(3)], range(1, 4, 2)]
)
def test_what_numpy_computes_is_a_right_answer(right):
    values = declared("The eigenvalues?", right)
    assert [values.check(answer).right for answer in ("3 1", "1")] == [True, False]
    assert declared("The last?", right[-1], tolerance=np.int64(1)).check("4").right
    assert declared("The count?", np.array(2)).check("2").right


def test_choices_come_from_anything_that_has_texts():
    for choices in (np.array(["a", "b"]), (each for each in "ab")):
        assert declared("Which?", "a", choices=choices).check("a").right


def test_a_whole_number_without_a_tolerance_is_exact():
    steps = declared("How many steps?", 2)
    assert [steps.check(answer).right for answer in ("2", "2.0", "2.001", "3")] == [True, True, False, False]


def test_a_set_of_numbers_is_right_in_any_order_and_complete():
    values = declared("The eigenvalues?", {1, 3}, tolerance=0.1)
    answers = ("3 1", "1; 3.05", "[1, 3]", "1", "1 3 3", "1 4")
    assert [values.check(answer).right for answer in answers] == [True, True, True, False, False, False]
    assert words(values, "4 1") == "Not yet: 4 1 is not the answer."


def test_a_choice_has_its_hint_first():
    cheap = declared("Which is cheaper?", "Jacobi", choices=["Jacobi", "IC"], hint="count bytes.")
    assert cheap.check("Jacobi").right
    assert cheap.check("IC").words(hint_first=True) == "Not yet: count bytes."
    with pytest.raises(InputError, match="one of 'Jacobi', 'IC'"):
        cheap.check("ILU")


def test_a_function_judges_and_may_say_why():
    even = declared("An even number?", lambda x: True if x % 2 == 0 else "it is odd.")
    assert [words(even, answer) for answer in ("4", "3")] == ["Right: 4 is the answer.", "Not yet: it is odd."]
    rising = declared("Two numbers that rise?", lambda found: found == sorted(found), several=True)
    assert [rising.check(answer).right for answer in ("1 2", "2 1")] == [True, False]
    assert words(declared("Why?", lambda x: "is it positive?"), "1") == "Not yet: is it positive?"
    chosen = declared("Any?", lambda text: text == "b", choices=["a", "b"])
    assert [chosen.check(answer).right for answer in ("a", "b")] == [False, True]


@pytest.mark.parametrize(
    ("judge", "said"),
    [
        (lambda x: 1 / x, "failed .ZeroDivisionError: float division by zero."),
        (lambda x: None, "returned None, and not True"),
        (lambda x: " .", "returned ' .', and not True"),
        (lambda x: int("a\nb"), "failed .ValueError: invalid literal .* base 10: 'a.*b'."),
        (lambda x: sys.exit(), "failed .SystemExit:."),
    ],
)
def test_a_judge_that_fails_is_said_and_answers_nothing(judge, said):
    with pytest.raises(InputError, match=f"{said}.*; tell your teacher"):
        declared("What?", judge).check("0")


@pytest.mark.parametrize(
    ("right", "more", "said"),
    [
        (2.5, {}, "2.5 is no whole number; give tolerance=, such as 0.01"),
        ({1, 2.5}, {}, "2.5 is no whole number; give tolerance="),
        (True, {}, "the right answer is a number, and True is none"),
        (float("nan"), {}, "a number, and nan is none"),
        (None, {}, "a number, and None is none"),
        (10**400, {}, "the right answer is a number, and 1000"),
        (b"ab", {}, "is the text b'ab'; give choices="),
        (np.array([]), {}, "the set of right numbers is empty"),
        (np.eye(2), {}, "a number, and [1.0, 0.0] is none"),
        ("a", {"choices": 5}, "the choices are texts"),
        (1, {"tolerance": True}, "a number from 0 on, and not True"),
        (set(), {}, "the set of right numbers is empty"),
        ("x", {}, "is the text 'x'; give choices="),
        ("x", {"choices": ["a", "b"]}, "'x' is none of the choices"),
        ("a", {"choices": ["a"]}, "two or more, each different"),
        ("a", {"choices": "ab"}, "the choices are texts"),
        (1, {"tolerance": -1}, "a number from 0 on, and not -1"),
        (1, {"hint": 5}, "the hint is a text, and 5 is none"),
        (1, {"hint": "x" * (LONGEST + 1)}, f"the hint has {LONGEST + 1} characters"),
    ],
)
def test_what_does_not_fit_together_is_refused_in_a_sentence(right, more, said):
    with pytest.raises(InputError) as refused:
        declared("What?", right, **more)
    assert said in str(refused.value)


def test_a_question_is_needed():
    with pytest.raises(InputError, match="the question is empty"):
        declared(" ", 1)


def written(folder, name, *cells, **more):
    """A notebook of text (what begins with #) and code."""
    made = [{"cell_type": "markdown" if cell.startswith("#") else "code", "source": [cell]} for cell in cells]
    path = folder / name
    path.write_text(json.dumps({"cells": made, "nbformat": 4, **more}), encoding="utf-8")
    return path


def test_notebooks_of_a_folder_have_title_question_and_address(tmp_path):
    written(tmp_path, "My first (1).ipynb", "# Jacobi\n\n**When does it help?** Often.", "x = 1", "%matplotlib\ny = 2")
    written(tmp_path, "b.ipynb", "# B")
    (tmp_path / "notes.txt").write_text("no notebook", encoding="utf-8")
    first, second = own_lessons(tmp_path)
    assert (first.name, first.title, first.question) == ("my-first-1", "Jacobi", "When does it help?")
    assert (first.code_cells, first.mistake) == ((2, 3), "")
    assert (second.name, second.question) == ("b", "")


@pytest.mark.parametrize(
    "code",
    ["y = (5\n     % 3)", "files = !ls\nprint?", "%%bash\nls |", "for i in (1,):\n    %time x = i",
     "  x = 1\n  y = 2", "await x()"],
)  # fmt: skip
def test_what_ipython_reads_is_no_mistake(code, tmp_path):
    assert own_lesson(written(tmp_path, "a.ipynb", "# A", code)).mistake == ""


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (("# A", "x = 1\0"), "a.ipynb, cell 2: the code is no Python (source code string cannot contain null bytes)"),
        (("# A", "x = 1", "y = = 2"), "a.ipynb, cell 3: line 1 is no Python (invalid syntax)"),
        (("# A", "x = 1\nif x:"), "a.ipynb, cell 2: line 2 is no Python (expected an indented block after 'if'"),
        (("x = 1",), "a.ipynb has no heading; begin a cell of text with a line such as # My lesson"),
    ],
)
def test_a_mistake_is_one_sentence_with_file_and_cell(cells, said, tmp_path):
    assert own_lesson(written(tmp_path, "a.ipynb", *cells)).mistake.startswith(said)


@pytest.mark.parametrize("text", ["", "[]", "{}", "{", '{"nbformat": 4, "cells": [5]}', "[" * 100_000, "\x00"])
def test_what_is_no_notebook_is_said(text, tmp_path):
    path = tmp_path / "a.ipynb"
    path.write_text(text, encoding="utf-8")
    assert own_lesson(path).mistake == "a.ipynb is no notebook of Jupyter; save it again with JupyterLab"


def test_an_old_format_is_said(tmp_path):
    assert "has the format 3; save it again" in own_lesson(written(tmp_path, "a.ipynb", nbformat=3)).mistake


def test_a_folder_without_notebooks_is_refused(tmp_path):
    with pytest.raises(InputError, match="there is no folder .*; name one with notebooks"):
        own_lessons(tmp_path / "none")
    with pytest.raises(InputError, match="there is no notebook"):
        own_lessons(tmp_path)
    written(tmp_path, "a b.ipynb", "# A")
    written(tmp_path, "a-b.ipynb", "# B")
    with pytest.raises(InputError, match="a b.ipynb and a-b.ipynb have one address; rename one"):
        own_lessons(tmp_path)
    for number in range(MOST):
        written(tmp_path, f"{number}.ipynb", "# A")
    with pytest.raises(InputError, match=f"{MOST} are served at most"):
        own_lessons(tmp_path)
