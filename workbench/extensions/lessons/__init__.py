"""Lessons of 45 minutes: their exercises, whose answers are judged by what is computed when they are given.

The text is in `notebooks/lessons`; each lesson has a module here, which holds its exercises in the order of the text.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING

from workbench.errors import InputError, quoted
from workbench.extensions.lessons.exercise import Exercise, Verdict

if TYPE_CHECKING:
    from workbench.extensions.lessons.next_step import NextStep

__all__ = ["LESSONS", "Exercise", "Lesson", "Verdict", "lesson"]


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
