"""An exercise: a question, the kind of its answer, and a judge that says in one sentence why a wrong one is wrong."""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

from workbench.errors import InputError, quoted
from workbench.words.numbers import chosen, counted
from workbench.words.typed_numbers import LONGEST, typed_number, typed_numbers


@dataclass(frozen=True)
class Verdict:
    """The judgement of an answer: right or not, and one sentence with the numbers that decide it.

    hint: why the answer is wrong or what to compare, without these numbers. The first wrong answer gets it.

    Examples:
        >>> from workbench.extensions.lessons import Verdict
        >>> str(Verdict(True, "CG takes 2 steps."))
        'Right: CG takes 2 steps.'
        >>> wrong = Verdict(False, "after 1 step 40% of the error is left.", "count the eigenvalues.")
        >>> wrong.words(hint_first=True)
        'Not yet: count the eigenvalues.'
    """

    right: bool
    sentence: str
    hint: str = ""

    def words(self, *, hint_first: bool) -> str:
        """The judgement in words. hint_first: a wrong answer gets the hint in place of the sentence."""
        return f"Not yet: {self.hint}" if hint_first and self.hint and not self.right else str(self)

    def __str__(self) -> str:
        return f"{'Right' if self.right else 'Not yet'}: {self.sentence}"


@dataclass(frozen=True)
class Number:
    """A number as answer, from low to high. unit: shown at the field."""

    low: float = -math.inf
    high: float = math.inf
    unit: str = ""
    whole: bool = False

    def read(self, answer: object) -> float:
        """The answer as a number, also from a text as people type it, such as 9,0 or -5/2.

        Raises InputError for any other, and for one out of bounds.
        """
        text = answer.strip() if isinstance(answer, str) else quoted(plain_number(answer))
        value = typed_number(text, self.unit, whole=self.whole)
        given = (text if len(text) < LONGEST else quoted(text)).replace("-", "−")
        if not self.low <= value <= self.high:
            raise InputError(f"the answer is {self._bounds}, and {given} is not")
        if self.whole and not value.is_integer():
            raise InputError(f"the answer is a whole number, and {given} is not")
        return int(value) if self.whole else value

    @property
    def _bounds(self) -> str:
        if math.isinf(self.low) or math.isinf(self.high):
            return f"at most {chosen(self.high)}" if math.isinf(self.low) else f"at least {chosen(self.low)}"
        return f"from {chosen(self.low)} to {chosen(self.high)}"


def plain_number(answer: object) -> object:
    """A number of NumPy as one of Python, which is written without its type; anything else as it is."""
    if isinstance(answer, bool) or not isinstance(answer, Real):
        return answer
    with contextlib.suppress(OverflowError):
        return int(answer) if isinstance(answer, Integral) else float(answer)
    return answer


@dataclass(frozen=True)
class Numbers:
    """Several numbers as answer, in one line of text. start: what the field holds at first."""

    start: str = ""

    def read(self, answer: object) -> list[float]:
        """The numbers. Raises InputError for a text in which one is none, and for an empty one."""
        found = typed_numbers(Text().read(answer))
        if not found:
            raise InputError("the answer is numbers with spaces between them, and these are none")
        return found


@dataclass(frozen=True)
class Choice:
    """One of some answers, each in words."""

    options: Sequence[str]

    def read(self, answer: object) -> str:
        """The answer. Raises InputError, which lists the options, for another."""
        if not isinstance(answer, str) or answer not in self.options:
            options = ", ".join(map(quoted, self.options))
            raise InputError(f"the answer is one of {options}, and {quoted(answer)} is not")
        return answer


@dataclass(frozen=True)
class Text:
    """Lines of text, such as those of a method. start: what the field holds at first; a single line is an example, pale
    in an empty field."""

    start: str = ""

    def read(self, answer: object) -> str:
        """The text. Raises InputError for an empty answer, and for one of another kind."""
        if not isinstance(answer, str) or not answer.strip():
            raise InputError("the answer is text, and this is empty or none")
        return answer


@dataclass(frozen=True)
class Order:
    """Lines in another order. start: the lines, as they are shown at first."""

    start: str

    def read(self, answer: object) -> str:
        """The lines. Raises InputError unless they are those of `start`, each as often."""
        lines = [line.strip() for line in Text().read(answer).strip().split("\n")]
        given = Counter(self.start.split("\n"))
        for line in {**Counter(lines), **given}:
            if lines.count(line) != given[line]:
                found = counted(lines.count(line), "time")
                raise InputError(f"line {quoted(line)} occurs {found} in the answer, but {given[line]} in the question")
        return "\n".join(lines)


@dataclass(frozen=True)
class Exercise:
    """A question of a lesson. judge: takes the answer, as `answer.read` returns it, and computes the verdict now.

    hint: of each wrong answer whose verdict has none. Without any, a wrong answer gets the numbers at once.

    Examples:
        >>> from workbench.extensions.lessons import lesson
        >>> exercise = lesson("without-pain").exercises[0]
        >>> exercise.check(9).right, exercise.check(3).right
        (True, False)
    """

    question: str
    answer: Number | Numbers | Choice | Text | Order
    judge: Callable[[Any], Verdict]
    hint: str = ""

    def check(self, answer: object) -> Verdict:
        """The verdict on an answer. Raises InputError for an invalid one, such as a number out of bounds."""
        verdict = self.judge(self.answer.read(answer))
        return dataclasses.replace(verdict, hint=verdict.hint or self.hint)
