"""User-defined solvers: two texts of paper lines, checked on construction.

An error is one sentence with the line number of the first one.
"""

from __future__ import annotations

import dataclasses
import re
import textwrap
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from workbench.devices.operator_protocols import OperatorTraits
from workbench.devices.programs import Workspace
from workbench.devices.programs.counting import CountingDevice
from workbench.errors import InputError
from workbench.lines.parse import parse
from workbench.lines.shapes import infer_vectors
from workbench.lines.types import Dot, Formula, LinesError, Place
from workbench.registry import known, lookup, parameter, register_unlisted
from workbench.solvers.base import Solver
from workbench.words.names import GREEK

MOST_LINES, LONGEST, LARGEST = 200, 500, 20_000
"""Maximum lines of a text, characters of a line and characters of a text; checking stays fast within these bounds."""
WATCHED = {"rr": "(r, r)", "gamma": "(r, u)", "uu": "(u, u)", "delta": "(p, s)"}
"""The scalars that the run monitors, and their definitions."""
LETTERS = {letter: name for name, letter in GREEK.items()}
"""The names of Greek letters."""
SCALARS = (*WATCHED, "alpha", "beta")
"""The scalars that the run records in every iteration."""


class UserLinesError(LinesError):
    """An error in a text. part: "start" or "iteration"; number: the line from 1, None for the whole text."""

    def __init__(self, sentence: str, part: str, number: int | None = None, column: int = 1) -> None:
        where = f"{part}, line {number}: " if number else f"{part}: "
        place = Place(number, column) if number else None
        super().__init__(where + (sentence.removeprefix("line ") if number else sentence), place)
        self.part = part
        self.number = number


def tidied(text: str) -> str:
    """The text without common indentation, blank lines at the ends and trailing blanks."""
    lines = textwrap.dedent(text.expandtabs()).splitlines()
    return "\n".join(line.rstrip() for line in lines).strip("\n")


def check(start: str, iterate: str) -> None:
    """Raise UserLinesError for the first error in the two texts."""
    texts: dict[str, str] = {"start": start, "iteration": iterate}
    for part, text in texts.items():
        _check_size(part, text)
        try:
            parse(text)
        except LinesError as error:
            raise _located(error, part) from None
        except (RecursionError, MemoryError):
            raise UserLinesError("a formula is nested too deeply; split it into several lines", part) from None
    _check_names(texts)
    _check_scalars(texts)
    vectors: dict[str, np.ndarray] = {"b": np.zeros(1), "x": np.zeros(1)}
    operators = {"A": OperatorTraits(), "M": OperatorTraits()}
    try:
        Workspace(CountingDevice(), 1, np.dtype(float), vectors=vectors, operators=operators).lines(start, iterate)
    except LinesError as error:
        raise _located(error, tuple(texts)[error.program]) from None
    _check_reports(texts)


def _check_size(part: str, text: str) -> None:
    lines = text.splitlines()
    if len(lines) > MOST_LINES:
        raise UserLinesError(f"a text has at most {MOST_LINES} lines, this one has {len(lines)}", part)
    if len(text) > LARGEST:
        raise UserLinesError(f"a text has at most {LARGEST:,} characters, this one has {len(text):,}", part)
    for number, line in enumerate(lines, 1):
        if len(line) > LONGEST:
            raise UserLinesError(f"a line has at most {LONGEST} characters, this one has {len(line)}", part, number)


def _check_names(texts: dict[str, str]) -> None:
    """Raise for targets that are reserved, or not valid on every device."""
    for part, number, name in _targets(texts):
        if name == "b":
            raise UserLinesError("b is the right-hand side, which stays as it is; take another name", part, number)
        if not name.isascii():
            spelled = LETTERS.get(name)
            instead = f"write {spelled} for {name}" if spelled else "write alpha for α"
            raise UserLinesError(f"{name} is not written in ASCII letters; {instead}", part, number)
        if name.startswith(("A_", "M_")) or name in ("A", "M"):
            raise UserLinesError(f"{name} may be confused with the operators A and M; take another name", part, number)


def _check_scalars(texts: dict[str, str]) -> None:
    """Raise for a line that uses a recorded scalar as a vector."""
    vectors = infer_vectors((line for text in texts.values() for line in parse(text)), ("b", "x"))
    for part, text in texts.items():
        for line in parse(text):
            taken = set(() if isinstance(line, Formula) else line.reads) & set(SCALARS)
            made = not isinstance(line, Dot) and vectors.intersection(line.reads) - {line.target}
            for name in sorted(taken | ({line.target} & set(SCALARS) if made else set())):
                sentence = f"{line.text!r} uses {name} as a vector; it is a number"
                raise UserLinesError(sentence, part, line.place.line)


def _check_reports(texts: dict[str, str]) -> None:
    """Raise for a monitored scalar or an x that no line sets."""
    targets = {part: {line.target for line in parse(text)} for part, text in texts.items()}
    for part, there in targets.items():
        for name, meaning in WATCHED.items():
            if name not in there and (part, name) != ("start", "delta"):
                raise UserLinesError(f"no line sets {name}, by which the run is judged; add {name} = {meaning}", part)
    if "x" not in targets["iteration"]:
        raise UserLinesError(
            "no line changes x, so it comes no nearer to the solution; add x = x + alpha*p", "iteration"
        )


def _targets(texts: dict[str, str]) -> Iterator[tuple[str, int, str]]:
    """The part, number and target of every line."""
    for part, text in texts.items():
        for line in parse(text):
            yield part, line.place.line, line.target


def _located(error: LinesError, part: str) -> UserLinesError:
    """The error of a line of one of the two texts."""
    sentence = str(error).replace("; give it as an array to keep it", "; read it, or delete the line")
    return UserLinesError(sentence, part, error.line, error.column or 1)


NAME = re.compile(r"[A-Za-z][\w.+-]{0,39}", re.ASCII)


@register_unlisted
@dataclasses.dataclass(frozen=True)
class UserSolver(Solver):
    """A solver from user-written lines, which are parsed, not executed.

    `start` runs once, `iterate` in every iteration.

    The vectors b and x and the operators A and M are predefined. The lines must change x and set the scalars in
    `WATCHED`: delta in the iteration, the others in both texts.

    Cost: that of the lines; checking takes milliseconds.

    Raises InputError (`UserLinesError`, with the line number) with one sentence for the first error in the texts.
    """

    title: ClassVar[str] = "a user-defined method"
    has_user_lines: ClassVar[bool] = True

    # Class variables in the base class, fields of each instance here.
    name: str = parameter("own", "what legends call it")  # pyright: ignore[reportIncompatibleVariableOverride]
    start: str = parameter("", "paper lines before the loop")  # pyright: ignore[reportIncompatibleVariableOverride]
    iterate: str = parameter("", "paper lines of one iteration")  # pyright: ignore[reportIncompatibleVariableOverride]

    def __post_init__(self) -> None:
        super().__post_init__()
        if not NAME.fullmatch(self.name):
            raise InputError(
                f"a method's name is a letter and up to 39 letters, digits or . + - _ behind it, got {self.name!r}"
            )
        object.__setattr__(self, "start", tidied(self.start))
        object.__setattr__(self, "iterate", tidied(self.iterate))
        check(self.start, self.iterate)

    @property
    def spec(self) -> str:
        return self.name

    def to_dict(self) -> dict[str, Any]:
        """Plain data with the texts, so that a saved run can be reproduced."""
        return {**super().to_dict(), "name": type(self).name}


def user_solver(name: str, start: str | None = None, iteration: str | None = None, *, like: str = "cg") -> UserSolver:
    """A user-defined solver for `configure(solver=...)` and `solve(..., solver=...)`, on every device.

    start, iteration: paper lines as in the solvers' files; by default those of the method `like`.

    Raises InputError for invalid lines, and for the name of a built-in method.

    Examples:
        >>> import numpy as np
        >>> from workbench.run import solve, user_solver
        >>> lines = user_solver("copy").iterate.replace("u + beta*p", "u + 0.9*beta*p")
        >>> solve(np.diag([1.0, 2.0, 4.0]), np.ones(3), solver=user_solver("damped", iteration=lines)).converged
        True
    """
    if known("solver", name):
        raise InputError(f"the workbench has a method named {name} already; take another name, such as my-{name}")
    original = lookup("solver", like)
    assert issubclass(original, Solver)
    if not (original.start and original.iterate):
        raise InputError(f"{like} is not written as paper lines; take another one, such as cg")
    start, iteration = original.start if start is None else start, original.iterate if iteration is None else iteration
    return UserSolver(name, start, iteration)
