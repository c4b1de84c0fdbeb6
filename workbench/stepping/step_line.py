"""A line of a method that has run, and who takes it with the values that it changed."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

Values = dict[str, Any]
"""Vectors, scalars and small matrices by name. No array in it is ever changed."""


@dataclasses.dataclass(frozen=True)
class StepLine:
    """A line that has run. name: what it sets, and target: where its value is among `Values`; empty for a copy or a
    wait. lane: of a hybrid schedule, as in `devices.clock`. words: the text is a formula in words, not a paper line.
    moved: numbers that a copy moves. ends: the line cannot run, and the method ends there; target is empty."""

    text: str
    name: str = ""
    target: str = ""
    lane: str = ""
    words: bool = False
    moved: int = 0
    ends: bool = False


Listener = Callable[[StepLine, Values], None]
"""Takes a line that has run and what it changed."""
