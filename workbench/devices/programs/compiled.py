"""A program compiled for one workspace, with its counts."""

from __future__ import annotations

from typing import Any

from workbench.devices.programs.program import Program
from workbench.devices.programs.program_device import Storage
from workbench.lines import count, schedule
from workbench.lines.schedule import Apply, Pass, Step
from workbench.lines.types import Line, Shapes, tall_names


class Compiled(Program):
    """A program of fused passes and operator applications."""

    def __init__(self, workspace: Storage, lines: tuple[Line, ...], steps: tuple[Step, ...], shapes: Shapes) -> None:
        super().__init__(workspace, lines, shapes)
        self.steps = steps
        self._kernels: dict[int, Any] = {}
        self._works: dict[int, tuple[int, int]] = {}
        self.bind()

    def bind(self) -> None:
        """Fix the arrays of every step as the workspace holds them now."""
        space = self._workspace
        runs = space.device.bind_steps(self.steps, space, self._shapes, self._kernels)
        if space.clock:
            self._runs = [self._timed(k, run, schedule.step_name(self.steps[k])) for k, run in enumerate(runs)]
        else:
            self._runs = space.device.batched(runs, space)

    @property
    def repeatable(self) -> bool:
        """Whether applying the operators once more, without any pass between, leaves every vector as it is."""
        return schedule.repeatable(self.lines, self.steps, tall_names(self._shapes))

    @property
    def passes(self) -> int:
        return sum(1 for step in self.steps if isinstance(step, Apply) or step.body)

    @property
    def _count(self) -> int:
        return len(self.steps)

    def _work(self, place: int) -> tuple[int, int]:
        """Bytes and flops of a step; those of a pass are computed once: programs that are bound at every call would
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
