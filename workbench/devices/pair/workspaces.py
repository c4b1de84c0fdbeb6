"""Workspaces of heterogeneous runs: the vectors of a solve, and `sides`, which sets up both sides and the link."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from workbench.devices.accelerator.device import Accelerator
from workbench.devices.lines.workspace import Workspace
from workbench.devices.pair.sides import AcceleratorSide, CpuSide, Link, Part, Sides

if TYPE_CHECKING:
    from workbench.devices.pair.pair import Pair
    from workbench.devices.pair.split import Split


class PairWorkspace(Workspace):
    """The accelerator's side of a run; `sides` adds the cores' side, `near`."""

    device: Pair
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


class SplitWorkspace(Workspace):
    """A workspace of the whole system on the cores, until `sides` distributes it: `near` is then the cores' half, `far`
    the accelerator's."""

    device: Split
    near: Workspace
    far: Workspace

    def gathered(self, name: str) -> np.ndarray | None:
        """Both halves of a vector in a new array, None where a half does not have it."""
        halves = self.near.vectors, self.far.vectors
        if not all(name in half for half in halves):
            return None
        assert isinstance(self.far.device, Accelerator)
        return np.concatenate([halves[0][name], self.far.device.to_host(halves[1][name])])

    def sides(self, *, fused: bool, merged: bool, halves: bool) -> Sides:
        """Both halves and the link.

        fused: passes of the accelerator hold as many lines as the plan allows, else one; merged: the same on the cores.
        halves: copy each side's whole half of m, else only the ghosts that the other side's rows read.
        """
        sides = self.device.distribute(self, fused=fused, merged=merged, halves=halves)
        self.near, self.far = sides.cpu.space, sides.accelerator.space
        return sides
