"""Small systems on the ranks of this process group, whose collective operations are compared: `mpiexec -n P python -m
mpi4py FILE "N ..." "SOLVER ..."`. Rank 0 prints one JSON line for each failure, and a last one with the number of runs.
"""

from __future__ import annotations

import json
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from mpi4py import MPI
from scipy import sparse

from tests.all_pairs import all_pairs
from workbench.errors import InputError
from workbench.extensions.mpi import this_rank as ranks
from workbench.extensions.mpi.device.halo import Halo
from workbench.extensions.mpi.device.watched import COLLECTIVE, WatchedCommunicator
from workbench.registry import registered
from workbench.run import solve

MATRICES = ("SPD", "singular", "two components", "constant diagonal on the first rows", "indefinite")
SIDES = ("ones", "zero", "last", "huge")
M = ("jacobi", "none", "neumann:1", "chebyshev:2")
DEFLATION = ("none", "blocks:2")
NORMS = ("residual", "preconditioned")


class DifferentError(Exception):
    """Ranks call different operations, or the same one from different lines."""


class Compared(WatchedCommunicator):
    """A communicator that compares, before each collective operation, what the ranks call and from where."""

    def compare(self, name: str) -> None:
        """Raise DifferentError on every rank where they differ."""
        frames = [frame for frame, _ in traceback.walk_stack(sys._getframe(1))]
        ours = [frame for frame in frames if "/workbench/" in frame.f_code.co_filename]
        sites = [f"{f.f_code.co_filename.split('/workbench/')[-1]}:{f.f_lineno}" for f in ours[:4]]
        # Ranks that poll take the cores from one another.
        met = MPI.Intracomm.Ibarrier(self)
        while not met.Test():
            time.sleep(1e-4)
        found = MPI.Intracomm.allgather(self, (name, sites))
        if any(other != found[0] for other in found):
            raise DifferentError("; ".join(f"rank {rank}: {what}" for rank, what in enumerate(found)))


def comparing(method: Callable[..., Any], name: str, communicator: Callable[[Any], Any]) -> Callable[..., Any]:
    def call(self: Any, *given: Any, **named: Any) -> Any:
        communicator(self).compare(name)
        return method(self, *given, **named)

    return call


for _name in (*COLLECTIVE, "Iallreduce"):
    setattr(Compared, _name, comparing(getattr(WatchedCommunicator, _name), _name, lambda self: self))
# Ghosts come from neighbours, but all ranks exchange them.
Halo.exchange = comparing(Halo.exchange, "exchange", lambda self: self._communicator)


def matrix(kind: str, n: int) -> Any:
    """A tridiagonal matrix with n rows."""
    main, low = np.full(n, 2.0), np.full(n - 1, -1.0)
    if kind == "singular":
        main[[0, -1]] -= 1
    if kind == "two components":
        low[n // 3 : n // 3 + 1] = 0
        main = -np.append(low, 0) - np.insert(low, 0, 0)
    if kind == "constant diagonal on the first rows":
        main[n // 2 :] += np.arange(n - n // 2)
    if kind == "indefinite":
        low *= 3
    return sparse.csr_array(np.diag(main) + np.diag(low, 1) + np.diag(low, -1))


def side(kind: str, n: int) -> np.ndarray:
    """A right-hand side."""
    ramp = np.arange(1.0, n + 1)
    made = {"ones": np.ones(n), "ramp": ramp, "zero": np.zeros(n), "last": (ramp == n) * 1.0, "huge": ramp * 1e200}
    return made[kind]


def solvers() -> list[str]:
    """Those that ranks take, but PETSc's."""
    return [name for name, made in registered("solver").items() if made.on_ranks and name != "petsc"]


def cases(rows: Sequence[int], names: Sequence[str]) -> list[dict[str, Any]]:
    """All pairs of the choices. rows: how many matrices have. names: of solvers, all where there are none."""
    return all_pairs(n=rows, kind=MATRICES, rhs=SIDES, solver=names or solvers(), M=M, deflation=DEFLATION, norm=NORMS)


def attempt(n: int, kind: str, rhs: str, ranks: int, **choices: Any) -> str:
    """How a solve ends, which may fail or be refused, but on all ranks alike."""
    A, b = matrix(kind, n), side(rhs, n)
    if "block" in choices["solver"]:
        b, choices["norm"] = np.stack([b, side("ramp", n)], axis=1), "residual"
    try:
        return solve(A, b, rtol=1e-9, maxiter=15, ranks=ranks, **choices).reason.name
    except InputError as refused:
        return str(refused)


def main(rows: Sequence[int], names: Sequence[str]) -> None:
    np.seterr(all="ignore")
    world = Compared(MPI.COMM_WORLD)
    ranks.enter(world)
    made: dict[str, int] = {}
    for case in cases(rows, names):
        wrong = end = ""
        try:
            end = attempt(ranks=world.size, **case)
        except DifferentError as error:
            wrong = str(error)
        except Exception:
            end = traceback.format_exc()
        # A rank whose run has ended alone waits here until those of the others have been broken off.
        while not met(world):
            wrong = wrong or f"the run of rank {world.rank} alone has ended"
        ends = world.allgather(end)
        wrong = wrong or ("" if len(set(ends)) == 1 and "Traceback" not in end else "\n".join(ends))
        made[end] = made.get(end, 0) + 1
        if wrong and world.rank == 0:
            print(json.dumps({"case": case, "wrong": wrong, "ends": ends}), flush=True)
    if world.rank == 0:
        print(json.dumps({"made": made}), flush=True)


def met(world: Compared) -> bool:
    """Whether the runs of all ranks have ended."""
    try:
        world.compare("the end of a run")
    except DifferentError:
        return False
    return True


if __name__ == "__main__":
    main([int(n) for n in sys.argv[1].split()], sys.argv[2].split())
