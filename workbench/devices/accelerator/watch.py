"""The scalars of the last few iterations, kept on the device until the host looks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from workbench.devices.accelerator.programs import RECORDED_AT
from workbench.devices.kernels import scalars as kernels
from workbench.devices.kernels.prelude import STOP
from workbench.devices.lines.workspace import Workspace
from workbench.devices.rows import Rows


class Watch:
    """Rows of a workspace's scalars, one an iteration, of at most `every` iterations between two looks.

    The device stops by itself at the first row that the host would want to see: then what is launched after it does
    nothing. Where a program could not be stopped like that, or an operator waits for the host anyway, `every` is 1.
    """

    def __init__(self, device: Any, workspace: Workspace, every: int) -> None:
        self._device, self._space = device, workspace
        waits = any(getattr(operator, "waits", False) for operator in workspace.operators.values())
        self.every = max(1, every) if workspace.repeatable and not waits else 1
        wide = workspace.scalars.dtype
        self._rows = device.zeros(self.every * STOP + 1, wide)
        self._kept = device.pinned(self._rows.shape, wide)
        self._arm = device.kernel(kernels.ARM, "arm", wide)
        # With the types of the other kernels, so that all can be one.
        self._keep = device.kernel(kernels.KEEP, "keep", workspace.dtype)
        self._times = 0
        self._repeat: Callable[[], None] | None = None

    def arm(self, norm: str, limit: float) -> None:
        """From here on stop at the first row whose scalar `norm`, the square of a norm, is not above limit^2."""
        space, wide = self._space, self._space.scalars.dtype
        # The host compares roots; it must see every row that might meet its limit.
        square = self._device.number(limit * limit * (1 + 8 * float(np.finfo(wide).eps)), wide)
        self._slots = [np.int32(space.slots.get(name, -1)) for name in (norm, "delta", "gamma")]
        self._device.launch(self._arm, 1, space.scalars, square)

    def make(self, recurrence: Iterator[None], count: int, *, alike: bool = False) -> None:
        """Iterate, and keep the scalars after each iteration as a row, unless the run has stopped.

        alike: all iterations launch the same; then all of them until the next look become one call where the runtime
        can record them, since launching one by one can take the host longer than they take the device.
        """
        if not alike or count != self.every or count == 1:
            self._one_by_one(recurrence, count)
            return
        self._times += 1
        if self._times == RECORDED_AT:
            scalars = self._space.scalars.handle
            self._repeat = self._device.runtime.repeated(lambda: self._one_by_one(recurrence, 1), count, scalars)
        if self._repeat:
            self._repeat()
        else:
            self._one_by_one(recurrence, count)

    def _one_by_one(self, recurrence: Iterator[None], count: int) -> None:
        for _ in range(count):
            next(recurrence)
            self._note()

    def _note(self) -> None:
        self._device.launch(self._keep, 1, self._space.scalars, self._rows, np.int32(self.every), *self._slots)

    def rows(self) -> Rows:
        """The rows since the watch was armed; waits for the device."""
        self._device.fetch(self._rows, self._kept)
        count, table = int(np.real(self._kept[-1])), self._kept[:-1].reshape(self.every, STOP)
        return Rows(table[:count], self._space.slots)
