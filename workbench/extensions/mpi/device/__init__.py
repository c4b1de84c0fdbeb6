"""Ranks: the same run on every process of MPI, each on its own rows of the system.

Every rank makes the run as a whole, with the same lines, kernels and solvers. Its vectors have its rows alone. A
product exchanges ghost planes with the neighbours first, and dot products are summed over the ranks, so that every rank
has the same scalars and takes the same decisions.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from workbench.errors import RANKS_WAIT

if TYPE_CHECKING:
    from mpi4py import MPI

    from workbench.extensions.mpi.device.watched import Watch, Watched

__all__ = ["alone", "described", "enter", "library", "world"]

WAITED = f"run without ranks, or raise {RANKS_WAIT} where a rank is only slow"
"""Advice for ranks of which one has waited too long for the others."""
_entered: list[tuple[Watched, Watch]] = []


def enter(communicator: MPI.Intracomm | None, report: Callable[[str], object] | None = None) -> None:
    """Let the runs of this process be those of a rank of an mpi4py communicator; None: no more.

    report: what is done with the sentence of a rank that waits too long for the others, see `Watch`; to be called by
    the thread that makes the runs.
    """
    for _, watch in _entered:
        watch.close()
    _entered.clear()
    if communicator is not None:
        from workbench.extensions.mpi.device.watched import Watch, Watched

        watched = communicator if isinstance(communicator, Watched) else Watched(communicator)
        _entered.append((watched, Watch(watched, report)))


def world() -> Watched | None:
    """The communicator of the ranks, `Watched`; None where this process is no rank."""
    return _entered[0][0] if _entered else None


def library() -> str:
    """The MPI that mpi4py uses, such as MPICH 5.0.2."""
    from mpi4py import MPI

    name, version = MPI.get_vendor()
    return f"{name} {'.'.join(map(str, version))}"


def alone(started: int) -> str:
    """A sentence on processes of mpiexec that know nothing of one another."""
    return (
        f"mpiexec started {started} ranks, of which each is alone: mpi4py uses {library()}, and mpiexec is of another "
        "MPI; put that of the same one first in PATH, or set WORKBENCH_MPIEXEC to it, or MPI4PY_LIBMPI to its library"
    )


def described() -> list[str]:
    """A sentence on the ranks, for the provenance; none where this process is no rank. To be called by all ranks."""
    from workbench.jit.threads import cores

    communicator = world()
    if communicator is None or communicator.size == 1:
        return []
    from mpi4py import MPI

    places = communicator.allgather((MPI.Get_processor_name(), cores(), os.cpu_count() or 1))
    hosts = list(dict.fromkeys(host for host, _, _ in places))
    named = f"host {hosts[0]}" if len(hosts) == 1 else f"{len(hosts)} hosts ({hosts[0]} to {hosts[-1]})"
    threads = max(threads for _, threads, _ in places)
    note = f"{communicator.size} ranks of {library()} on {named}, {threads} thread{'s' * (threads > 1)} each"
    crowded = any(sum(host == at for host, _, _ in places) > most for at, _, most in places)
    return [note + ("; more ranks than cores wait for one another" if crowded else "")]
