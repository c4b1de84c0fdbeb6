"""The recurrence of a run on its device: workspace, generator of the solver, and watch of its scalars."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING

import numpy as np

from workbench.devices.clock import Clock
from workbench.devices.operator_protocols import Watch
from workbench.devices.programs.workspace import Compiled, Workspace
from workbench.devices.rows import Rows
from workbench.lines.schedule import Inlined, factor_name
from workbench.run.choices.stopping import Norm
from workbench.run.loop.history_writer import SQUARES
from workbench.run.setup.solve_setup import SolveSetup

if TYPE_CHECKING:
    from workbench.devices.operator_protocols import DeviceOperator


ROWS = 64
"""Iterations whose scalars a kept recurrence on the cores gathers between two checks, at most."""


class Recurrence:
    """The recurrence from the present x, compiled but not started.

    norm: the norm that the device compares with its bounds. check_every: iterations between two checks of the norms,
    None for as many as the device allows. clock: of a traced run. All memory of a recurrence is in its workspace.
    """

    def __init__(self, setup: SolveSetup, norm: Norm, check_every: int | None, clock: Clock | None) -> None:
        self._clock = clock
        self._setup = setup
        self._kept: list[Compiled] = []
        """Programs of the workspace, which refers to them weakly."""
        self.workspace: Workspace = self._made_workspace(clock)
        self._generator: Iterator[None] = self._iterates()
        self._square, self._uniform = SQUARES.get(norm, ""), setup.solver.uniform_iterations
        # The A-norm of the error needs a product with x after every iteration. A solver that takes decisions would take
        # one more after the device has stopped.
        self._single = norm is Norm.ERROR or not self._uniform
        self.watch: Watch = setup.device.watch(self.workspace, 1 if self._single else check_every)
        self.watch.prepare(self._square, uniform=self._uniform)
        # The first sum would wait for the slowest setup, in the time of the iterations.
        setup.device.gathered(None)
        self._rows: Callable[[], Rows] = clock.reading(self.watch.rows) if clock else self.watch.rows

    def _made_workspace(self, clock: Clock | None) -> Workspace:
        setup = self._setup
        return setup.device.workspace(
            setup.b.size,
            setup.b.dtype,
            vectors={"b": setup.solver_b, "x": setup.x},
            operators={"A": setup.A, "M": setup.M},
            clock=clock,
        )

    def _iterates(self) -> Iterator[None]:
        return self._setup.solver.iterates(self.workspace)

    def keep(self) -> bool:
        """Let `rewind` begin again with the compiled programs; False where a method or device does not allow that."""
        workspace = self.workspace
        if not self._is_of_cg:
            return False
        self.gather()
        workspace.keep()
        self._kept = workspace.programs
        return True

    def gather(self) -> None:
        """Let up to `ROWS` iterations be made between two checks on the cores too, where that costs no iteration."""
        gather = getattr(self.watch, "gather", None)
        if gather and self._is_of_cg and self._on_host and not (self._single or self._clock):
            gather(ROWS)

    @property
    def _is_of_cg(self) -> bool:
        """True for a method with the scalars of CG and the same lines in all iterations, on one device."""
        workspace = self.workspace
        of_cg = {self._square, "delta", "gamma"} <= workspace.slots.keys()
        return self._uniform and type(workspace) is Workspace and of_cg

    @property
    def _on_host(self) -> bool:
        return isinstance(self.workspace.scalars, np.ndarray)

    def rewind(self) -> None:
        """Return to before the start, for the b and x that the vectors of the setup hold now; see `keep`."""
        setup, b = self._setup, self.workspace.vectors["b"]
        self.workspace.clear()
        self.watch.rewind()
        if b is not setup.b:
            setup.device.assign(b, setup.solver_b)
        self._generator = self._iterates()

    def renew(self, setup: SolveSetup) -> bool:
        """Continue with another setup of the same device, vectors and kinds of operators, see `keep`; False where they
        are not of the same kind, and nothing has changed. Programs are bound, and on an accelerator recorded, again."""
        space, pairs = self.workspace, {"A": setup.A, "M": setup.M}
        before = {name: space.operators[name] for name in pairs}
        if any(_planned_by(before[name]) != _planned_by(operator) for name, operator in pairs.items()):
            return False
        for name, operator in pairs.items():
            if isinstance(before[name], Inlined):
                for factor, vector in operator.factors.items():
                    setup.device.assign(space.vectors[factor_name(name, factor)], vector)
            else:
                space.operators[name] = operator
        self._setup = setup
        for program in self._kept:
            program.bind()
        self.watch.prepare(self._square, uniform=self._uniform)
        return True

    def _before(self) -> None:
        """A step before the iterations of an interval, which counts as their time."""

    def _after(self, rows: Rows) -> None:
        """A step after the iterations of an interval, which counts as their time."""

    @property
    def longest_interval(self) -> int:
        """The largest number of iterations between two checks."""
        return self.watch.every

    def close(self) -> None:
        """End the generator; what it holds, such as a thread, ends with it. The vectors stay."""
        if isinstance(self._generator, Generator):
            self._generator.close()

    def start(self) -> None:
        """Make the start of the recurrence, which has no row after a restart."""
        next(self._generator)

    def advance(self, count: int, below: float, above: float, iteration: int) -> tuple[Rows, float]:
        """Make up to `count` iterations: their scalars, and the seconds of one.

        The device stops at the first norm below or above these bounds. iteration: the number of the first one.
        """
        self.watch.set_threshold(self._square, below, above)
        begun = time.perf_counter()
        self._before()
        if self._clock:
            for ahead in range(count):
                self._clock.iteration = iteration + ahead
                self.watch.advance(self._generator, 1)
        else:
            self.watch.advance(self._generator, count, uniform=self._uniform)
        rows = self._rows()
        self._after(rows)
        return rows, (time.perf_counter() - begun) / rows.count


def _planned_by(operator: DeviceOperator | Inlined) -> tuple[object, ...]:
    """The traits of an operator that the plan of a program depends on."""
    if isinstance(operator, Inlined):
        return (operator.formula,)
    return tuple(operator.fused_dots), tuple(getattr(operator, "split_dots", ())), operator.waits
