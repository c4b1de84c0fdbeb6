"""Validation of the texts of a user-defined solver, with one sentence and the line number of the first error."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

import numpy as np

from workbench.devices.operator_protocols import OperatorTraits
from workbench.devices.programs import Workspace
from workbench.devices.programs.counting import CountingDevice
from workbench.lines.parse import parse
from workbench.lines.shapes import infer_vectors
from workbench.lines.types import Dot, Formula, LinesError, Place

MOST_LINES, LONGEST, LARGEST = 200, 500, 20_000
"""Maximum lines of a text, characters of a line and characters of a text; checking stays fast within these bounds."""
WATCHED = {"rr": "(r, r)", "gamma": "(r, u)", "uu": "(u, u)", "delta": "(p, s)"}
"""The scalars that the run monitors, and their definitions."""
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
            raise UserLinesError(f"{name} is not written in ASCII letters; write alpha for α", part, number)
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
