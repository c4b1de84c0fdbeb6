"""The device of a rank with an accelerator; ghost planes and sums travel by a link in the order of the kernels."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench import devices
from workbench.devices import operator_protocols
from workbench.devices.accelerator.device import as_accelerator
from workbench.devices.accelerator.dots import OnePass
from workbench.devices.accelerator.launcher import Budget
from workbench.devices.accelerator.runtime import Runtime, Vector
from workbench.devices.accelerator.watch import Watch
from workbench.devices.clock import Clock, Recorder
from workbench.devices.coarse import Form
from workbench.devices.cuda import Cuda
from workbench.devices.discovery import cuda_devices
from workbench.devices.host.boxes import Boxes
from workbench.devices.host.slab import Slab
from workbench.devices.operator_protocols import CoarseLevel
from workbench.devices.programs.workspace import Workspace
from workbench.extensions.mpi.device import nccl
from workbench.extensions.mpi.device.accelerator_operators import (
    AcceleratorWithHalo,
    BoxesOfSlab,
    SummedPass,
    SummedRuns,
    Totals,
    restricted_product,
)
from workbench.extensions.mpi.device.accelerator_parts import PartsOnAccelerator
from workbench.extensions.mpi.device.device import RankOnCores
from workbench.extensions.mpi.device.device_clock import RankDeviceClock
from workbench.extensions.mpi.device.ghosts import DeviceHalo
from workbench.extensions.mpi.device.links import Link, PinnedMemory

if TYPE_CHECKING:
    from workbench.devices.operator_protocols import DeviceOperator, DeviceVector
    from workbench.extensions.mpi.device.watched import WatchedCommunicator


class RankOnAccelerator(PartsOnAccelerator):
    """The accelerator of a rank. communicator: of mpi4py; all ranks make theirs together."""

    def __init__(
        self, runtime: Runtime, communicator: WatchedCommunicator, slab: Slab, budget: Budget | None = None
    ) -> None:
        super().__init__(runtime, budget)
        self.join(communicator, slab)
        host = self.sums.processor
        self._places = communicator.allgather(f"{host} {getattr(runtime, 'bus', runtime.title)}")
        self.link = self._made_link()
        self.halo = DeviceHalo(self, slab, self.link)

    def _made_link(self) -> Link:
        """NCCL where every rank has it and a GPU of its own."""
        alone = len(set(self._places)) == self.ranks
        found = nccl.between(self.runtime, self.communicator) if alone and isinstance(self.runtime, Cuda) else None
        return found or PinnedMemory(self.runtime, self.communicator)

    def _with(self, budget: Budget, reduction: str) -> RankOnAccelerator:
        return RankOnAccelerator(self.runtime, self.communicator, self.slab, budget)

    @property
    def hardware(self) -> str:
        """Its name, and if ranks share it."""
        several = len(set(self._places))
        of = "one for each rank" if several == self.ranks else f"{several} shared by {self.ranks} ranks"
        return f"{super().note}, {of}"

    @property
    def note(self) -> str:
        return f"{self.hardware}; ghost planes and sums travel by {self.link.title}"

    def clock(self, recorder: Recorder) -> Clock:
        made = RankDeviceClock(self.runtime, recorder)
        made.attach(self.link)
        return made

    @functools.cached_property
    def on_host(self) -> RankOnCores:
        """The device of this rank for vectors in host memory."""
        return RankOnCores(self.communicator, self.slab)

    def vdot(self, a: Vector, b: Vector) -> complex:
        return self.total(super().vdot(a, b))

    def _norm_on_host(self, vector: Vector) -> float:
        return self.on_host.norm(self.to_host(vector))

    # Memory: vectors of the slab have room for ghost planes.

    def empty(self, shape: tuple[int, ...], dtype: np.dtype | type) -> Vector:
        dtype = np.dtype(dtype)
        if shape[0] != self.slab.size or dtype.kind not in "fc":
            return super().empty(shape, dtype)
        return self.halo.vector(tuple(shape), dtype)

    def without_ghosts(self, shape: tuple[int, ...], dtype: np.dtype) -> Vector:
        """An uninitialized vector of just this shape."""
        return super().empty(shape, dtype)

    def with_ghosts(self, values: np.ndarray, slab: Slab) -> np.ndarray:
        """A copy of host values of the rows with one ghost plane on each side, those of the neighbours."""
        return self.on_host.with_ghosts(values, slab)

    # Operators.

    restricted_product = restricted_product

    def with_halo(self, operator: DeviceOperator, reach: int, exchanged: int) -> AcceleratorWithHalo:
        """An operator on the slab with `reach` ghost planes on each side, of which `exchanged` have to be filled."""
        return AcceleratorWithHalo(self, operator, reach, exchanged)

    def subdomains(
        self, labels: DeviceVector, count: int, dtype: np.dtype, boxes: Boxes | None = None
    ) -> SummedRuns | BoxesOfSlab:
        """labels: in host memory, or on the device numbered from the first part of this rank."""
        made = BoxesOfSlab.of(self, labels, boxes, dtype) if boxes is not None else None
        if all(self.gathered(made is not None)) and made:
            return made
        return SummedRuns(self, labels, count, dtype)

    def coarse_level(
        self, form: Form | None, solve: Callable[[np.ndarray], np.ndarray], count: int, dtype: np.dtype
    ) -> CoarseLevel:
        """E^-1, which every rank applies as a whole: its dot products are not summed over the ranks."""
        return self.alone.coarse_level(form, solve, count, dtype)

    # Programs.

    def new_pass(self, *given: Any) -> OnePass:
        return SummedPass(self, *given)

    def over_ranks(self, partial: Vector) -> tuple[Vector, Callable[[], Totals]]:
        totals = Totals(self, partial.dtype, partial.shape[0])
        return totals.partial, lambda: totals.of(partial)

    def watch(self, workspace: Workspace, every: int | None) -> operator_protocols.Watch:
        self.prepare(workspace.dtype)
        return Watch(self, workspace, self.agreed(every or self._longest_interval(workspace)))


def accelerator_of_rank(name: str, communicator: WatchedCommunicator, slab: Slab) -> RankOnAccelerator:
    """The device of that name on a rank. `cuda` alone gives each process of a host the next of its GPUs.

    Where there are more ranks than GPUs, they share them. Raises InputError as `devices.device`.
    """
    if name == "cuda":
        from mpi4py import MPI

        local = communicator.Split_type(MPI.COMM_TYPE_SHARED)
        name = f"cuda:{local.rank % max(1, len(cuda_devices().devices))}"
    return RankOnAccelerator(as_accelerator(devices.device(name)).runtime, communicator, slab)
