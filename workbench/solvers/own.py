"""Methods of the user's own: a solver made of two texts of paper lines, checked when it is made."""

from __future__ import annotations

import ast
import dataclasses
import re
import textwrap
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from workbench.blocks import lookup, parameter, register_unlisted, registered
from workbench.devices.lines import LinesError, Workspace
from workbench.devices.lines.counting import CountingDevice
from workbench.devices.lines.kinds import infer_vectors
from workbench.devices.lines.language import Dot, Formula, operands, parse
from workbench.errors import InputError
from workbench.solvers.base import Solver

NAME = re.compile(r"[A-Za-z][\w.+-]{0,39}", re.ASCII)
MOST_LINES, LONGEST = 200, 500
"""Lines of a text and characters of a line: far more than any paper has, and nothing that takes long to check."""
WATCHED = {"rr": "(r, r)", "gamma": "(r, u)", "uu": "(u, u)", "delta": "(p, s)"}
"""The scalars by which a run is judged, and what they mean."""
SCALARS = (*WATCHED, "alpha", "beta")
"""What a run records of every iteration, each a number."""
PARTS = ("start", "iteration")
_QUOTED = re.compile(r"""line ('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""")
_TARGET = re.compile(r"\s*(\w+)\s*=")


class OwnLinesError(LinesError):
    """What is wrong with a text. part: "start" or "iteration"; number: of the line from 1, None for the whole text."""

    def __init__(self, sentence: str, part: str, number: int | None = None) -> None:
        place = f"{part}, line {number}: " if number else f"{part}: "
        super().__init__(place + (sentence.removeprefix("line ") if number else sentence))
        self.part = part
        self.number = number


@register_unlisted
@dataclasses.dataclass(frozen=True)
class OwnSolver(Solver):
    """Lines of one's own: `start` runs once, `iterate` again and again. The texts are parsed, never executed.

    Given are the vectors b and x and the operators A and M. The lines must change x, and set the scalars of `WATCHED`:
    delta in the iteration, the others in both texts. Costs what the lines cost; checking takes some milliseconds.
    Raises InputError (`OwnLinesError`, which knows the line) with one sentence for what is wrong with the texts.
    """

    title: ClassVar[str] = "a method of one's own"
    own_lines: ClassVar[bool] = True

    # Of the class they say what kind of block this is, of an object whose lines these are.
    name: str = parameter("own", "what legends call it")  # pyright: ignore[reportIncompatibleVariableOverride]
    start: str = parameter("", "paper lines before the loop")  # pyright: ignore[reportIncompatibleVariableOverride]
    iterate: str = parameter("", "paper lines of one iteration")  # pyright: ignore[reportIncompatibleVariableOverride]

    def __post_init__(self) -> None:
        super().__post_init__()
        if not NAME.fullmatch(self.name):
            raise InputError(
                f"a method's name is a letter and up to 39 letters, digits or . + - _ behind it, got {self.name!r}"
            )
        for field in ("start", "iterate"):
            object.__setattr__(self, field, tidied(getattr(self, field)))
        check(self.start, self.iterate)

    @property
    def spec(self) -> str:
        return self.name

    def to_dict(self) -> dict[str, Any]:
        """Plain data that holds the texts, so that a saved run can be made again."""
        return {**super().to_dict(), "name": type(self).name}


def own_solver(name: str, start: str | None = None, iteration: str | None = None, *, like: str = "cg") -> OwnSolver:
    """A method of one's own, for `configure(solver=...)` and `solve(..., solver=...)` on every device.

    start, iteration: paper lines as in the solvers' files; where one is left out it is that of the method `like`. Raises
    InputError for wrong lines, and for a name that a method of the workbench has.
    """
    if name in registered("solver"):
        raise InputError(f"the workbench has a method named {name} already; take another name, such as my-{name}")
    original = lookup("solver", like)
    assert issubclass(original, Solver)
    if not (original.start and original.iterate):
        raise InputError(f"{like} is not written as paper lines; take another one, such as cg")
    start, iteration = original.start if start is None else start, original.iterate if iteration is None else iteration
    return OwnSolver(name, start, iteration)


def tidied(text: str) -> str:
    """The text without common indentation, blank ends and blanks behind lines."""
    lines = textwrap.dedent(text.expandtabs()).splitlines()
    return "\n".join(line.rstrip() for line in lines).strip("\n")


def check(start: str, iterate: str) -> None:
    """Raise OwnLinesError for the first thing that is wrong with the two texts."""
    texts = dict(zip(PARTS, (start, iterate), strict=True))
    for part, text in texts.items():
        _check_size(part, text)
        try:
            parse(text)
        except LinesError as error:
            raise _located(error, {part: text}) from None
        except (RecursionError, MemoryError):
            raise OwnLinesError("a formula is nested too deeply; split it into several lines", part) from None
    _check_names(texts)
    _check_scalars(texts)
    vectors = dict.fromkeys(("b", "x"), np.zeros(1))
    operators = dict.fromkeys(("A", "M"))
    try:
        Workspace(CountingDevice(), 1, np.dtype(float), vectors=vectors, operators=operators).lines(start, iterate)
    except LinesError as error:
        raise _located(error, texts) from None
    _check_reports(texts)


def _check_size(part: str, text: str) -> None:
    lines = text.splitlines()
    if len(lines) > MOST_LINES:
        raise OwnLinesError(f"a text has at most {MOST_LINES} lines, this one has {len(lines)}", part)
    for number, line in enumerate(lines, 1):
        if len(line) > LONGEST:
            raise OwnLinesError(f"a line has at most {LONGEST} characters, this one has {len(line)}", part, number)


def _check_names(texts: dict[str, str]) -> None:
    """Names must mean the same on every device, and may not touch what the run itself needs."""
    for part, number, name in _targets(texts):
        if name == "b":
            raise OwnLinesError("b is the right-hand side, which stays as it is; take another name", part, number)
        if not name.isascii():
            raise OwnLinesError(f"{name} is not written in ASCII letters; write alpha for α", part, number)
        if name.startswith(("A_", "M_")) or name in ("A", "M"):
            raise OwnLinesError(f"{name} may be confused with the operators A and M; take another name", part, number)


def _check_scalars(texts: dict[str, str]) -> None:
    """Raise for the line that makes a vector of a number that the run records."""
    vectors = infer_vectors((line for text in texts.values() for line in parse(text)), ("b", "x"))
    for part, text in texts.items():
        for line in parse(text):
            taken = set(() if isinstance(line, Formula) else operands(line)) & set(SCALARS)
            made = not isinstance(line, Dot) and vectors.intersection(operands(line)) - {line.target}
            for name in sorted(taken | ({line.target} & set(SCALARS) if made else set())):
                raise _located(
                    LinesError(f"line {line.text!r} takes {name} for a vector; it is a number"), {part: text}
                )


def _check_reports(texts: dict[str, str]) -> None:
    """Raise for what the run would miss."""
    targets = {part: {line.target for line in parse(text)} for part, text in texts.items()}
    for part, there in targets.items():
        for name, meaning in WATCHED.items():
            if name not in there and (part, name) != ("start", "delta"):
                raise OwnLinesError(f"no line sets {name}, by which the run is judged; add {name} = {meaning}", part)
    if "x" not in targets["iteration"]:
        raise OwnLinesError(
            "no line changes x, so it comes no nearer to the solution; add x = x + alpha*p", "iteration"
        )


def _targets(texts: dict[str, str]) -> Iterator[tuple[str, int, str]]:
    """Part, number and target of every line."""
    for part, text in texts.items():
        for number, line in enumerate(text.splitlines(), 1):
            if found := _TARGET.match(line):
                yield part, number, found[1]


def _located(error: LinesError, texts: dict[str, str]) -> OwnLinesError:
    """The error with the place of the line that it quotes: the first that reads like it."""
    sentence = str(error).replace("; give it as an array to keep it", "; read it, or delete the line")
    if found := _QUOTED.match(sentence):
        quoted = ast.literal_eval(found[1]).splitlines()[:1]
        for part, text in texts.items():
            for number, line in enumerate(text.splitlines(), 1):
                if quoted and line.strip().startswith(quoted[0]):
                    return OwnLinesError(sentence, part, number)
    return OwnLinesError(sentence, next(iter(texts)))
