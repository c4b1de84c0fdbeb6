"""The device protocol on an accelerator, in kernels that OpenCL and CUDA share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench.devices import operator_protocols
from workbench.devices.accelerator import programs
from workbench.devices.accelerator.budget import Budget
from workbench.devices.accelerator.clock import DeviceClock
from workbench.devices.accelerator.operators import Operators
from workbench.devices.accelerator.watch import Watch
from workbench.devices.base import DeviceBase
from workbench.devices.clock import Clock, Recorder
from workbench.devices.kernels.prelude import STOP
from workbench.devices.lines.workspace import Workspace
from workbench.devices.protocol import Device
from workbench.errors import InputError

SHARE_OF_ROWS = 8
"""The scalars of iterations take at most 1/8 of the free memory."""
CHECK_EVERY = 16
"""Iterations between the first two reads of the scalars by the host, and the fewest between any two."""
LONGEST_BATCH = 1024
"""Most iterations between two reads: their scalars take half a megabyte."""


class Accelerator(Operators, DeviceBase):
    """The device protocol on a runtime. Vectors are `Vector`s; dot products stay on the device as `Dots`."""

    check_every = CHECK_EVERY

    @property
    def longest_batch(self) -> int:
        """Most iterations between two reads, fewer where a run's memory is limited and little of it is left."""
        if self.budget.limit is None:
            return LONGEST_BATCH
        return max(CHECK_EVERY, min(LONGEST_BATCH, self.budget.room // (SHARE_OF_ROWS * STOP * 16)))

    def limited(self, limit: int | None) -> Accelerator:
        """The same device for a run that may use so many bytes of its memory."""
        return self if limit is None else Accelerator(self.runtime, Budget(limit, self.runtime.memory, self.name))

    def need_room(self, nbytes: int, way_out: str = "") -> None:
        """Raise InputError where there is no room for so many bytes more; way_out ends the sentence."""
        self.budget.need(nbytes, way_out)

    @property
    def note(self) -> str:
        """Which device this is, for the notes of a run."""
        return f"device {self.name} is {self.runtime.title}"

    def clock(self, recorder: Recorder) -> Clock:
        """A clock that records the steps of a traced run."""
        return DeviceClock(self.runtime, recorder)

    def watch(self, workspace: Workspace, every: int) -> operator_protocols.Watch:
        """Keeps the scalars of up to `every` iterations on the device, and stops at the one that the host waits for."""
        self.prepare(workspace.dtype)
        return Watch(self, workspace, every)

    def synchronize(self) -> None:
        """Wait for all work."""
        self.runtime.synchronize()

    def bind_steps(self, steps: Any, workspace: Any, shapes: Any, kernels: dict[Any, Any]) -> list[Callable[[], None]]:
        """What to launch for each step of a program."""
        return programs.bind_steps(self, steps, workspace, shapes, kernels)

    def together(self, runs: list[Callable[[], None]], workspace: Any) -> list[Callable[[], None]]:
        """The launches of a program as one call, where the runtime can record them and nothing waits for the host."""
        waits = any(getattr(operator, "waits", False) for operator in workspace.operators.values())
        return runs if waits else [programs.Repeated(self.runtime, runs)]


def as_accelerator(device: Device) -> Accelerator:
    """The device as an accelerator. Raises InputError for a device that is none."""
    if not isinstance(device, Accelerator):
        raise InputError(f"an accelerator is needed, got device {device.name}; use device opencl or cuda")
    return device
