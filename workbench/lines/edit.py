"""Texts made from texts, line by line: lines added behind others, and recurrences replaced by identities."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.lines.parse import parse
from workbench.lines.shapes import infer_vectors
from workbench.lines.types import Formula


def added(text: str, behind: Mapping[str, str]) -> str:
    """The text with further lines behind the last line that sets a name. Raises KeyError for a name that none sets."""
    rows = {line.target: place for place, line in enumerate(parse(text))}
    further = {rows[name]: lines for name, lines in behind.items()}
    return "\n".join(
        part for place, line in enumerate(parse(text)) for part in (line.text, further.get(place, "")) if part
    )


def by_identities(text: str, identities: Mapping[str, str]) -> str:
    """The text of an iteration in which identities such as u = M(r) replace the recurrences of their names.

    An identity is evaluated where the recurrence was. Vectors other than x that then no line reads are left out. Useful
    where the operator acts element by element: its result is a formula of a pass then, and needs no recurrence.
    """
    lines = [
        f"{line.target} = {identities[line.target]}"
        if isinstance(line, Formula) and line.target in identities
        else line.text
        for line in parse(text)
    ]
    while (fewer := _without_unread(lines)) != lines:
        lines = fewer
    return "\n".join(lines)


def _without_unread(texts: list[str]) -> list[str]:
    lines = parse("\n".join(texts))
    read = {name for line in lines for name in line.reads} | {"x"}
    unread = infer_vectors(lines, ("b", "x")) - read
    return [line.text for line in lines if line.target not in unread]
