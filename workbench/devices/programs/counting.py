"""A device on which programs are planned and counted, without compiling or running a kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from workbench.devices.programs.program import Storage
from workbench.lines.schedule import Step, touched
from workbench.lines.types import Shapes


class CountingDevice:
    """A `ProgramDevice` in host memory whose programs have counts of passes, bytes and flops, but no steps to run."""

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
        self, steps: Sequence[Step], workspace: Storage, shapes: Shapes, kernels: dict[object, object]
    ) -> list[Callable[[], None]]:
        """No calls; the vectors of the steps are allocated, so that a workspace knows them."""
        for name in touched(steps):
            workspace.vector(name)
        return []

    def batched(self, runs: list[Callable[[], None]], workspace: Storage) -> list[Callable[[], None]]:
        return runs

    def settle(self) -> None:
        """Nothing is compiled."""
