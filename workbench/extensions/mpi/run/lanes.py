"""The ranks of a traced run as lanes of its trace, on the clock of rank 0.

A rank has one lane, or one for each of its sides and copies where it uses cores and accelerator together.
"""

from __future__ import annotations

from collections.abc import Sequence

from workbench.devices.clock import is_of_rank, rank_lane
from workbench.extensions.mpi.run.messages import Events
from workbench.records import Trace


class RankLanes:
    """Adds the events of ranks to a trace."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._numbers: dict[int, list[int]] = {}
        """Numbers of the kernels of each rank in the trace."""
        self._places: dict[int, list[int]] = {}
        """Places of the events of each rank in the trace."""

    def take(self, events: Sequence[Events]) -> None:
        """Add new events, by rank."""
        for rank, of_rank in enumerate(events):
            numbers = self._numbers.setdefault(rank, [])
            lane = rank_lane(rank)
            numbers += [
                # The clock of such a rank has named its lanes already.
                self._trace.kernel(one.name, one.lane if is_of_rank(one.lane) else lane, one.bytes, one.flops)
                for one in of_rank.kernels
            ]
            places, causes = self._places.setdefault(rank, []), dict[int, list[int]]()
            for event, cause in of_rank.waits.tolist():
                causes.setdefault(event, []).append(cause)
            for start, end, kernel, iteration in of_rank.rows.tolist():
                after = tuple(places[cause] for cause in causes.get(len(places), ()))
                times = start - of_rank.ahead, end - of_rank.ahead
                places.append(self._trace.add(numbers[kernel], *times, iteration, after))

    def end(self, error: float) -> None:
        """Say how well the clocks agree. error: in s."""
        self._trace.notes.append(
            f"times of ranks are on the clock of rank 0 to within {1e3 * error:.2g} ms, from messages back and forth "
            "at the start and at the end"
        )
