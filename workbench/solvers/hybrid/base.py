"""Base class of the hybrid schedules."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from workbench.devices.accelerator.device import as_accelerator
from workbench.devices.pair import pair_of
from workbench.devices.protocol import Device
from workbench.errors import InputError
from workbench.operators import Operator, Size, stored_bytes
from workbench.registry import parameter
from workbench.solvers.base import MethodTraits, Solver


@dataclasses.dataclass(frozen=True)
class HybridSolver(Solver):
    """Base of the schedules of pipelined CG on an accelerator and the CPU cores.

    fused, merged: False switches off the kernel fusion of the papers' section V-B, on the accelerator or on the cores;
    every vector update and dot product is then a pass of its own. On ranks each has both sides, with the rows of its
    slab.
    """

    uniform_iterations: ClassVar[bool] = False
    same_work: ClassVar[bool] = False
    curvature_is_recomputed: ClassVar[bool] = False
    needs_accelerator: ClassVar[bool] = True
    in_family: ClassVar[bool] = False
    vectors: ClassVar[int] = 0
    """Vectors of length N on the accelerator, including residual and best x; those of M are checked when allocated."""
    both_precondition: ClassVar[bool] = False
    """Set where M is applied on both sides, which requires an element-wise M."""
    deflates: ClassVar[bool] = True
    """Set where a side sees whole vectors, as a projection needs them."""

    fused: bool = parameter(True, "fuse the kernels of the accelerator")
    merged: bool = parameter(True, "merge the vector loops of the cores")

    @property
    def product_label(self) -> str:
        return "A m"

    @property
    def spec(self) -> str:
        """The name and the parameters that differ from their defaults."""
        changed = [f"{name}={value}" for name, value in self.differing.items()]
        return f"{self.name}:{','.join(changed)}" if changed else self.name

    def check(self, device: Device, traits: MethodTraits) -> None:
        if device.name == "cpu":
            raise InputError(
                f"solver {self.name} shares work between cores and accelerator, and device cpu is the cores alone; use "
                "device opencl or cuda, or solver pipecg",
                changes={"solver": "pipecg"},
            )
        self.check_levels(traits)

    def check_levels(self, traits: MethodTraits) -> None:
        """Raise InputError for a preconditioner or a deflation that the schedule cannot have, on any device."""
        if traits.deflated and not self.deflates:
            raise InputError(
                f"solver {self.name} cannot deflate, since no side sees a whole vector; use deflation none, or hybrid1",
                changes={"deflation": "none"},
            )
        if self.both_precondition and not traits.element_wise:
            raise InputError(
                f"solver {self.name} applies M on both sides, so it needs one that acts element by element; use "
                f"preconditioner jacobi or none{', with variant def1' * traits.wrapped}, or solver hybrid1",
                changes={"preconditioner": "jacobi"} | ({"variant": "def1"} if traits.wrapped else {}),
            )

    def device_for(self, device: Device, operator: Operator) -> Device:
        """The pair of accelerator and cores, those of this rank on ranks.

        Raises InputError if the system does not fit into device memory.
        """
        self.check_memory(device, operator)
        return pair_of(as_accelerator(device))

    def check_memory(self, device: Device, operator: Operator | Size) -> None:
        needed = stored_bytes(operator) + self.vectors * operator.shape[0] * operator.dtype.itemsize
        device.need_room(
            needed,
            f"use solver hybrid3, which keeps a part of the system on the cores as {self.name} cannot, or device cpu",
        )
