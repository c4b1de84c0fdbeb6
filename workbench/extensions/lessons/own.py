"""Exercises of a teacher's own notebooks: declared by a question and the right answer, or a function that judges."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Protocol, TypeGuard, runtime_checkable

from workbench.errors import InputError, one_line, quoted
from workbench.extensions.lessons.check_turn import computed
from workbench.extensions.lessons.exercise import Choice, Exercise, Number, Numbers, Verdict, plain_number
from workbench.words.numbers import THIN

Judged = bool | str
"""True for a right answer, False for a wrong one, or a text that says why it is wrong."""
Right = float | str | Collection[float] | Callable[..., Judged]
LONGEST = 4000
"""Characters of a question, a hint and a solution."""
EXACT = 1e-9
"""Relative difference up to which two numbers are one, where no tolerance is given."""


@runtime_checkable
class Array(Protocol):
    """An array or a number of NumPy, which help pages do not import."""

    def tolist(self) -> float | list[float]: ...


@dataclass(frozen=True)
class Answers:
    """The parts of a declaration that judges need; see `declared`."""

    right: Right
    tolerance: float
    unit: str

    def judge(self, answer: float | str) -> Verdict:
        """Compare with one right answer."""
        right = answer == self.right if isinstance(answer, str) else self._is_near(answer, self.right)
        return self._verdict(right, self._written(answer))

    def judge_several(self, found: list[float]) -> Verdict:
        """Compare with a set of numbers, in any order."""
        wanted = self.right
        assert isinstance(wanted, Collection)
        pairs = zip(sorted(found), sorted(wanted), strict=False)
        near = len(found) == len(wanted) and all(self._is_near(*pair) for pair in pairs)
        return self._verdict(near, _listed(found))

    def judge_by(self, answer: float | str) -> Verdict:
        """Ask the teacher's function about one answer."""
        return self._by_function(answer, self._written(answer))

    def judge_several_by(self, found: list[float]) -> Verdict:
        """Ask the teacher's function about several numbers, in the order in which they were written."""
        return self._by_function(found, _listed(found))

    def _by_function(self, answer: object, words: str) -> Verdict:
        assert callable(self.right)
        try:
            # It may compute anything.
            judged = computed(self.right)(answer)
        # The function is the teacher's, and may do anything.
        except (Exception, SystemExit) as error:
            said = one_line(f"{type(error).__name__}: {error}")
            raise InputError(f"the judge of this exercise failed ({said}); tell your teacher") from None
        if isinstance(judged, str) and (said := judged.strip().rstrip(".")):
            return Verdict(False, said if said.endswith(("!", "?", "…")) else f"{said}.")
        if not isinstance(judged, bool) and type(judged).__name__ not in ("bool", "bool_"):
            raise InputError(f"the judge returned {quoted(judged)}, and not True, False or a text; tell your teacher")
        return self._verdict(bool(judged), words)

    def _is_near(self, answer: float, right: object) -> bool:
        assert isinstance(right, int | float)
        # Without the second term 0.4 would be more than 0.1 from 0.3.
        return abs(answer - right) <= self.tolerance + EXACT * abs(right)

    def _written(self, answer: float | str) -> str:
        if isinstance(answer, str):
            return answer
        return f"{answer:.10g}{THIN if self.unit[:1].isalpha() else ''}{self.unit}"

    def _verdict(self, right: bool, words: str) -> Verdict:
        return Verdict(right, f"{words} is {'the' if right else 'not the'} answer.")


def declared(
    question: str,
    right: Right,
    *,
    choices: Iterable[str] = (),
    tolerance: float | None = None,
    unit: str = "",
    several: bool = False,
    hint: str = "",
) -> Exercise:
    """An exercise. right: a number, one of `choices`, a set of numbers, or a function of the answer that returns True,
    False, or a text that says why it is wrong. tolerance: the difference up to which a number is right, in its unit.
    several: the function takes a list of numbers.

    Raises InputError for what does not fit together.

    Examples:
        >>> from workbench.extensions.lessons.own import declared
        >>> str(declared("How many steps does CG take?", 2).check("3"))
        'Not yet: 3 is not the answer.'
        >>> declared("The eigenvalues?", {1, 3}, tolerance=0.1).check("3.05; 1").right
        True
    """
    for name, text in {"question": question, "hint": hint, "unit": unit}.items():
        check_text(name, text)
    if not question.strip():
        raise InputError("the question is empty; write what students are asked")
    within = 0.0 if tolerance is None else plain_number(tolerance)
    if not _is_finite(within) or within < 0:
        raise InputError(f"the tolerance is a number from 0 on, and not {quoted(tolerance)}")
    options = _texts(choices)
    if options:
        answers = Answers(right, within, unit)
        return Exercise(question, _choice(right, options), answers.judge_by if callable(right) else answers.judge, hint)
    if callable(right):
        answers = Answers(right, within, unit)
        kind = Numbers() if several else Number(unit=unit)
        return Exercise(question, kind, answers.judge_several_by if several else answers.judge_by, hint)
    if isinstance(right, str | bytes):
        raise InputError(f"the right answer is the text {quoted(right)}; give choices=, one of which it is")
    if isinstance(right, Array):
        right = right.tolist()
    if isinstance(right, Collection):
        wanted = [_checked(number, tolerance) for number in right]
        if not wanted:
            raise InputError("the set of right numbers is empty; write at least one")
        return Exercise(question, Numbers(), Answers(wanted, within, unit).judge_several, hint)
    return Exercise(question, Number(unit=unit), Answers(_checked(right, tolerance), within, unit).judge, hint)


def check_text(name: str, text: object) -> None:
    """Raise InputError for what is no text, or a text that is too long."""
    if not isinstance(text, str):
        raise InputError(f"the {name} is a text, and {quoted(text)} is none")
    if len(text) > LONGEST:
        raise InputError(f"the {name} has {len(text)} characters, and {LONGEST} at most")


def _texts(choices: Iterable[str]) -> tuple[str, ...]:
    found = tuple(choices) if isinstance(choices, Iterable) and not isinstance(choices, str) else ("",)
    if not all(isinstance(each, str) and each.strip() for each in found):
        raise InputError(f'the choices are texts, as in choices=["yes", "no"], and not {quoted(choices)}')
    return found


def _choice(right: Right, choices: tuple[str, ...]) -> Choice:
    if len(set(choices)) < max(2, len(choices)):
        raise InputError("the choices are two or more, each different; add one, or take one away")
    if not callable(right) and right not in choices:
        raise InputError(f"the right answer {quoted(right)} is none of the choices; add it to them")
    return Choice(choices)


def _checked(right: object, tolerance: float | None) -> float:
    """A right number as one of Python."""
    number = plain_number(right)
    if not _is_finite(number):
        raise InputError(f"the right answer is a number, and {quoted(number)} is none")
    if isinstance(number, float) and not number.is_integer() and tolerance is None:
        raise InputError(f"the right answer {number:g} is no whole number; give tolerance=, such as 0.01")
    return number


def _is_finite(number: object) -> TypeGuard[float]:
    """True for a number of Python that a float can hold."""
    return isinstance(number, int | float) and not isinstance(number, bool) and abs(number) <= sys.float_info.max


def _listed(numbers: Iterable[float]) -> str:
    return " ".join(f"{number:.10g}" for number in numbers)
