"""A rank's accelerator and its cores as the two sides of a hybrid schedule.

The accelerator has the rows of the rank, exchanges ghosts before its products, and has no dot products of a schedule.
The cores have the dot products: a sum over the ranks begins when a pass ends, and is waited for where a line reads it.
"""

from __future__ import annotations

from workbench.devices.clock import ACCELERATOR, Clock, Recorder
from workbench.devices.pair import WithCores, pair_of
from workbench.extensions.mpi.device.accelerated import RankOnAccelerator
from workbench.extensions.mpi.device.clock import HALO, SUM
from workbench.extensions.mpi.device.device import RankOnCores
from workbench.extensions.mpi.device.pair_clock import RankPairClock


class RankPair(WithCores, RankOnAccelerator):
    """The accelerator and the cores of a rank; all ranks make theirs together."""

    def __init__(self, rank: RankOnAccelerator) -> None:
        RankOnAccelerator.__init__(self, rank.runtime, rank.communicator, rank.slab, rank.budget)
        cores = RankOnCores(rank.communicator, rank.slab)
        self.cores, self._sums_of_cores = cores, cores.sums

    def clock(self, recorder: Recorder) -> Clock:
        made = RankPairClock(self.runtime, recorder, self.rank)
        link, sums = self.link, self._sums_of_cores
        made.attach(HALO, link.exchange, behind=ACCELERATOR)
        made.attach(SUM, link.total, behind=ACCELERATOR)
        made.attach(SUM, sums.total, sums.wait)
        return made


@pair_of.register
def pair_of_rank(accelerator: RankOnAccelerator) -> RankPair:
    """The pair of a rank; see `pair_of`. All ranks call this together."""
    return RankPair(accelerator)
