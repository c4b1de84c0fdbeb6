"""The names that have values at a place of the text: those that are set on all paths that lead there."""

from __future__ import annotations

import contextlib
from collections.abc import Generator

Names = frozenset[str] | None
"""None where no path leads: after `return`, `break` and `continue`."""


class Paths:
    """The paths through a function, up to the place that is read. names: those that have values there."""

    def __init__(self, names: frozenset[str]) -> None:
        self.names: Names = names
        self._jumps: list[list[tuple[str, Names]]] = []
        """Jumps, `break` and `continue`, of each loop around, with the names that have values there."""

    def has(self, name: str) -> bool:
        """True if every path to here sets the name."""
        return self.names is None or name in self.names

    def add(self, name: str) -> None:
        """Note that the name is set here."""
        if self.names is not None:
            self.names |= {name}

    def jump(self, word: str) -> None:
        """Leave by `break`, `continue` or `return`."""
        if word != "return":
            self._jumps[-1].append((word, self.names))
        self.names = None

    def join(self, other: Names) -> None:
        """Continue where this path and another one join: with the names that have values on both."""
        self.names = other if self.names is None else self.names if other is None else self.names & other

    @contextlib.contextmanager
    def loop(self, *, skipped: bool, endless: bool = False) -> Generator[None]:
        """A context for the body of a loop. skipped: it may not run at all. endless: only `break` ends it."""
        before = self.names
        self._jumps.append([])
        yield
        if endless:
            self.names = None
        for word, names in self._jumps.pop():
            if word == "break" or not endless:
                self.join(names)
        if skipped:
            self.join(before)
