"""Ranks: the same run on every process of MPI, each on its own rows of the system.

Every rank makes the run as a whole, with the same lines, kernels and solvers. Its vectors have its rows alone. A
product exchanges ghost planes with the neighbours first, and dot products are summed over the ranks, so that every rank
has the same scalars and takes the same decisions.
"""

from __future__ import annotations

from typing import Any

__all__ = ["enter", "world"]

_entered: list[Any] = []


def enter(communicator: Any) -> None:
    """Let the runs of this process be those of a rank of an mpi4py communicator; None: no more."""
    _entered[:] = [] if communicator is None else [communicator]


def world() -> Any:
    """The communicator of the ranks, None where this process is no rank."""
    return _entered[0] if _entered else None
