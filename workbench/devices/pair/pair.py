"""An accelerator that holds the whole system, or all rows of a rank, and the cores."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping

import numpy as np

from workbench.devices.accelerator.device import Accelerator
from workbench.devices.clock import Clock, Recorder
from workbench.devices.cpu import Cpu
from workbench.devices.cpu.device import Watch
from workbench.devices.element_wise import ElementWise
from workbench.devices.host import memory
from workbench.devices.operator_protocols import DeviceVector
from workbench.devices.pair.sides import AcceleratorSide, CpuSide, Link, PairClock, Part, Sides
from workbench.devices.programs.workspace import Workspace
from workbench.lines.schedule import Inlined


class PairWorkspace(Workspace):
    """The accelerator's side of a run; `sides` adds the cores' side, `near`."""

    device: WithCores
    near: Workspace

    def sides(self, arrivals: Mapping[str, str], *, fused: bool, merged: bool) -> Sides:
        """Both sides and the link; arrivals: for each vector of the accelerator the one of the cores it is copied to.

        fused: passes of the accelerator hold as many lines as the plan allows, else one; merged: the same on the cores.
        """
        self.fuse = fused
        self.near = self.device.host_side(self, set(arrivals.values()), fuse=merged)
        cpu, accelerator = CpuSide(self.near), AcceleratorSide(self)
        places = {name: Part(self.near.vectors[there]) for name, there in arrivals.items()}
        return Sides(cpu, accelerator, Link(cpu, accelerator, places, {}))


class WithCores(Accelerator):
    """The device of schedules that keep A and x on the accelerator and use the cores for the rest.

    Memory on the host, page-locked: the vectors that a schedule names; on the accelerator nothing but the run itself.
    """

    Space = PairWorkspace
    check_every = 1
    """The scalars are in host memory: reading them costs nothing."""
    cores: Cpu
    """The other side: the cores of this process, which sum over all ranks where the accelerator is that of a rank."""

    def clock(self, recorder: Recorder) -> Clock:
        return PairClock(self.runtime, recorder)

    def watch(self, workspace: Workspace, every: int | None) -> Watch:
        """The scalars of the cores' side after every iteration."""
        assert isinstance(workspace, PairWorkspace)
        self.prepare(workspace.dtype)
        return Watch(workspace.near)

    def pinned_vector(self, size: int, dtype: np.dtype) -> np.ndarray:
        """A vector of the cores in page-locked memory."""
        return memory.vector(size, dtype, self.runtime.pinned)

    def host_side(self, space: Workspace, names: Iterable[str], *, fuse: bool) -> Workspace:
        """A workspace of the cores with vectors of these names in page-locked memory, and M if it is element-wise."""
        operators = {}
        M = space.operators["M"]
        if isinstance(M, Inlined):
            factors: Mapping[str, DeviceVector] = M.factors
            operators["M"] = ElementWise(M.formula, {name: self.to_host(factor) for name, factor in factors.items()})
        vectors = {name: self.pinned_vector(space.size, space.dtype) for name in names}
        return Workspace(
            self.cores, space.size, space.dtype, vectors=vectors, operators=operators, fuse=fuse, clock=space.clock
        )


class Pair(WithCores):
    """An accelerator and the cores of one process."""

    def __init__(self, accelerator: Accelerator) -> None:
        super().__init__(accelerator.runtime, accelerator.budget)
        self.cores = Cpu()


@functools.singledispatch
def pair_of(accelerator: Accelerator) -> WithCores:
    """The accelerator with the cores; the class of a rank's accelerator registers a pair of its own."""
    return Pair(accelerator)
