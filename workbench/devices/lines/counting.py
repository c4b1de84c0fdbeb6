"""A device that runs nothing: programs are planned and their vectors are there to be counted, no kernel is compiled."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from workbench.devices.lines import plan


class CountingDevice:
    """Just what a workspace needs to plan. Calling a program that is bound here does nothing."""

    def scalars(self, count: int, dtype: np.dtype) -> np.ndarray:
        return np.zeros(count, dtype)

    def zeros(self, size: int, dtype: np.dtype) -> np.ndarray:
        return np.zeros(size, dtype)

    def bind_steps(
        self, steps: Sequence[plan.Step], workspace: Any, vectors: Collection[str], kernels: dict[int, Any]
    ) -> list[Callable[[], None]]:
        """Make the vectors that the steps would work on."""
        for name in plan.touched(steps):
            workspace.vector(name)
        return []

    def together(self, runs: list[Callable[[], None]], workspace: Any) -> list[Callable[[], None]]:
        return runs
