"""The traces of all ranks, brought to rank 0 as they grow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.extensions.mpi.ranks import clocks
from workbench.extensions.mpi.run.messages import Events
from workbench.records import Trace

if TYPE_CHECKING:
    from mpi4py import MPI


class RankEvents:
    """New events of the traces of all ranks, and how their clocks agree.

    To be made, and its methods called, by all ranks at once; only rank 0 gets what they return. world: a communicator
    of their own. trace: of this rank.
    """

    def __init__(self, world: MPI.Intracomm, trace: Trace) -> None:
        self._world, self._trace = world, trace
        self._kernels = self._rows = 0
        self._clocks = clocks.offsets(world)

    def new(self) -> list[Events]:
        """Events since the last call, by rank."""
        trace = self._trace
        waits = trace.waits(self._rows, trace.count)
        new = trace.kernels[self._kernels :], trace.rows[self._rows :].copy(), waits, trace.origin
        self._kernels, self._rows = len(trace.kernels), trace.count
        gathered = self._world.gather(new) or []
        return [
            Events(kernels, rows, waits, trace.origin + clock.ahead - origin)
            for (kernels, rows, waits, origin), clock in zip(gathered, self._clocks, strict=False)
        ]

    def error(self) -> float:
        """The largest error of times, in s, as the clocks are at the end."""
        return clocks.largest_error(self._clocks, clocks.offsets(self._world))
