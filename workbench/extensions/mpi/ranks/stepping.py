"""Runs whose ranks mpiexec has started: all of them step alike, and end together where they are to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from workbench.records import Trace
from workbench.run.loop.driver import Run

if TYPE_CHECKING:
    from mpi4py import MPI


ASK_SECONDS = 0.25
"""Seconds between two questions to rank 0 whether the run is to end."""


def stepping(run: Run, world: MPI.Intracomm | None, is_stopped: Callable[[], bool]) -> Iterator[None]:
    """Step a run to its end; a few times a second rank 0 asks `is_stopped`, and all ranks cancel the run.

    world: None for a run of this process alone.
    """
    left = 1
    while run.step():
        yield
        left -= 1
        if left:
            continue
        # As many iterations as rank 0 expects until it asks next, for all ranks.
        made = max(1, run.iterations)
        expected = int(ASK_SECONDS * made / max(run.iteration_seconds, 1e-9))
        answer = max(1, min(2 * made, expected)), is_stopped()
        left, ends = answer if world is None else world.bcast(answer)
        if ends:
            run.cancel()
            return


def trace_of_all(run: Run, world: MPI.Intracomm | None) -> Callable[[], Trace | None]:
    """A function that returns the trace of a run at its end: its own, or on rank 0 that of all ranks."""
    if world is None or run.trace is None:
        return lambda: run.trace
    # Runs of one process have neither.
    from workbench.extensions.mpi.ranks.events import RankEvents
    from workbench.extensions.mpi.run.iterations import trace_of_ranks
    from workbench.extensions.mpi.run.lanes import RankLanes

    events, merged = RankEvents(world, run.trace), trace_of_ranks()

    def gathered() -> Trace:
        lanes = RankLanes(merged)
        lanes.take(events.new())
        lanes.end(events.error())
        return merged

    return gathered
