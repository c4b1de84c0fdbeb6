"""The scalars of the last few iterations, kept on the device until the host looks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from workbench.devices.accelerator.programs import Repeated
from workbench.devices.kernels import scalars as kernels
from workbench.devices.kernels.kernel_text import KernelText
from workbench.devices.kernels.prelude import STOP
from workbench.devices.lines.workspace import Workspace
from workbench.devices.rows import Rows

MOST_RECORDED = 64
"""Iterations between two looks that are recorded as one; of more, so many as `RECORDED` are, again and again."""
RECORDED = 16


class Watch:
    """Rows of a workspace's scalars, one an iteration, of at most `every` iterations between two looks.

    The device stops by itself at the first row that the host would want to see: then what is launched after it does
    nothing. Where a program could not be stopped like that, or an operator waits for the host anyway, `every` is 1.
    """

    def __init__(self, device: Any, workspace: Workspace, every: int) -> None:
        self._device, self._space = device, workspace
        self._waits = any(getattr(operator, "waits", False) for operator in workspace.operators.values())
        self.every = max(1, every) if workspace.repeatable and not self._waits else 1
        wide = workspace.scalars.dtype
        # How many rows there are, and then the rows, so that only those are fetched that there can be.
        self._rows = device.zeros(1 + self.every * STOP, wide)
        self._kept = device.pinned(self._rows.shape, wide)
        self._most = 0
        """Rows that there can be since the watch was armed."""
        self._arm = device.kernel(kernels.ARM, "arm", wide)
        # With the types of the other kernels, so that all can be one.
        self._keep = device.kernel(KernelText.of(kernels.KEEP, "keep", on_scalars=True), "keep", workspace.dtype)
        self._slots: list[np.int32] = []
        self._repeat: Callable[[int], None] | None = None

    def prepare(self, norm: str, *, alike: bool) -> None:
        """Compile and record all that iterations launch, so that making them does nothing of the kind.

        norm: the scalar that is the square of the norm which decides. alike: all iterations are calls of the last
        program of the workspace; then as many of them as are made until the next look become one call where the runtime
        can record them, since launching one by one can take the host longer than they take the device. Where operators
        wait for the host, nothing is recorded; they compile when they are made.
        """
        space, runtime = self._space, self._device.runtime
        self._slots = [np.int32(space.slots.get(name, -1)) for name in (norm, "delta", "gamma")]
        if self._waits or space.clock:
            return

        def all_programs() -> None:
            for program in space.programs:
                program()

        runtime.compile_ahead(all_programs)
        if alike and self.every > 1:
            unit = self.every if self.every <= MOST_RECORDED else RECORDED
            self._repeat = runtime.repeated(self._one_of_many, unit, space.scalars.handle)
        for program in space.programs[1:]:
            for run in program.runs:
                if isinstance(run, Repeated):
                    run.record()

    def arm(self, norm: str, limit: float, most: float = np.inf) -> None:
        """From here on stop at the first row whose norm is not above the limit, or above the most that it may be.

        norm: the scalar that is its square.
        """
        space, wide = self._space, self._space.scalars.dtype
        self._most = 0
        self._slots = [np.int32(space.slots.get(name, -1)) for name in (norm, "delta", "gamma")]
        # The host compares roots; it must see every row that might meet its limits.
        info = np.finfo(wide)
        slack = 8 * float(info.eps)
        squares = limit * limit * (1 + slack), most * most * (1 - slack)
        numbers = [self._device.number(min(square, float(info.max)), wide) for square in squares]
        self._device.launch(self._arm, 1, space.scalars, *numbers)

    def make(self, recurrence: Iterator[None], count: int, *, alike: bool = False) -> None:
        """Iterate, and keep the scalars after each iteration as a row, unless the run has stopped."""
        self._most += count
        if self._repeat and alike and count > 1:
            self._repeat(count)
            return
        for _ in range(count):
            next(recurrence)
            self._note()

    def _one_of_many(self) -> None:
        self._space.programs[-1]()
        self._note()

    def _note(self) -> None:
        self._device.launch(self._keep, 1, self._space.scalars, self._rows, np.int32(self.every), *self._slots)

    def rows(self) -> Rows:
        """The rows since the watch was armed; waits for the device."""
        kept = self._kept[: 1 + self._most * STOP]
        self._device.fetch(self._rows, kept)
        count, table = int(np.real(kept[0])), kept[1:].reshape(self._most, STOP)
        return Rows(table[:count], self._space.slots)
