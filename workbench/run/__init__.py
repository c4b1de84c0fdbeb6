"""Runs: configurations, stopping criteria, the solver loop, and jobs. Most callers need `solve` or `race` only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
from scipy.sparse.linalg import LinearOperator

from workbench.errors import InputError, quoted
from workbench.operators import ComplexSymmetricMatrix, Matrix
from workbench.preconditioners import Preconditioner
from workbench.registry import as_block
from workbench.run.block import BlockRun
from workbench.run.configuration import Configuration, configure
from workbench.run.driver import Run
from workbench.run.in_memory import (
    InMemoryProblem,
    as_deflation,
    as_preconditioner,
    as_vector,
    has_columns,
    system_of,
)
from workbench.run.job import Job, State
from workbench.run.machine_use import MACHINE_USE
from workbench.run.races import Race, RaceEntry
from workbench.run.recycling import RitzKeeper
from workbench.run.result import Column, Result, as_column
from workbench.run.run_queue import MACHINE, QueueSlot, RunQueue
from workbench.run.session import Session
from workbench.run.snapshots import Look, Quantity, Snapshot, SnapshotRequests
from workbench.run.start import start_run
from workbench.run.stopping import Norm, Reason, Stopping
from workbench.run.sweeping import Sweep, sweep
from workbench.settings import BLOCKS, RUN, read_size
from workbench.solvers import Solver, user_solver
from workbench.solvers.block.base import BlockSolver

__all__ = [
    "MACHINE",
    "BlockRun",
    "Column",
    "Configuration",
    "Job",
    "Look",
    "Norm",
    "Quantity",
    "QueueSlot",
    "Race",
    "RaceEntry",
    "Reason",
    "Result",
    "RitzKeeper",
    "Run",
    "RunQueue",
    "Session",
    "Snapshot",
    "SnapshotRequests",
    "State",
    "Stopping",
    "Sweep",
    "configure",
    "race",
    "read_size",
    "run_through",
    "solve",
    "start_run",
    "sweep",
    "user_solver",
]


def solve(
    A: Any,
    b: np.ndarray,
    x0: np.ndarray | None = None,
    *,
    rtol: float = Stopping.rtol,
    atol: float = Stopping.atol,
    maxiter: int | None = Stopping.maxiter,
    norm: str = Stopping.norm,
    solver: str | Solver | None = None,
    M: str | Preconditioner | Callable[[np.ndarray], np.ndarray] | LinearOperator | np.ndarray | None = BLOCKS[
        "preconditioner"
    ].default,
    deflation: Any = BLOCKS["deflation"].default,
    coarse: str = BLOCKS["coarse"].default,
    variant: str = BLOCKS["variant"].default,
    device: str = RUN["device"].default,
    cluster: str | None = RUN["cluster"].default,
    nullspace: np.ndarray | None = None,
    callback: Callable[[Run], None] | None = None,
    trace: bool = False,
) -> Result:
    """Solve A x = b, or A X = B for many right-hand sides.

    A: Hermitian positive (semi)definite, N x N: a SciPy sparse array, a dense array, a LinearOperator or an operator
    of this workbench. A LinearOperator costs three products more, which show whether it is symmetric and whether it
    maps constants to zero. b, x0: shape (N,), or for many right-hand sides (N, s), s = 1 included, b dense or sparse; x
    has the shape of b, and the common precision of A, b and x0, complex if any of them is. solver: by default cg, or
    block-cg for many right-hand sides, where `Result.columns` says how each ended. solver, M, deflation, coarse,
    variant: names of blocks such as "neumann:2" or "blocks:8". solver may also be a result of `user_solver`; M a
    function that maps r to M^-1 r, a LinearOperator or matrix near A^-1, or None; deflation Z itself: labels of shape
    (N,), or vectors of shape (N, d), dense or sparse. cluster: "local:4" or the address of a Dask scheduler, whose
    workers solve the boxes of M "schwarz:3x3". nullspace: vectors that a singular A maps to zero, shape (N,) or (N, k),
    such as one per component or the rigid-body modes; b is projected onto the range of A, and x is the solution of
    minimum norm. By default the constants are tested; an array of shape (N, 0) says that there are none. callback:
    called with the run after every iteration. trace: record every kernel. No argument is changed; functions get copies.
    Raises InputError for what cannot be solved, for a LinearOperator that is not symmetric, and for a vector of
    nullspace that A does not map to zero.
    """
    if callback is not None and not callable(callback):
        raise InputError(f"callback must be a function of the run, got {quoted(callback)}")
    method = cast(Solver, as_block("solver", solver or ("block-cg" if has_columns(b) else BLOCKS["solver"].default)))
    # A method for one right-hand side takes one column as a vector.
    is_column = has_columns(b) and b.shape[1] == 1 and not isinstance(method, BlockSolver)
    if is_column:
        b, x0 = as_vector(b), None if x0 is None else as_vector(x0)
    kind = ComplexSymmetricMatrix if method.complex_symmetric else Matrix
    system, x0 = system_of(A, b, x0, kind, nullspace)
    configuration = configure(
        InMemoryProblem(),
        solver=method,
        preconditioner=as_preconditioner(M, system.operator.shape[0]),
        deflation=as_deflation(deflation),
        coarse=coarse,
        variant=variant,
        device=device,
        cluster=cluster,
        stopping=Stopping(rtol=rtol, atol=atol, norm=norm, maxiter=maxiter),
    )
    with MACHINE_USE:
        result = run_through(start_run(configuration, system, x0=x0, trace=trace), callback)
    return as_column(result) if is_column else result


def run_through(run: Run | BlockRun, callback: Callable[[Any], None] | None = None) -> Result:
    """Step a run to its end."""
    with MACHINE_USE:
        while run.step(1 if callback else None):
            if callback:
                callback(run)
    return run.result()


def race(configurations: Sequence[Configuration]) -> list[Result]:
    """Run several configurations round-robin, one iteration each, each on its own clock.

    Returns what `Race.wait` does: a result for each, in their order; that of one that failed says why.
    """
    return Race(configurations, slice_seconds=0, queue=None).wait()
