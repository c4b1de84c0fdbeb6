"""A program ready to run, with its counts: what programs of vectors and of block vectors have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench.lines.types import Line, Shapes


class Program:
    """Paper lines bound to a workspace; calling it runs all its steps once. lines: as planned."""

    def __init__(self, workspace: Any, lines: tuple[Line, ...], shapes: Shapes) -> None:
        self.lines = lines
        self._workspace, self._shapes = workspace, shapes
        self._runs: list[Callable[[], None]] = []

    def __call__(self) -> None:
        for run in self._runs:
            run()

    @property
    def runs(self) -> tuple[Callable[[], None], ...]:
        """What a call calls, in order."""
        return tuple(self._runs)

    @property
    def passes(self) -> int:
        """Passes over memory in one call; an operator application, a reduction and a sum of block vectors are one."""
        raise NotImplementedError

    @property
    def bytes(self) -> int:
        """Bytes read and written by one call, each vector once a pass."""
        return sum(self._work(place)[0] for place in range(self._count))

    @property
    def flops(self) -> int:
        """Floating-point operations of one call, counted as real ones."""
        return sum(self._work(place)[1] for place in range(self._count))

    @property
    def _count(self) -> int:
        raise NotImplementedError

    def _work(self, place: int) -> tuple[int, int]:
        """Bytes and flops of a step."""
        raise NotImplementedError

    def _timed(self, place: int, run: Callable[[], None], name: str) -> Callable[[], None]:
        """The step as the clock of a traced run records it."""
        clock = self._workspace.clock
        return clock.timed(run, name, lambda: self._work(place)) if clock else run
