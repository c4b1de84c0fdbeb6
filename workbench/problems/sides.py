"""Boundary conditions of the sides of a box, parsed from text."""

from __future__ import annotations

import enum

from workbench.errors import InputError
from workbench.registry import unknown_name

SIDES_HELP = "neumann or dirichlet for all sides, or a list such as x-:dirichlet,y+:dirichlet (the others neumann)"


class Boundary(enum.StrEnum):
    """The condition on one side of the box."""

    NEUMANN = "neumann"
    DIRICHLET = "dirichlet"


def side_names(dimensions: int) -> tuple[str, ...]:
    """The sides of a box: x-, x+, y-, y+ and in 3D z-, z+."""
    return tuple(f"{axis}{end}" for axis in "xyz"[:dimensions] for end in "-+")


def parse_sides(text: str, dimensions: int) -> dict[str, Boundary]:
    """The condition on each side, from `neumann`, `dirichlet`, or a comma-separated list of `side:condition`.

    Sides that are not in the list are Neumann. Raises InputError for an unknown side or condition, and for a side that
    occurs twice.
    """
    names = side_names(dimensions)
    words = [word.strip() for word in text.split(",")]
    if len(words) == 1 and ":" not in words[0]:
        return dict.fromkeys(names, _boundary(words[0]))
    sides = dict.fromkeys(names, Boundary.NEUMANN)
    named: set[str] = set()
    for word in words:
        side, colon, condition = (part.strip() for part in word.partition(":"))
        if not colon:
            raise InputError(f"sides needs entries such as x-:dirichlet, got {word!r}")
        if side not in sides:
            raise InputError(unknown_name("side", side, names))
        if side in named:
            raise InputError(f"sides names {side} twice; name each side once")
        named.add(side)
        sides[side] = _boundary(condition)
    return sides


def is_closed(text: str, dimensions: int) -> bool:
    """True if all sides are Neumann, which makes the operator singular."""
    return all(boundary is Boundary.NEUMANN for boundary in parse_sides(text, dimensions).values())


def _boundary(word: str) -> Boundary:
    try:
        return Boundary(word)
    except ValueError:
        raise InputError(unknown_name("boundary condition", word, list(Boundary))) from None
