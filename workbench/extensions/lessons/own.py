"""Exercises of a teacher's own notebooks: declared by a question and the right answer, or a function that judges."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from workbench.errors import InputError, quoted
from workbench.extensions.lessons.exercise import Choice, Exercise, Number, Numbers, Verdict

Judged = bool | str
"""True for a right answer, False for a wrong one, or a text that says why it is wrong."""
Right = float | str | Collection[float] | Callable[..., Judged]
LONGEST = 4000
"""Characters of a question, a hint and a solution."""
EXACT = 1e-9
"""Relative difference up to which two numbers are one, where no tolerance is given."""


@dataclass(frozen=True)
class Answers:
    """The parts of a declaration that judges need; see `declared`."""

    right: Right
    tolerance: float
    unit: str

    def judge(self, answer: float | str) -> Verdict:
        """Compare with one right answer."""
        right = answer == self.right if isinstance(answer, str) else self._is_near(answer, self.right)
        return self._verdict(right, f"{answer:.10g}{self.unit}" if not isinstance(answer, str) else answer)

    def judge_several(self, found: list[float]) -> Verdict:
        """Compare with a set of numbers, in any order."""
        wanted = self.right
        assert isinstance(wanted, Collection)
        pairs = zip(sorted(found), sorted(wanted), strict=False)
        near = len(found) == len(wanted) and all(self._is_near(*pair) for pair in pairs)
        return self._verdict(near, _listed(found))

    def judge_by(self, answer: float | str) -> Verdict:
        """Ask the teacher's function about one answer."""
        return self._by_function(answer, f"{answer:.10g}{self.unit}" if not isinstance(answer, str) else answer)

    def judge_several_by(self, found: list[float]) -> Verdict:
        """Ask the teacher's function about several numbers, in the order in which they were written."""
        return self._by_function(found, _listed(found))

    def _by_function(self, answer: object, words: str) -> Verdict:
        assert callable(self.right)
        try:
            judged = self.right(answer)
        # The function is the teacher's, and may do anything.
        except Exception as error:
            said = f"{type(error).__name__}: {error}"
            raise InputError(f"the judge of this exercise failed ({said[:200]}); tell your teacher") from None
        if isinstance(judged, str):
            return Verdict(False, f"{judged.strip().rstrip('.')}.")
        if not isinstance(judged, bool) and type(judged).__name__ not in ("bool", "bool_"):
            raise InputError(f"the judge returned {quoted(judged)}, and not True, False or a text; tell your teacher")
        return self._verdict(bool(judged), words)

    def _is_near(self, answer: float, right: object) -> bool:
        assert isinstance(right, int | float)
        return abs(answer - right) <= max(self.tolerance, EXACT * abs(right))

    def _verdict(self, right: bool, words: str) -> Verdict:
        return Verdict(right, f"{words} is {'the' if right else 'not the'} answer.")


def declared(
    question: str,
    right: Right,
    *,
    choices: Sequence[str] = (),
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
    if tolerance is not None and not (isinstance(tolerance, int | float) and 0 <= tolerance < math.inf):
        raise InputError(f"the tolerance is a number from 0 on, and not {quoted(tolerance)}")
    answers = Answers(right, tolerance or 0.0, unit)
    if choices:
        return Exercise(question, _choice(right, choices), answers.judge_by if callable(right) else answers.judge, hint)
    if callable(right):
        kind = Numbers() if several else Number(unit=unit)
        return Exercise(question, kind, answers.judge_several_by if several else answers.judge_by, hint)
    if isinstance(right, str):
        raise InputError(f"the right answer is the text {quoted(right)}; give choices=, one of which it is")
    if isinstance(right, Collection):
        if not right:
            raise InputError("the set of right numbers is empty; write at least one")
        for number in right:
            _check_number(number, tolerance)
        return Exercise(question, Numbers(), answers.judge_several, hint)
    _check_number(right, tolerance)
    return Exercise(question, Number(unit=unit), answers.judge, hint)


def check_text(name: str, text: object) -> None:
    """Raise InputError for what is no text, or a text that is too long."""
    if not isinstance(text, str):
        raise InputError(f"the {name} is a text, and {quoted(text)} is none")
    if len(text) > LONGEST:
        raise InputError(f"the {name} has {len(text)} characters, and {LONGEST} at most")


def _choice(right: Right, choices: Sequence[str]) -> Choice:
    if isinstance(choices, str) or not all(isinstance(each, str) and each.strip() for each in choices):
        raise InputError(f'the choices are texts, as in choices=["yes", "no"], and not {quoted(choices)}')
    if len(set(choices)) < max(2, len(choices)):
        raise InputError("the choices are two or more, each different; add one, or take one away")
    if not callable(right) and right not in choices:
        raise InputError(f"the right answer {quoted(right)} is none of the choices; add it to them")
    return Choice(tuple(choices))


def _check_number(number: object, tolerance: float | None) -> None:
    if isinstance(number, bool) or not isinstance(number, int | float) or not math.isfinite(number):
        raise InputError(f"the right answer is a number, and {quoted(number)} is none")
    if isinstance(number, float) and not number.is_integer() and tolerance is None:
        raise InputError(f"the right answer {number:g} is no whole number; give tolerance=, such as 0.01")


def _listed(numbers: Sequence[float]) -> str:
    return " ".join(f"{number:.10g}" for number in numbers)
