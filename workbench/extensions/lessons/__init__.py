"""Lessons of 45 minutes: their exercises, whose answers are judged by what is computed when they are given.

The text is in `notebooks/lessons`; each lesson has a module here, which holds its exercises in the order of the text.
"""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING

from workbench.errors import InputError, quoted
from workbench.extensions.lessons.exercise import Exercise, Verdict
from workbench.extensions.lessons.own import declared
from workbench.files.data_files import notebooks_folder

if TYPE_CHECKING:
    from workbench.extensions.lessons.next_step import NextStep

__all__ = ["LESSONS", "Exercise", "Lesson", "Verdict", "declared", "lesson"]

CELL = re.compile(r"^# %%(.*)\n((?:(?!# %%).*\n?)*)", re.MULTILINE)
"""A cell in the source of a notebook: the rest of its head, and its body."""
SOLUTION = 'tags=["solution"]'


@dataclass(frozen=True)
class Lesson:
    """A lesson. number: its place in the order; name: as in addresses and files; question: what it answers.

    Examples:
        >>> from workbench.extensions.lessons import lesson
        >>> lesson("waiting").number, lesson("waiting").stem
        (6, '6_waiting')
    """

    number: int
    name: str
    title: str
    question: str

    @property
    def exercises(self) -> Sequence[Exercise]:
        """The exercises in the order of the text."""
        return self._module.EXERCISES

    @property
    def next_steps(self) -> Sequence[NextStep]:
        """Where it leads: problems and views of the workbench; none for a lesson that lists none."""
        return vars(self._module).get("NEXT_STEPS", ())

    @property
    def _module(self) -> ModuleType:
        return importlib.import_module(f"workbench.extensions.lessons.{self.name.replace('-', '_')}")

    @property
    def stem(self) -> str:
        """The name of its notebook, without `.ipynb`."""
        return f"{self.number}_{self.name.replace('-', '_')}"

    def solution(self, number: int) -> str:
        """The answer of an exercise and the reason for it, in Markdown, from the source of the notebook; empty where
        that is not installed."""
        source = notebooks_folder() / "lessons" / "source" / f"{self.stem}.py"
        return dict(_solutions(source.read_text(encoding="utf-8"))).get(number, "") if source.is_file() else ""


LESSONS = {
    each.name: each
    for each in (
        Lesson(1, "without-pain", "CG without pain", "Why does CG need two steps where steepest descent needs many?"),
        Lesson(2, "polynomials", "Polynomials", "Which spectra does CG like?"),
        Lesson(
            3, "rounding", "Rounding", "What does CG lose in floating-point arithmetic, and which residual decides?"
        ),
        Lesson(4, "preconditioning", "Preconditioning", "When do more, cheaper iterations win?"),
        Lesson(5, "deflation", "Deflation", "Why do bubbles slow CG down, and which vectors help?"),
        Lesson(6, "waiting", "Waiting", "How does pipelined CG follow from CG, and what is it good for?"),
        Lesson(7, "many-at-once", "Many at once", "What do more right-hand sides and more preconditioners bring?"),
    )
}
"""Lessons by name, in their order."""


def lesson(name: str) -> Lesson:
    """A lesson. Raises InputError, which lists all, for an unknown name.

    Examples:
        >>> from workbench.extensions.lessons import lesson
        >>> lesson("waiting").question
        'How does pipelined CG follow from CG, and what is it good for?'
    """
    if not isinstance(name, str) or name not in LESSONS:
        raise InputError(f"unknown lesson {quoted(name)}; the lessons are {', '.join(LESSONS)}")
    return LESSONS[name]


def _solutions(source: str) -> Iterator[tuple[int, str]]:
    """Numbers of exercises, and answer and reason: a cell of code with the answer, and behind it one of text."""
    cells = CELL.findall(source)
    for (head, body), (next_head, text) in zip(cells, [*cells[1:], ("", "")], strict=True):
        if SOLUTION not in head or "[markdown]" in head:
            continue
        reason = text if "[markdown]" in next_head and SOLUTION in next_head else ""
        said = "\n".join(re.findall(r"^# ?(.*)$", f"{reason}\n{body}", re.MULTILINE)).strip()
        for number, answer in _answers(body):
            shown = f"\n\n{_indented(answer)}" if "\n" in str(answer) else f"`{answer}`"
            yield number, f"{shown}\n\n{said}".rstrip()


def _answers(code: str) -> Iterator[tuple[int, object]]:
    """Number and answer of `lesson.check(1, 9)`."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "lesson.check" and len(node.args) == 2:
            number, answer = map(ast.literal_eval, node.args)
            yield number, answer


def _indented(text: object) -> str:
    return "\n".join(f"    {line}" for line in str(text).strip().split("\n"))
