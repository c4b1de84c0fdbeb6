"""Names of what the cycles over levels do, in traces and tables; level 0 is E itself."""

from __future__ import annotations

import re

COARSE_SOLVE = "coarse solve"
COARSEST = "coarsest level"
SMOOTH, RESIDUAL, REORDER = "smooth", "residual", "reorder"
PRODUCT, STEP = "flexible CG, product", "flexible CG, step"
RESTRICT, CORRECT = "restrict to", "correct from"
_ON_LEVEL = re.compile(rf"(?:{SMOOTH}|{RESIDUAL}|{REORDER}|{PRODUCT}|{STEP}), level (\d+)")
_BETWEEN = re.compile(rf"(?:{RESTRICT}|{CORRECT}) level ([1-9]\d*)")


def on_level(work: str, level: int) -> str:
    """The name of work on a level, as in `smooth, level 1`."""
    return f"{work}, level {level}"


def from_level(work: str, level: int) -> str:
    """The name of a transfer between a level and the next, as in `restrict to level 2` for level 1."""
    return f"{work} level {level + 1}"


def level_of(name: str) -> str:
    """The level that a kernel of a coarse solve runs on, as in `level 1`; empty for all other kernels."""
    if name == COARSEST:
        return name
    if found := _ON_LEVEL.fullmatch(name):
        return f"level {int(found[1])}"
    found = _BETWEEN.fullmatch(name)
    return f"level {int(found[1]) - 1}" if found else ""


def summed_name(name: str) -> str:
    """The row of a kernel where those of a level are summed: `coarse solve, level 1`, or the kernel's own name."""
    level = level_of(name)
    return f"{COARSE_SOLVE}, {level}" if level else name


def level_rank(name: str) -> tuple[bool, int]:
    """A key that sorts the names of levels, finest first."""
    number = name.rpartition("level ")[2]
    return not number.isdigit(), int(number) if number.isdigit() else 0
