"""Protocols between a workspace and its device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from workbench.devices.clock import Clock
from workbench.lines.schedule import Apply, Step
from workbench.lines.types import Shapes

if TYPE_CHECKING:
    from workbench.devices.operator_protocols import DeviceVector


class Storage(Protocol):
    """The vectors, scalars and operators of one solve by name, to which programs are bound; see `Workspace`."""

    device: ProgramDevice
    clock: Clock | None
    size: int
    dtype: np.dtype
    scalars: DeviceVector
    slots: dict[str, int]
    operators: dict[str, Any]

    def vector(self, name: str) -> DeviceVector:
        """The vector or block vector of that name."""
        ...

    def operator(self, step: Apply) -> Any:
        """The operator that a step applies."""
        ...

    def itemsize(self, name: str) -> int:
        """Bytes of an entry of a vector."""
        ...


class ProgramDevice(Protocol):
    """Memory for vectors and scalars, and programs compiled for them; also a device that only plans."""

    def zeros(self, size: int, dtype: np.dtype) -> DeviceVector:
        """A new vector of zeros, shape (size,)."""
        ...

    def zero_block(self, size: int, columns: int, dtype: np.dtype) -> DeviceVector:
        """An N x columns block vector of zeros, row-major."""
        ...

    def scalars(self, count: int, dtype: np.dtype) -> DeviceVector:
        """Room for the scalars and small matrices of a workspace, zero."""
        ...

    def to_host(self, vector: DeviceVector, /) -> np.ndarray:
        """The numbers of a vector, or the scalars, as a NumPy array; waits for the device."""
        ...

    def clear(self, array: DeviceVector) -> None:
        """Set a vector, or all scalars, to zero."""
        ...

    def write_scalar(self, scalars: DeviceVector, slot: int, value: complex) -> None:
        """Set one of the scalars."""
        ...

    def bind_steps(
        self, steps: Sequence[Step], workspace: Storage, shapes: Shapes, kernels: dict[Any, Any]
    ) -> list[Callable[[], None]]:
        """One call for each step of a program, on the arrays that the workspace holds now.

        kernels: those compiled before, by whatever key the device gives them; new ones are added.
        """
        ...

    def batched(self, runs: list[Callable[[], None]], workspace: Storage) -> list[Callable[[], None]]:
        """The calls, merged into fewer where the device can."""
        ...

    def settle(self) -> None:
        """Wait for kernels that are still being compiled."""
        ...
