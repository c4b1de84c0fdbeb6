"""Commands that mpiexec or srun has started on several ranks, as an extension runs them."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from workbench.errors import InputError
from workbench.registry.extensions import service

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from workbench.records import Trace
    from workbench.run import Run

T = TypeVar("T")
SIZES = ("PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS")
"""Environment variables for the number of ranks in a process that mpiexec or srun has started."""


class CommandRank(Protocol):
    """This process as one of the ranks that run a command together. All ranks call the same methods."""

    @property
    def is_first(self) -> bool:
        """True for rank 0, which alone writes files and uses the machine in the name of all."""
        ...

    def enter(self) -> None:
        """Let the runs of this process be those of the rank."""
        ...

    def agreed(self, value: T) -> T:
        """The value of rank 0."""
        ...

    def trace_of_all(self, run: Run) -> Callable[[], Trace | None]:
        """A function that returns the trace of a run at its end, on rank 0 that of all ranks. Called before a step."""
        ...

    def write(self, x: ArrayLike, path: Path) -> None:
        """Write a .npy file of a vector of which each rank has some rows. Raises InputError on every rank."""
        ...


class CommandsOnRanks(Protocol):
    """The service "mpiexec" of an extension."""

    def run(self, main: Callable[[], int]) -> int:
        """Run a command in this process; on several ranks as one command, whose messages rank 0 prints. The exit
        status."""
        ...

    def rank_of(self, options: argparse.Namespace) -> CommandRank | None:
        """This process as a rank of a command, None where it is the only one; sets `options.ranks`.

        Raises InputError for processes that know nothing of one another, for another number of ranks than was asked
        for, and for commands that do not run on ranks themselves.
        """
        ...


def started() -> int:
    """The number of processes that mpiexec or srun has started, as the environment has it; 1 without them."""
    sizes = [os.environ.get(name, "") for name in SIZES]
    return max([1, *(int(size) for size in sizes if size.isdecimal())])


def commands_on_ranks() -> CommandsOnRanks | None:
    """The service, None where this process is not one of several; without it for one process that has loaded MPI.

    Raises InputError for one of several processes without the service.
    """
    # Other launchers than those of `SIZES` are known by MPI alone.
    if (count := started()) == 1 and "mpi4py" not in sys.modules:
        return None
    try:
        return service("mpiexec")
    except InputError as error:
        if count == 1:
            return None
        raise InputError(f"this is one of {count} processes of one command: {error}, or leave out mpiexec") from None


def rank_of(options: argparse.Namespace) -> CommandRank | None:
    """This process as a rank of a command, None for one process. Raises InputError, see `CommandsOnRanks`."""
    commands = commands_on_ranks()
    return commands.rank_of(options) if commands else None
