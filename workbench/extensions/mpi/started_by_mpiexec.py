"""A command that mpiexec or srun has started on several ranks: they run it together, and rank 0 prints."""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from workbench.cli.common import WRONG_INPUT
from workbench.errors import InputError
from workbench.extensions.mpi.ranks.world import communicator, started

if TYPE_CHECKING:
    from mpi4py import MPI


def as_one(world: MPI.Intracomm, main: Callable[[], int]) -> int:
    """Run a command on all ranks of a communicator; the exit status of rank 0.

    The message of a rank that fails alone is printed with its number, and ends all of them.
    """
    # Its modules are loaded by runs only.
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


def ranks_of(options: argparse.Namespace) -> MPI.Intracomm | None:
    """The communicator of the ranks that run this command, None for one process.

    Raises InputError for processes that know nothing of one another, for another number of ranks than was asked for,
    and for commands that do not run on ranks themselves.
    """
    world = communicator()
    if (world is None or world.size == 1) and (count := started()) > 1:
        raise InputError(
            f"this is one of {count} processes that know nothing of one another; start them as "
            f"mpiexec -n {count} {os.path.basename(sys.executable)} -m mpi4py -m workbench solve ..., with the mpiexec "
            "of the MPI that mpi4py uses"
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
    return world
