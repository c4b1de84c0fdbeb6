"""What the hybrid schedules have in common."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from workbench.devices.accelerator import as_accelerator
from workbench.devices.pair import Pair
from workbench.devices.protocol import Device
from workbench.errors import InputError
from workbench.operators import Operator, Size, stored_bytes
from workbench.registry import parameter
from workbench.solvers.base import MethodTraits, Solver


@dataclasses.dataclass(frozen=True)
class HybridSolver(Solver):
    """Base of the schedules of pipelined CG on an accelerator and the cores.

    fused and merged switch off what the papers' section V-B brings: then every vector line and dot product is a sweep
    of its own, on the accelerator or on the cores.
    """

    alike: ClassVar[bool] = False
    measures_energies: ClassVar[bool] = False
    needs_accelerator: ClassVar[bool] = True
    vectors: ClassVar[int] = 0
    """Vectors of all unknowns on the accelerator, residual and best x included; M's are counted when made."""
    both_precondition: ClassVar[bool] = False
    """M is applied on both sides, so it must act element by element."""

    fused: bool = parameter(True, "fuse the kernels of the accelerator")
    merged: bool = parameter(True, "merge the vector loops of the cores")

    @property
    def spec(self) -> str:
        """The name, with the parameters that differ from their defaults."""
        changed = [
            f"{declared.name}={getattr(self, declared.name)}"
            for declared in self.parameters()
            if getattr(self, declared.name) != declared.default
        ]
        return f"{self.name}:{','.join(changed)}" if changed else self.name

    def check(self, device: Device, suits: MethodTraits) -> None:
        if device.name == "cpu":
            raise InputError(
                f"solver {self.name} shares work between cores and accelerator, and device cpu is the cores alone; use "
                "device opencl or cuda, or solver pipecg"
            )
        if self.both_precondition and not suits.element_wise:
            raise InputError(
                f"solver {self.name} applies M on both sides, so it needs one that acts element by element; use "
                "preconditioner jacobi or none, or solver hybrid1"
            )

    def placed(self, device: Device, operator: Operator) -> Device:
        """The accelerator with the cores beside it. Raises InputError where the system does not fit it."""
        self.check_room(device, operator)
        return Pair(as_accelerator(device))

    def check_room(self, device: Device, operator: Operator | Size) -> None:
        needed = stored_bytes(operator) + self.vectors * operator.shape[0] * operator.dtype.itemsize
        device.need_room(
            needed,
            f"use solver hybrid3, which keeps a part of the system on the cores as {self.name} cannot, or device cpu",
        )
