"""Lessons: notebooks that agree with their sources, and exercises whose solutions are right."""

from __future__ import annotations

import ast
import re
import runpy
from pathlib import Path

import pytest

from workbench.errors import InputError
from workbench.extensions.lessons import LESSONS, lesson
from workbench.extensions.lessons.bubble_scenes import OF_DISC, OF_ROWS
from workbench.extensions.lessons.geometry_marks import CURVES, MARKS
from workbench.extensions.lessons.page.derivations import OF_BLOCKS, OF_DEFLATION
from workbench.extensions.lessons.page.pointing import NAMES
from workbench.extensions.lessons.polynomial_scene import SYMBOLS
from workbench.live import Lesson

ROOT = Path(__file__).parents[3]
SOURCES = sorted((ROOT / "notebooks/lessons/source").glob("*.py"))
WRITTEN = [each for each in LESSONS.values() if any(source.stem == each.stem for source in SOURCES)]
each_lesson = pytest.mark.parametrize("taught", WRITTEN, ids=lambda taught: taught.name)


def solved(source: Path) -> dict[int, object]:
    """The answers of the solutions, by the number of the exercise: `lesson.check(1, 2)`."""
    found = {}
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "lesson.check" and len(node.args) == 2:
            number, answer = map(ast.literal_eval, node.args)
            found[number] = answer
    return found


def test_notebooks_agree_with_their_sources():
    for path, text in runpy.run_path(str(ROOT / "scripts/lessons.py"))["notebooks"]().items():
        assert path.read_text(encoding="utf-8") == text, f"run scripts/lessons.py: {path.name}"


def test_every_lesson_has_its_text_and_every_text_its_lesson():
    assert {source.stem for source in SOURCES} == {each.stem for each in WRITTEN}


def test_each_symbol_that_a_text_marks_is_known_to_a_picture():
    first = {*MARKS, *CURVES, *SYMBOLS} - {"none"}
    known = {"5": {*OF_DISC, *OF_ROWS, *OF_DEFLATION}, "7": {*OF_ROWS, *OF_BLOCKS, *NAMES}}
    found = {source.stem: set(re.findall(r"\[\[(\w+)\|", source.read_text(encoding="utf-8"))) for source in SOURCES}
    by_number = {stem[0]: symbols for stem, symbols in found.items() if symbols}
    assert set().union(*(by_number.pop(number) for number in "123")) == first
    assert by_number.keys() == known.keys()
    assert all(symbols <= known[number] for number, symbols in by_number.items())
    assert set().union(*by_number.values()) == set().union(*known.values())
    made = runpy.run_path(str(ROOT / "scripts/lessons.py"))["notebooks"]()
    assert all("[[" not in text.replace("[[5, 2]", "") for text in made.values())
    assert any('<span class=\\"wb-symbol wb-symbol-r1\\">$r_1$</span>' in text for text in made.values())


@each_lesson
def test_each_says_what_it_needs_and_ends_with_what_was_learned(taught):
    (source,) = [each for each in SOURCES if each.stem == taught.stem]
    text = source.read_text(encoding="utf-8")
    assert f"*Lesson {taught.number}, 45 minutes.* **{taught.question}**" in re.sub(r"\n# ", " ", text)
    assert re.search(r"^# You need ", text, re.MULTILINE)
    parts = re.findall(r"^# ## (.+)$", text, re.MULTILINE)
    assert parts[-1] == "What you have learned"
    assert [part.partition(". ")[0] for part in parts[:-1]] == [str(k) for k in range(1, len(parts))]
    assert text.rstrip().endswith("lesson.next_steps()")
    assert 2 <= len(taught.next_steps) <= 4


@each_lesson
def test_no_lesson_is_taller_than_its_time_or_computes_a_table_by_itself(taught):
    (source,) = [each for each in SOURCES if each.stem == taught.stem]
    text = source.read_text(encoding="utf-8")
    cells = [cell for cell in text.split("# %%") if not cell.startswith((" [markdown]", " tags="))]
    # The last line of a cell shows a view; a call of the lesson or an assignment shows none.
    last = [cell.strip().splitlines()[-1] for cell in cells if cell.strip()]
    views = [line for line in last if not re.match(r"from |import |lesson\.|[\w.]+ = ", line)]
    assert 2 <= len(views) <= 6
    assert "PaperView" not in text
    # A race of iterations or bytes has the same winner on every machine, and the setup is not one of these.
    assert text.count("RaceView(") == text.count("with_setup=False")


@each_lesson
def test_its_exercises_have_solutions_that_are_right(taught):
    (source,) = [each for each in SOURCES if each.stem == taught.stem]
    answers = solved(source)
    assert set(answers) == set(range(1, len(taught.exercises) + 1))
    for number, exercise in enumerate(taught.exercises, 1):
        verdict = exercise.check(answers[number])
        assert verdict.right, f"{number}: {verdict}"


def test_what_there_is_not_is_refused_in_a_sentence():
    with pytest.raises(InputError, match="unknown lesson 'pain'; the lessons are without-pain, polynomials, rounding"):
        lesson("pain")
    with pytest.raises(InputError, match="has exercises 1 to 3, and 99 is none of them$"):
        Lesson("without-pain").check(99)
    with pytest.raises(InputError, match="'1' is none of them; write check.1., without quotes"):
        Lesson("without-pain").check("1")
    with pytest.raises(InputError, match="is not a number such as"):
        Lesson("without-pain").check(1, "many")
