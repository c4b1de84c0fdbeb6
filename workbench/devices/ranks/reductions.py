"""What the devices of ranks share, whatever computes on a rank: sums of numbers in host memory, by MPI."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.devices.ranks.sums import Sums
from workbench.host.slab import Slab


class OnRanks:
    """A base of devices, in front of the one that computes on the rows of a rank.

    Vectors have the rows of its slab; scalars and coarse vectors are the same on all ranks.
    """

    communicator: Any
    """Of mpi4py."""
    slab: Slab
    sums: Sums

    def join(self, communicator: Any, slab: Slab) -> None:
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

    def agreed(self, value: Any) -> Any:
        return self.communicator.bcast(value)

    def gathered(self, value: Any) -> list[Any]:
        return self.communicator.allgather(value)
