"""This process as a rank of MPI: its communicator, its device, and what the notes of a run say of the ranks."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from workbench.run.choices.rank_rules import check_on_ranks, slab
from workbench.run.setup import this_rank

if TYPE_CHECKING:
    from mpi4py import MPI

    from workbench.devices.protocol import Device
    from workbench.extensions.mpi.device.watched import WaitLimit, WatchedCommunicator
    from workbench.run.choices.configuration import Configuration

_entered: list[tuple[WatchedCommunicator, WaitLimit]] = []


def enter(communicator: MPI.Intracomm | None, report: Callable[[str], object] | None = None) -> None:
    """Let the runs of this process be those of a rank of an mpi4py communicator; None: no more.

    report: what is done with the sentence of a rank that waits too long for the others, see `WaitLimit`. To be called
    by the thread that makes the runs.
    """
    for _, watch in _entered:
        watch.close()
    _entered.clear()
    this_rank.enter(None)
    if communicator is not None:
        from workbench.extensions.mpi.device.watched import WaitLimit, WatchedCommunicator

        watched = communicator if isinstance(communicator, WatchedCommunicator) else WatchedCommunicator(communicator)
        _entered.append((watched, WaitLimit(watched, report)))
        if watched.size > 1:
            this_rank.enter(EnteredRank(watched))


def world() -> WatchedCommunicator | None:
    """The communicator of the ranks; None where this process is no rank."""
    return _entered[0][0] if _entered else None


def library() -> str:
    """The MPI that mpi4py uses, such as MPICH 5.0.2."""
    from mpi4py import MPI

    name, version = MPI.get_vendor()
    return f"{name} {'.'.join(map(str, version))}"


def unconnected(started: int) -> str:
    """A sentence on processes of mpiexec that know nothing of one another."""
    return (
        f"mpiexec started {started} ranks, of which each is alone: mpi4py uses {library()}, and mpiexec is of another "
        "MPI; put that of the same one first in PATH, or set WORKBENCH_MPIEXEC to it, or MPI4PY_LIBMPI to its library"
    )


class EnteredRank:
    """This process as a rank of a communicator of several, as the setup of a run asks for it."""

    def __init__(self, communicator: WatchedCommunicator) -> None:
        self._communicator = communicator

    def device(self, configuration: Configuration, unknowns: int = 0) -> Device:
        """See `workbench.run.setup.this_rank.Rank`."""
        communicator = self._communicator
        check_on_ranks(configuration, communicator.size)
        mine = slab(configuration, communicator.rank, communicator.size, unknowns)
        if configuration.device == "cpu":
            from workbench.extensions.mpi.device.device import RankOnCores

            return RankOnCores(communicator, mine)
        from workbench.extensions.mpi.device import pair, split  # noqa: F401  they register the two sides of a rank
        from workbench.extensions.mpi.device.accelerated import accelerator_of_rank

        return accelerator_of_rank(configuration.device, communicator, mine)

    def notes(self) -> list[str]:
        """A sentence on the ranks: their number, MPI, hosts and threads."""
        from mpi4py import MPI

        from workbench.jit.threads import cores

        communicator = self._communicator
        places = communicator.allgather((MPI.Get_processor_name(), cores(), os.cpu_count() or 1))
        hosts = list(dict.fromkeys(host for host, _, _ in places))
        named = f"host {hosts[0]}" if len(hosts) == 1 else f"{len(hosts)} hosts ({hosts[0]} to {hosts[-1]})"
        threads = max(threads for _, threads, _ in places)
        note = f"{communicator.size} ranks of {library()} on {named}, {threads} thread{'s' * (threads > 1)} each"
        crowded = any(sum(host == at for host, _, _ in places) > most for at, _, most in places)
        return [note + ("; more ranks than cores wait for one another" if crowded else "")]
