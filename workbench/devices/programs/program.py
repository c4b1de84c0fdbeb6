"""A program ready to run, with its counts: what programs of vectors and of block vectors have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench.lines.types import Line, Shapes

Work = Callable[[], tuple[int, int]]
"""Bytes and flops of a step."""


class Program:
    """Paper lines bound to a workspace; calling it runs all its steps once. lines: as planned. calls: so far."""

    def __init__(self, workspace: Any, lines: tuple[Line, ...], shapes: Shapes) -> None:
        self.lines, self.calls = lines, 0
        self._workspace, self._shapes = workspace, shapes
        self._runs: list[Callable[[], None]] = []
        self._works: list[Work] = []

    def __call__(self) -> None:
        self.calls += 1
        for run in self._runs:
            run()

    @property
    def runs(self) -> tuple[Callable[[], None], ...]:
        """The functions that a call runs, in order."""
        return tuple(self._runs)

    @property
    def passes(self) -> int:
        """Passes over memory in one call; an operator application, a reduction and a sum of block vectors are one."""
        return len(self._works)

    @property
    def bytes(self) -> int:
        """Bytes read and written by one call, each vector once a pass."""
        return sum(work()[0] for work in self._works)

    @property
    def flops(self) -> int:
        """Floating-point operations of one call, counted as real ones."""
        return sum(work()[1] for work in self._works)
