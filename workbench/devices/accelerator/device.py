"""The device protocol on an accelerator, in kernels that OpenCL and CUDA share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from workbench.devices import operator_protocols
from workbench.devices.accelerator import programs
from workbench.devices.accelerator.budget import Budget
from workbench.devices.accelerator.clock import DeviceClock
from workbench.devices.accelerator.operators import Operators
from workbench.devices.accelerator.watch import BlockWatch, Watch
from workbench.devices.base import DeviceBase
from workbench.devices.clock import Clock, Recorder
from workbench.devices.kernels import small
from workbench.devices.programs.block_workspace import BlockWorkspace
from workbench.devices.programs.program_device import Storage
from workbench.devices.programs.workspace import Workspace
from workbench.devices.protocol import Device
from workbench.errors import InputError
from workbench.lines.schedule import Step
from workbench.lines.types import Shapes
from workbench.settings import ON_DEVICE

if TYPE_CHECKING:
    from workbench.devices.accelerator.runtime import Function

SHARE_OF_ROWS = 8
"""The rows of the watch take at most 1/8 of the free memory."""
CHECK_EVERY = 16
"""Iterations between the first two reads of the scalars by the host, and the fewest between any two."""
LONGEST_INTERVAL = 1024
"""Most iterations between two reads."""


class Accelerator(Operators, DeviceBase):
    """The device protocol on a runtime. Vectors are `Vector`s; dot products stay on the device as `Dots`."""

    check_every = CHECK_EVERY

    def limited(self, limit: int | None) -> Accelerator:
        """This device with a memory limit in bytes; None changes nothing."""
        return self if limit is None else self._with(Budget(limit, self.runtime.memory, self.name), ON_DEVICE)

    def reducing(self, where: str) -> Accelerator:
        """This device and memory limit, with partial sums added `where`: a value of the setting `reduction`."""
        return self if where == self.reduction else self._with(self.budget, where)

    def _with(self, budget: Budget, reduction: str) -> Accelerator:
        return Accelerator(self.runtime, budget, reduction)

    def need_room(self, nbytes: int, way_out: str = "") -> None:
        """Raise InputError if `nbytes` more do not fit; way_out ends the sentence."""
        self.budget.need(nbytes, way_out)

    def available_memory(self, stored: int) -> int:
        """Bytes that the budget still allows."""
        return max(0, self.budget.room - (0 if self.budget.limit else stored))

    @property
    def note(self) -> str:
        """Name of the hardware, for the notes of a run."""
        return f"device {self.name} is {self.runtime.title}"

    def clock(self, recorder: Recorder) -> Clock:
        """A clock that records the steps of a traced run."""
        return DeviceClock(self.runtime, recorder)

    def watch(self, workspace: Workspace, every: int | None) -> operator_protocols.Watch:
        """A watch that stores the scalars of up to `every` iterations and stops at the first that meets a criterion.

        None: as many as are worth it, fewer where the memory limit of a run leaves little room.
        """
        self.prepare(workspace.dtype)
        return Watch(self, workspace, every or self._longest_interval(workspace))

    def block_watch(self, space: BlockWorkspace) -> BlockWatch | None:
        # What is repeated refers to the workspace, whose memory is freed with the last reference.
        repeats, space.repeats = space.repeats, None
        if space.held is None or repeats is None or space.clock:
            return None
        applied = [space.operator(name) for name in space.operators if not space.inlines(name)]
        if any(operator.waits for operator in (*space.operators.values(), *applied)):
            return None
        needed = small.local_bytes(repeats.steps, space.columns, self.wide(space.dtype).itemsize)
        return BlockWatch(self, space, repeats) if needed <= programs.LOCAL_MEMORY else None

    def _longest_interval(self, workspace: Workspace) -> int:
        if self.budget.limit is None:
            return LONGEST_INTERVAL
        row = workspace.scalars_end * workspace.scalars.itemsize
        return max(CHECK_EVERY, min(LONGEST_INTERVAL, self.budget.room // (SHARE_OF_ROWS * row)))

    def synchronize(self) -> None:
        """Wait for all work."""
        self.runtime.synchronize()

    def bind_steps(
        self, steps: Sequence[Step], workspace: Storage, shapes: Shapes, kernels: dict[tuple[str, int] | int, Function]
    ) -> list[Callable[[], None]]:
        """The launches of each step of a program."""
        return programs.bind_steps(self, steps, workspace, shapes, kernels)

    def batched(self, runs: list[Callable[[], None]], workspace: Storage) -> list[Callable[[], None]]:
        """The launches of a program as one call, where the runtime can record them and nothing waits for the host."""
        return runs if programs.waits(self, workspace) else [programs.Repeated(self.runtime, runs)]


def as_accelerator(device: Device) -> Accelerator:
    """The device as an accelerator. Raises InputError for a device that is none."""
    if not isinstance(device, Accelerator):
        raise InputError(f"an accelerator is needed, got device {device.name}; use device opencl or cuda")
    return device
