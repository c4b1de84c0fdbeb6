"""The watch of a device whose scalars are in host memory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from workbench.devices.programs.workspace import Workspace
from workbench.devices.rows import Rows


class Watch:
    """The scalars of a workspace, read after every iteration."""

    every = 1

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def prepare(self, norm: str, *, uniform: bool) -> None:
        """Nothing to do: programs are compiled when they are created."""

    def set_threshold(self, norm: str, limit: float, maximum: float = np.inf) -> None:
        """Nothing to do: the driver reads every row."""

    def advance(self, recurrence: Iterator[None], count: int, *, uniform: bool = False) -> None:
        """Iterate; the scalars are valid until the next iteration."""
        for _ in range(count):
            next(recurrence)

    def rows(self) -> Rows:
        """The row of the last iteration."""
        return Rows(self._workspace.scalars[None], self._workspace.slots)
