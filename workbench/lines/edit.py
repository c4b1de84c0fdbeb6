"""Texts made from texts, line by line: lines added, names changed, and recurrences replaced by identities."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Collection, Mapping

from workbench.lines.parse import parse
from workbench.lines.schedule import read_first
from workbench.lines.shapes import infer_vectors
from workbench.lines.types import Formula, Line, LinesError


def added(text: str, behind: Mapping[str, str]) -> str:
    """The text with further lines behind the last line that sets a name. Raises KeyError for a name that none sets."""
    rows = {line.target: place for place, line in enumerate(parse(text))}
    further = {rows[name]: lines for name, lines in behind.items()}
    return "\n".join(
        part for place, line in enumerate(parse(text)) for part in (line.text, further.get(place, "")) if part
    )


def with_names(text: str, names: Mapping[str, str]) -> str:
    """The text with other names."""
    return "\n".join(_line_with_names(line.text, names) for line in parse(text))


def by_identities(text: str, identities: Mapping[str, str]) -> str:
    """The text of an iteration in which identities such as u = M(r) replace the recurrences of their names.

    An identity holds between iterations, and again once its name and the vectors on its right-hand side have new
    values. It is evaluated in front of the first line that reads the name before the recurrence, and of the first that
    does so after it. Useful where the operator acts element by element: its result then is a formula of a pass, which
    costs less than a recurrence that reads and writes vectors.

    Raises LinesError where a line reads the name while the two sides belong to different iterations.
    """
    lines = parse(text)
    operands = {name: set(parse(f"{name} = {formula}")[0].reads) for name, formula in identities.items()}
    last = {line.target: place for place, line in enumerate(lines)}
    made: list[str] = []
    evaluated: set[str] = set()
    renewed: set[str] = set()
    """Names on the left-hand side and operands that have their new values."""
    for place, line in enumerate(lines):
        for name in line.reads:
            if name not in identities or name in evaluated or line.target == name:
                continue
            changing = operands[name] & last.keys()
            if any(last[operand] > place if name in renewed else operand in renewed for operand in changing):
                raise LinesError(f"line {line.text!r} reads {name} where {name} = {identities[name]} does not hold")
            made.append(f"{name} = {identities[name]}")
            evaluated.add(name)
        renewed.add(line.target)
        if line.target not in identities:
            made.append(line.text)
            continue
        evaluated.discard(line.target)
        if not isinstance(line, Formula):
            made.append(line.text)
            evaluated.add(line.target)
    return "\n".join(made)


def without_unread(*texts: str) -> tuple[str, ...]:
    """The texts of one method without the lines whose vector no line reads before it is set again; x stays.

    A text reads what any of the texts has left, itself included.
    """
    programs = [list(parse(text)) for text in texts]
    vectors = infer_vectors([line for program in programs for line in program], ("b", "x"))
    while True:
        carried = {"x"}.union(*(read_first(program, vectors) for program in programs))
        fewer = [_without_unread(program, vectors, carried) for program in programs]
        if fewer == programs:
            return tuple("\n".join(line.text for line in program) for program in programs)
        programs = fewer


def _without_unread(program: list[Line], vectors: Collection[str], carried: Collection[str]) -> list[Line]:
    """carried: the vectors that are read after the program's end."""
    kept: list[Line] = []
    awaited = set(carried)
    for line in reversed(program):
        if line.target in vectors and line.target not in awaited:
            continue
        kept.insert(0, line)
        awaited = (awaited - {line.target}) | set(line.reads)
    return kept


def _line_with_names(line: str, names: Mapping[str, str]) -> str:
    rows = line.split("\n")
    for token in reversed(list(tokenize.generate_tokens(io.StringIO(line).readline))):
        if token.type == tokenize.NAME and token.string in names:
            (row, first), (_, end) = token.start, token.end
            rows[row - 1] = rows[row - 1][:first] + names[token.string] + rows[row - 1][end:]
    return "\n".join(rows)
