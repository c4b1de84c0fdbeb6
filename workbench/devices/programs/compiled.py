"""A program compiled for one workspace, with its counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench.devices.programs.program_device import Storage
from workbench.lines import count, schedule
from workbench.lines.schedule import Apply, Pass, Step
from workbench.lines.types import Line, Shapes, tall_names


class Compiled:
    """A program ready to run; calling it runs all its steps once."""

    def __init__(self, workspace: Storage, lines: tuple[Line, ...], steps: tuple[Step, ...], shapes: Shapes) -> None:
        self.steps = steps
        self.lines = lines
        self._workspace = workspace
        self._shapes = shapes
        self._kernels: dict[int, Any] = {}
        self._runs: list[Callable[[], None]] = []
        self._works: dict[int, tuple[int, int]] = {}
        self.bind()

    def bind(self) -> None:
        """Fix the arrays of every step as the workspace holds them now."""
        space = self._workspace
        runs = space.device.bind_steps(self.steps, space, self._shapes, self._kernels)
        if space.clock:
            self._runs = [self._timed(place, run) for place, run in enumerate(runs)]
        else:
            self._runs = space.device.batched(runs, space)

    def __call__(self) -> None:
        for run in self._runs:
            run()

    @property
    def runs(self) -> tuple[Callable[[], None], ...]:
        """What a call calls, in order."""
        return tuple(self._runs)

    @property
    def repeatable(self) -> bool:
        """Whether applying the operators once more, without any pass between, leaves every vector as it is."""
        return schedule.repeatable(self.lines, self.steps, tall_names(self._shapes))

    @property
    def passes(self) -> int:
        """Passes over memory in one call, operator applications included."""
        return sum(1 for step in self.steps if isinstance(step, Apply) or step.body)

    @property
    def bytes(self) -> int:
        """Bytes read and written by one call, each vector once a pass."""
        return sum(self._work(place)[0] for place in range(len(self.steps)))

    @property
    def flops(self) -> int:
        """Floating-point operations of one call, counted as real ones."""
        return sum(self._work(place)[1] for place in range(len(self.steps)))

    def _timed(self, place: int, run: Callable[[], None]) -> Callable[[], None]:
        """The step as the clock of a traced run records it."""
        assert self._workspace.clock is not None
        return self._workspace.clock.timed(run, schedule.step_name(self.steps[place]), lambda: self._work(place))

    def _work(self, place: int) -> tuple[int, int]:
        """Bytes and flops of a step. Those of a pass are computed once: programs that are bound at every call would
        otherwise spend more on them than on their kernels."""
        step, space = self.steps[place], self._workspace
        if isinstance(step, Pass):
            if place not in self._works:
                given = step, self._shapes, space.size
                bytes_moved = count.bytes_of(*given, space.itemsize)
                self._works[place] = bytes_moved, count.flops_of(*given, space.dtype)
            return self._works[place]
        operator = space.operator(step)
        return operator.traffic, operator.flops
