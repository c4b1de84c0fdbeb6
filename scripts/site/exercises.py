"""Exercises of lessons as text, and their solutions as a page for teachers: both from the lessons themselves."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Sequence

from scripts.site.places import LESSON, ROOT, SOLUTIONS, put, relinked
from scripts.site.tables import said
from workbench.extensions.lessons import LESSONS, Exercise, Lesson, lesson
from workbench.extensions.lessons.exercise import Choice, Number, Numbers, Order, Text

NAMED = re.compile(r"""^lesson = Lesson\(["']([\w-]+)["']\)""", re.MULTILINE)
ASKED = re.compile(r"lesson\.check\((\d+)\)")
"""A cell that asks an exercise, and nothing else."""
ANSWERED = re.compile(r"lesson\.check\((\d+), ?(.*)\)", re.DOTALL)
HEAD = """---
search: { exclude: true }
---

# Solutions

For teachers: the exercises of all lessons, each with a right answer, the verdict on it, and the reason. Verdicts were
computed when this site was made. `notebooks/lessons/solutions` has the same as notebooks.
"""
ONLINE = "`make app` checks the answer on the page of the lesson."


def questions(sources: Sequence[str]) -> Iterator[str]:
    """Of each cell of code the exercise that it asks, as Markdown; empty for other cells."""
    found = next(filter(None, map(NAMED.search, sources)), None)
    for source in sources:
        asked = ASKED.fullmatch(source.strip())
        if asked and found:
            number = int(asked[1])
            yield question(lesson(found[1]).exercises[number - 1], number)
        else:
            yield ""


def question(exercise: Exercise, number: int) -> str:
    """An exercise as Markdown."""
    body = [said(exercise.question), *_answer(exercise), ONLINE]
    text = "\n\n".join(body)
    return f'!!! question "Exercise {number}"\n' + "\n".join(f"    {line}".rstrip() for line in text.split("\n"))


def _answer(exercise: Exercise) -> list[str]:
    """What may be answered: options, bounds, or the lines at the start."""
    answer = exercise.answer
    if isinstance(answer, Choice):
        return ["\n".join(f"- {said(option)}" for option in answer.options)]
    if isinstance(answer, Number):
        return [f"A number{f' in {answer.unit}' if answer.unit else ''}, from {answer.low:g} to {answer.high:g}."]
    if isinstance(answer, Text | Numbers | Order) and answer.start:
        return [f"```text\n{answer.start}\n```"]
    return ["A line of text."]


def solutions() -> str:
    """Write the page of all solutions; returns its place. Cost: a judge takes up to a second."""
    put(SOLUTIONS, "\n".join([HEAD, *(part for each in LESSONS.values() for part in of_lesson(each))]))
    return SOLUTIONS


def of_lesson(each: Lesson) -> Iterator[str]:
    """The solutions of a lesson: of each exercise its question, the answer, the verdict, and the text that follows."""
    name = f"{LESSON}/solutions/{each.stem}.ipynb"
    cells = json.loads((ROOT / name).read_text(encoding="utf-8"))["cells"]
    yield f"## {each.title}\n\n[Lesson {each.number}]({LESSON}/{each.stem}.md): {each.question}\n"
    lesson_only = {"".join(cell["source"]) for cell in _cells(f"{LESSON}/{each.stem}.ipynb")}
    for cell in cells:
        text = "".join(cell["source"])
        if cell["cell_type"] == "code":
            if found := ANSWERED.fullmatch(text.strip()):
                yield from solution(each.exercises[int(found[1]) - 1], int(found[1]), found[2])
        elif text not in lesson_only:
            yield f"{relinked(text, name)}\n"


def _cells(name: str) -> list[dict[str, list[str]]]:
    return json.loads((ROOT / name).read_text(encoding="utf-8"))["cells"]


def solution(exercise: Exercise, number: int, source: str) -> Iterator[str]:
    """An exercise with its answer and the verdict on it. source: the answer as Python. Raises RuntimeError where the
    lesson calls it wrong."""
    answer = ast.literal_eval(source)
    verdict = exercise.check(answer)
    if not verdict.right:
        raise RuntimeError(f"the solution of exercise {number} is wrong: {verdict}")
    yield f"### Exercise {number}\n\n{said(exercise.question)}\n"
    shown = str(answer).strip("\n")
    yield f"```text\n{shown}\n```\n" if "\n" in shown else f"Answer: **{said(shown)}**\n"
    yield f"*{said(str(verdict))}*\n"
