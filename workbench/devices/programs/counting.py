"""A device that plans and counts programs without compiling or running a kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from workbench.devices.programs.program import Storage
from workbench.lines.schedule import Step, touched
from workbench.lines.types import Shapes


class CountingDevice:
    """The methods that a workspace needs to plan. Calling a program that is bound here does nothing."""

    def scalars(self, count: int, dtype: np.dtype) -> np.ndarray:
        return np.zeros(count, dtype)

    def to_host(self, vector: np.ndarray) -> np.ndarray:
        return vector

    def clear(self, array: np.ndarray) -> None:
        array[...] = 0

    def write_scalar(self, scalars: np.ndarray, slot: int, value: complex) -> None:
        scalars[slot] = value

    def zeros(self, size: int, dtype: np.dtype) -> np.ndarray:
        return np.zeros(size, dtype)

    def zero_block(self, size: int, columns: int, dtype: np.dtype) -> np.ndarray:
        return np.zeros((size, columns), dtype)

    def bind_steps(
        self, steps: Sequence[Step], workspace: Storage, shapes: Shapes, kernels: dict[Any, Any]
    ) -> list[Callable[[], None]]:
        """Allocate the vectors that the steps would work on."""
        for name in touched(steps):
            workspace.vector(name)
        return []

    def batched(self, runs: list[Callable[[], None]], workspace: Storage) -> list[Callable[[], None]]:
        return runs

    def settle(self) -> None:
        """Nothing is compiled."""
