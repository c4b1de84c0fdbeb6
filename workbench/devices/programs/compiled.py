"""A program compiled for one workspace, with its counts."""

from __future__ import annotations

import functools
from typing import Any

from workbench.devices.programs.host_read import timed
from workbench.devices.programs.program import Program, Work
from workbench.devices.programs.program_device import Storage
from workbench.lines import count, schedule
from workbench.lines.schedule import Apply, Step
from workbench.lines.types import Line, Shapes, tall_names


class Compiled(Program):
    """A program of fused passes and operator applications."""

    def __init__(self, workspace: Storage, lines: tuple[Line, ...], steps: tuple[Step, ...], shapes: Shapes) -> None:
        super().__init__(workspace, lines, shapes)
        self.steps = steps
        self._kernels: dict[int, Any] = {}
        self._works = [self._work_of(step) for step in steps]
        self.bind()

    def bind(self) -> None:
        """Fix the arrays of every step as the workspace holds them now."""
        space = self._workspace
        runs = space.device.bind_steps(self.steps, space, self._shapes, self._kernels)
        if clock := space.clock:
            named = zip(runs, map(schedule.step_name, self.steps), self._works, strict=True)
            self._runs = [timed(clock, *step) for step in named]
        else:
            self._runs = space.device.batched(runs, space)

    @property
    def repeatable(self) -> bool:
        """True if a second application of all operators, with no pass between, leaves every vector as it is."""
        return schedule.repeatable(self.lines, self.steps, tall_names(self._shapes))

    @property
    def passes(self) -> int:
        return sum(1 for step in self.steps if isinstance(step, Apply) or step.body)

    def _work_of(self, step: Step) -> Work:
        """The work of a step. That of a pass is computed once: programs that are bound at every call would otherwise
        spend more on it than on their kernels."""
        space = self._workspace
        if isinstance(step, Apply):
            return lambda: ((operator := space.operator(step)).traffic, operator.flops)
        given = step, self._shapes, space.size
        return functools.cache(lambda: (count.bytes_of(*given, space.itemsize), count.flops_of(*given, space.dtype)))
