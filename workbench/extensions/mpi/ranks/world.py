"""The ranks of MPI as they start: their communicator, and the cores of each."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mpi4py import MPI


THREADS = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""Environment variables for the number of threads; what the user has set stays. The first one sets those of kernels
too, unless WORKBENCH_THREADS does."""


def communicator() -> MPI.Intracomm | None:
    """MPI.COMM_WORLD where this process was started by `python -m mpi4py`, else None, as where MPI is imported only: a
    question to it would end the process."""
    if "mpi4py" not in sys.modules:
        return None
    from mpi4py import MPI

    return MPI.COMM_WORLD if MPI.Is_initialized() else None


def share_cores(world: MPI.Intracomm) -> int:
    """Give this rank its share of the cores of its host, before libraries with threads are imported; their number.

    Ranks that mpiexec has bound to cores have those; ranks that are not bound divide what all of them may use.
    """
    from mpi4py import MPI

    host = world.Split_type(MPI.COMM_TYPE_SHARED)
    mine = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set(range(os.cpu_count() or 1))
    threads = max(1, len(set().union(*host.allgather(mine))) // host.size)
    host.Free()
    for name in THREADS:
        os.environ.setdefault(name, str(threads))
    return threads
