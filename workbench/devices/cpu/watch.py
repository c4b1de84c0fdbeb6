"""The watch of a device whose scalars are in host memory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from workbench.devices.programs.workspace import Workspace
from workbench.devices.rows import Rows


class Watch:
    """The scalars of a workspace, read after every iteration, or after up to `every` as on an accelerator.

    Reading costs nothing here; a check of each row takes longer than an iteration of a small system.
    """

    every = 1
    stops = True

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._norm, self._bounds = "", (0.0, np.inf)
        self._table = np.empty((0, 0))
        self._count = 0

    def prepare(self, norm: str, *, uniform: bool) -> None:
        """Nothing to do: programs are compiled when they are created."""

    def rewind(self) -> None:
        """Nothing to do."""

    def gather(self, every: int) -> None:
        """Keep up to `every` rows from now on, until a row meets a limit of `set_threshold` or breaks down."""
        scalars = self._workspace.scalars
        self.every, self._table = every, np.empty((every, scalars.size), scalars.dtype)

    def set_threshold(self, norm: str, limit: float, maximum: float = np.inf) -> None:
        """Stop, if several iterations are made, at the first row whose norm is not above `limit`, or is above
        `maximum`. norm: the scalar that is the squared norm."""
        # The host compares square roots; every row that might meet a limit must reach it.
        slack = 8 * float(np.finfo(float).eps)
        self._norm, self._bounds = norm, (limit * limit * (1 + slack), maximum * maximum * (1 - slack))

    def advance(self, recurrence: Iterator[None], count: int, *, uniform: bool = False) -> None:
        """Iterate; the scalars are valid until the next iteration."""
        self._count = 0
        if count == 1:
            next(recurrence)
            return
        scalars, slots, (low, high) = self._workspace.scalars, self._workspace.slots, self._bounds
        norm, delta, gamma = (slots[name] for name in (self._norm, "delta", "gamma"))
        for row in self._table[:count]:
            next(recurrence)
            row[:] = scalars
            self._count += 1
            if not (low < row[norm].real <= high and row[delta].real > 0 and row[gamma].real > 0):
                return

    def rows(self) -> Rows:
        """The rows of the last call of `advance`."""
        table = self._table[: self._count] if self._count else self._workspace.scalars[None]
        return Rows(table, self._workspace.slots)
