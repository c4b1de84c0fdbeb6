"""The base of the devices of ranks, whatever computes on a rank: sums of numbers in host memory, by MPI."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.devices.host.boxes import Boxes
from workbench.devices.host.slab import Slab, of_all_slabs
from workbench.extensions.mpi.device.sums import Sums

if TYPE_CHECKING:
    from workbench.devices.collectives import T
    from workbench.devices.operator_protocols import DeviceVector
    from workbench.extensions.mpi.device.watched import Watched


class OnRanks:
    """A base of devices, in front of the one that computes on the rows of a rank.

    Vectors have the rows of its slab; scalars and coarse vectors are the same on all ranks.
    """

    communicator: Watched
    """A communicator of mpi4py."""
    slab: Slab
    sums: Sums

    def join(self, communicator: Watched, slab: Slab) -> None:
        """Make this the device of a rank."""
        from mpi4py import MPI

        self.communicator, self.slab, self.sums = communicator, slab, Sums(communicator)
        self.rank, self.ranks = communicator.rank, communicator.size
        here = communicator.Split_type(MPI.COMM_TYPE_SHARED)
        self.share = here.size / communicator.size
        here.Free()

    def total(self, value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return self.sums.total(np.array(value))
        return self.sums.total(np.array([value]))[0].item()

    def largest(self, value: float) -> float:
        return self.sums.largest(value)

    def agreed(self, value: T) -> T:
        return self.communicator.bcast(value)

    def gathered(self, value: T) -> list[T]:
        return self.communicator.allgather(value)

    def joined(self, values: np.ndarray) -> np.ndarray:
        """The arrays of all ranks in host memory, one after the other."""
        sizes = self.gathered(values.size)
        made = np.empty(sum(sizes), values.dtype)
        self.communicator.Allgatherv(np.ascontiguousarray(values), [made, sizes])
        return made

    # Parts of boxes that lie in one slab each: their labels, and the rows of E that each rank makes.

    def joined_boxes(self, own: Boxes, grid: tuple[int, ...], per_side: tuple[int, ...]) -> tuple[Boxes, int]:
        """The boxes of all ranks, and the first of the parts of this one; own: those of this rank."""
        of_ranks = self.gathered(own)
        return of_all_slabs(of_ranks, grid, per_side), sum(other.count for other in of_ranks[: self.rank])

    def near_labels(self, labels: DeviceVector, first: int) -> DeviceVector:
        """Labels of the slab with one ghost plane on each side, all numbered from `first`, the first part of this rank
        among those of all. labels: of the rows."""
        below, above = self.ghost_labels(labels[: self.slab.plane], labels[-self.slab.plane :], first)
        return np.concatenate([below, labels, above])

    def ghost_labels(self, low: np.ndarray, high: np.ndarray, first: int) -> tuple[np.ndarray, np.ndarray]:
        """Labels of the ghost planes, from those of the lowest and of the highest plane; empty where the grid ends."""
        below = self.rank - 1 if self.slab.first else None
        above = self.rank + 1 if self.slab.last < self.slab.grid[0] else None
        ends = ((low, below), (high, above))
        requests = [self.communicator.isend(labels + np.int32(first), to) for labels, to in ends if to is not None]
        nothing = np.empty(0, np.int32)
        found = [nothing if of is None else self.communicator.recv(source=of) for of in (below, above)]
        self.communicator.wait_all(requests)
        return found[0] - np.int32(first), found[1] - np.int32(first)

    def joined_rows(
        self, data: DeviceVector, indices: DeviceVector, indptr: DeviceVector
    ) -> tuple[DeviceVector, DeviceVector, DeviceVector]:
        """The CSR arrays of the rows of all ranks, one rank after the other, given those of this one."""
        return self.joined(data), self.joined(indices), self.joined_ends(indptr)

    def joined_ends(self, indptr: np.ndarray) -> np.ndarray:
        """The last of these, in host memory."""
        return np.append(0, np.cumsum(self.joined(np.diff(indptr))))
