"""A command that mpiexec or srun has started on several ranks: they run it together, and rank 0 prints."""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from workbench.cli.common import WRONG_INPUT
from workbench.cli.mpiexec import CommandsOnRanks, started
from workbench.errors import InputError
from workbench.extensions.mpi.ranks.world import communicator, share_cores

if TYPE_CHECKING:
    from mpi4py import MPI
    from numpy.typing import ArrayLike

    from workbench.records import Trace
    from workbench.run import Run

T = TypeVar("T")


class MpiCommands:
    """Commands on the ranks of MPI.COMM_WORLD, see `workbench.cli.mpiexec.CommandsOnRanks`."""

    def run(self, main: Callable[[], int]) -> int:
        """The exit status of rank 0, and 0 on the others."""
        world = communicator()
        if world is None or world.size == 1:
            return main()
        # Before the command imports what starts threads.
        share_cores(world)
        return run_on_all_ranks(world, main)

    def rank_of(self, options: argparse.Namespace) -> MpiCommandRank | None:
        """This process as a rank of a command."""
        world = communicator()
        if (world is None or world.size == 1) and (count := started()) > 1:
            raise InputError(
                f"this is one of {count} processes that know nothing of one another; start them as "
                f"mpiexec -n {count} {os.path.basename(sys.executable)} -m mpi4py -m workbench solve ..., with the "
                "mpiexec of the MPI that mpi4py uses"
            )
        if world is None or world.size == 1:
            return None
        if options.verb != "solve":
            raise InputError(
                f"mpiexec started {world.size} ranks, and `workbench {options.verb}` runs in one process; leave out "
                "mpiexec, and give --ranks to what it runs"
            )
        if options.ranks not in (None, world.size):
            raise InputError(
                f"--ranks {options.ranks} contradicts mpiexec, which started {world.size} ranks; leave out --ranks"
            )
        options.ranks = world.size
        return MpiCommandRank(world)


COMMANDS: CommandsOnRanks = MpiCommands()


class MpiCommandRank:
    """A rank of a communicator of mpi4py, see `workbench.cli.mpiexec.CommandRank`."""

    def __init__(self, communicator: MPI.Intracomm) -> None:
        self._communicator = communicator

    @property
    def is_first(self) -> bool:
        """True for rank 0."""
        return self._communicator.rank == 0

    def enter(self) -> None:
        """Let the runs of this process be those of the rank."""
        # Modules of runs are imported by runs only.
        from workbench.extensions.mpi.this_rank import enter

        enter(self._communicator)

    def agreed(self, value: T) -> T:
        """The value of rank 0."""
        return self._communicator.bcast(value)

    def trace_of_all(self, run: Run) -> Callable[[], Trace | None]:
        """The trace of all ranks on rank 0, None where the run has none."""
        if run.trace is None:
            return lambda: None
        from workbench.extensions.mpi.ranks.events import RankEvents
        from workbench.extensions.mpi.run.iterations import trace_of_ranks
        from workbench.extensions.mpi.run.lanes import RankLanes

        events, merged = RankEvents(self._communicator, run.trace), trace_of_ranks()

        def gathered() -> Trace:
            lanes = RankLanes(merged)
            lanes.take(events.new())
            lanes.end(events.error())
            return merged

        return gathered

    def write(self, x: ArrayLike, path: Path) -> None:
        """Write a .npy file, every rank its rows."""
        import numpy as np

        from workbench.extensions.mpi.ranks import rows

        rows.write(self._communicator, path, np.asarray(x))


def run_on_all_ranks(world: MPI.Intracomm, main: Callable[[], int]) -> int:
    """Run a command on all ranks of a communicator; the exit status of rank 0.

    The message of a rank that fails alone is printed with its number, and ends all of them.
    """
    from workbench.extensions.mpi.ranks.together import met

    own, errors = world.Dup(), io.StringIO()
    with contextlib.ExitStack() as muted:
        if own.rank:
            muted.enter_context(contextlib.redirect_stdout(muted.enter_context(open(os.devnull, "w"))))
            muted.enter_context(contextlib.redirect_stderr(errors))
        status = main()
    if status != WRONG_INPUT:
        own.Barrier()
    elif not met(own):
        print(f"rank {own.rank}: {errors.getvalue().strip()}", file=sys.stderr, flush=True)
        own.Abort(status)
    # mpi4py aborts where a process ends with another status than 0 while MPI runs, and mpiexec says so at length.
    from mpi4py import MPI

    rank = own.rank
    MPI.Finalize()
    return 0 if rank else status
