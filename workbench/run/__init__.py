"""Runs: configurations, stopping criteria, the solver loop, and jobs. Most callers need `solve` or `race` only."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.deflation import CoarseSolver, Variant
from workbench.devices.interchange import in_place, on_host, returned_as
from workbench.errors import InputError, quoted
from workbench.lazy import exported
from workbench.preconditioners import Preconditioner
from workbench.run.choices.configuration import Configuration, configure
from workbench.run.choices.in_memory import (
    InMemoryProblem,
    as_deflation,
    as_preconditioner,
    as_vector,
    has_columns,
    kind_of,
    system_of,
    with_diagonal,
    with_near_null,
)
from workbench.run.choices.levels import AUTO, filled_in, set_up_by_default
from workbench.run.choices.stopping import Norm, Reason, Stopping
from workbench.run.driver import Run
from workbench.run.jobs.run_queue import MACHINE, QueueSlot, RunQueue
from workbench.run.loop.best import FALL
from workbench.run.loop.result import Column, PreparedResult, Result, as_column
from workbench.run.machine_use import MACHINE_USE
from workbench.run.results.snapshots import Quantity
from workbench.run.setup.numbering import renumbered
from workbench.settings import BLOCKS, RUN
from workbench.solvers import Solver, user_solver
from workbench.solvers.block.base import BlockSolver

if TYPE_CHECKING:
    from scipy.sparse.linalg import LinearOperator

    from workbench.run.jobs.both_devices import BothDevices, on_both
    from workbench.run.jobs.job import Job, State
    from workbench.run.jobs.prepared import Prepared, Update, prepare
    from workbench.run.jobs.races import Race, RaceEntry
    from workbench.run.jobs.recycling import RitzKeeper
    from workbench.run.jobs.session import Session
    from workbench.run.jobs.sweeping import Sweep, sweep

__all__ = [
    "MACHINE",
    "MACHINE_USE",
    "BothDevices",
    "Column",
    "Configuration",
    "Job",
    "Norm",
    "Prepared",
    "PreparedResult",
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
    "State",
    "Stopping",
    "Sweep",
    "Update",
    "configure",
    "on_both",
    "prepare",
    "race",
    "run_through",
    "solve",
    "start_run",
    "sweep",
    "user_solver",
]


__getattr__ = exported(
    __name__,
    {
        "jobs.both_devices": ["BothDevices", "on_both"],
        "jobs.job": ["Job", "State"],
        "jobs.prepared": ["Prepared", "Update", "prepare"],
        "jobs.races": ["Race", "RaceEntry"],
        "jobs.recycling": ["RitzKeeper"],
        "jobs.session": ["Session"],
        "jobs.sweeping": ["Sweep", "sweep"],
    },
)

NOTICED = 20_000
"""Unknowns from which `solve` gives notice that the machine is in use. Below it uses one core, for milliseconds, and
the notice, a file, would take a good part of them."""
start_run = Run
"""The name by which scripts start a run of many right-hand sides; a `Run` is made for any number of them."""


def solve(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: float = Stopping.rtol,
    atol: float = Stopping.atol,
    maxiter: int | None = Stopping.maxiter,
    norm: str = Stopping.norm,
    solver: str | Solver | None = None,
    engine: str = "workbench",
    options: str = "",
    M: str | Preconditioner | Callable[[np.ndarray], np.ndarray] | LinearOperator | np.ndarray | None = AUTO,
    deflation: Any = AUTO,
    coarse: str = BLOCKS["coarse"].default,
    variant: str = BLOCKS["variant"].default,
    device: str = RUN["device"].default,
    cluster: str | None = RUN["cluster"].default,
    ranks: int = RUN["ranks"].default,
    format: str = RUN["format"].default,
    reduction: str = RUN["reduction"].default,
    nullspace: Any = None,
    near_null: object = None,
    diagonal: Any = None,
    callback: Callable[[Any], Any] | None = None,
    check: bool = True,
    trace: bool = False,
) -> Result:
    """Solve A x = b, or A X = B for many right-hand sides.

    A: Hermitian positive (semi)definite, N x N: a sparse or dense array, a LinearOperator or an operator of this
    workbench. b, x0: shape (N,), or for many right-hand sides (N, s), s = 1 included, b dense or sparse; x has the
    shape of b, and the common precision of A, b and x0, complex if any of them is.

    solver, M, deflation, coarse, variant: names of blocks such as "neumann:2" or "blocks:8". solver: by default cg, or
    block-cg for many right-hand sides, where `Result.columns` says how each ended; it may also be a result of
    `user_solver`. engine: "petsc" takes PETSc's method of that name, with its options. M: also a function that maps r
    to M^-1 r, a LinearOperator or matrix near A^-1, or None. deflation: also Z itself, labels of shape (N,), or vectors
    of shape (N, d), dense or sparse. Where both are left out, a sparse matrix of 2,000 unknowns or more has levels by a
    rule, which a note says (`choices.levels`), anything else Jacobi; M alone left out is jacobi, deflation none. A
    matrix of 100,000 unknowns or more that is numbered at random is solved in another order, unless a callback or a
    trace would show it; x has the order of A. cluster: "local:4" or the address of a Dask scheduler, whose workers
    solve the boxes of M "schwarz:3x3". ranks: processes that share the rows by MPI. format: how the device stores A:
    "coo", "csr", "dia", "ell", "hyb", or "csr:8" with 8 work-items a row; by default a matrix as CSR, an operator as it
    is.
    reduction: "host" adds an accelerator's partial sums on the host, for comparison. trace: record every kernel.

    nullspace: vectors that a singular A maps to zero, shape (N,) or (N, k), such as one per component or the rigid-body
    modes; b is projected onto the range of A, and x is the solution of minimum norm. By default the constants are
    tested; an array of shape (N, 0) stands for none.

    near_null: vectors that A maps to little, shape (N, m), such as the rigid-body modes of an elastic body,
    `workbench.deflation.rigid_body_modes(coordinates)`: deflation "parts:120" and the levels of M "kcycle" then have a
    vector for each of them in each part, and M "amg:sa" interpolates them. Refused where none of these is chosen.

    diagonal: the main diagonal of A, shape (N,), for a LinearOperator, which then takes M jacobi (the default) and
    chebyshev; compared with A by up to four products. A LinearOperator costs three products more, which show whether it
    is symmetric and whether it maps constants to zero; deflation by labels d + 2 products, by vectors d.

    check: False leaves out these three products, and the two of an M that is a function or a matrix. A then counts as
    symmetric and nonsingular, unless nullspace is given.

    callback: called with the run after each of iterations 1 to k, when `run.x` is the x of iteration `run.iterations`.
    It ends the run by returning True or raising StopIteration, with `Reason.CALLBACK` and the present x. Any other
    exception ends the run too and is passed on; the run that the callback got still has its `result()`.

    Arrays may be of any library with DLPack (CuPy, PyTorch, JAX), and A also a sparse matrix of CuPy. x is then of the
    library of b, where that has the precision. Vectors b and x0 in the memory of a CUDA `device` stay there, and so
    does x, unless b has to be scaled; everything else is checked on the host. No argument is changed; functions get
    copies, as NumPy arrays. Raises InputError for what cannot be solved, for a LinearOperator that is not symmetric,
    and for a vector of nullspace that A does not map to zero.

    Norms are seen several at a time where no callback needs them. A run that rounding ends with an x worse than one
    between is made a second time, with every norm seen.

    Cost of an iteration without M: O(nnz + N) for each right-hand side, block methods O(N s^2) more for all, and with
    deflation by vectors 4 N d flops more; `workbench.costs.solver_costs` counts the vectors of each method too.

    Examples:
        >>> import numpy as np
        >>> from workbench.run import solve
        >>> A = 2 * np.eye(50) - np.eye(50, k=1) - np.eye(50, k=-1)
        >>> result = solve(A, np.ones(50), M="neumann:2", deflation="blocks:5")
        >>> result.converged, bool(np.linalg.norm(A @ result.x - 1) < 1e-5)
        (True, True)
    """
    if callback is not None and not callable(callback):
        raise InputError(f"callback must be a function of the run, got {quoted(callback)}")
    if engine != "workbench" or options:
        from workbench.run.choices.engines import on_engine

        solver = on_engine(engine, solver, options)
    method = Solver.named(solver or ("block-cg" if has_columns(b) else BLOCKS["solver"].default))
    kind = kind_of(method)
    given = {"A": A, "M": M, "deflation": deflation, "nullspace": nullspace, "diagonal": diagonal}
    given["near_null"] = near_null
    A, M, deflation, nullspace, diagonal, near_null = (on_host(values, name) for name, values in given.items())
    like, b, x0 = b, in_place(b, "b"), in_place(x0, "x0")
    # A method for one right-hand side takes one column as a vector.
    is_column = has_columns(b) and b.shape[1] == 1 and not isinstance(method, BlockSolver)
    if is_column:
        b, x0 = as_vector(b), None if x0 is None else as_vector(x0)
    system, x0 = system_of(A, b, x0, kind, nullspace, check=check, device=device if ranks == 1 else None)
    system = with_near_null(system if diagonal is None else with_diagonal(system, diagonal, kind), near_null)
    alone = ranks != 1 or cluster is not None or engine != "workbench"
    modes = near_null is not None
    levels = filled_in(M, deflation, system.operator, method, device, alone=alone, modes=modes)
    system = system.with_parts(notes=(*system.notes, levels.note)) if levels.note else system
    configuration = Configuration(
        InMemoryProblem(),
        solver=method,
        preconditioner=as_preconditioner(levels.preconditioner, system.operator.shape[0], check=check),
        deflation=as_deflation(levels.deflation),
        coarse=CoarseSolver.named(coarse),
        variant=Variant.named(variant),
        device=device,
        cluster=cluster,
        ranks=ranks,
        format=format,
        reduction=reduction,
        stopping=Stopping(rtol=rtol, atol=atol, norm=norm, maxiter=maxiter),
    )
    # A callback is called with vectors of the run, which have its order.
    other = None if callback or trace else renumbered(configuration, system, x0)
    with contextlib.nullcontext() if system.unknowns < NOTICED else MACHINE_USE:
        begun = (other.configuration, other.system, other.x0) if other else (configuration, system, x0)
        phases = other.phases if other else None
        run = set_up_by_default(
            lambda chosen, of: Run(chosen, of, x0=begun[2], trace=trace, phases=phases), *begun[:2], levels.note
        )
        if callback is None:
            run.gather()
        _step_through(run, callback)
        result = run.result(writable=True)
        if callback is None and not isinstance(method, BlockSolver) and _has_passed_its_best(result):
            run = Run(run.configuration, run.setup.system, x0=begun[2], trace=trace)
            _step_through(run, None)
            result = run.result(writable=True)
    result = dataclasses.replace(result, x=other.back(result.x)) if other else result
    result = as_column(result) if is_column else result
    return dataclasses.replace(result, x=returned_as(like, result.x))


def _has_passed_its_best(result: Result) -> bool:
    """True if rounding ended a run whose norms were seen several at a time, and whose x is worse than one between."""
    norms = result.history["residual"]
    if result.reason is not Reason.ROUNDING or not 0 < norms[-1] < np.inf:
        return False
    best = result.relative_residual * float(np.nanmin(norms) / norms[-1])
    return result.true_relative_residual > FALL * best


def run_through(run: Run, callback: Callable[[Any], Any] | None = None) -> Result:
    """Step a run to its end; its result.

    callback: as in `solve`. An object whose method `before_iterations` is called with the run first, if it has one.

    Examples:
        >>> from workbench.run import Run, configure, run_through
        >>> run_through(Run(configure("two-layer", n=16, solver="pipecg"))).reason.name
        'CONVERGED'
    """
    with MACHINE_USE:
        _step_through(run, callback)
    return run.result(writable=True)


def _step_through(run: Run, callback: Callable[[Any], Any] | None) -> None:
    """Step a run to its end."""
    if callback is not None:
        _follow(run, callback)
        return
    while run.step():
        pass


def _follow(run: Run, callback: Callable[[Any], Any]) -> None:
    """Step a run to its end, or until the callback stops it."""
    run.step(1)
    _call(getattr(callback, "before_iterations", None), run)
    seen = 0
    # The last iteration ends the run, and a step that begins other columns makes none.
    while run.step(1) or run.iterations > seen:
        if run.iterations > seen:
            seen = run.iterations
            _call(callback, run)


def _call(callback: Callable[[Any], Any] | None, run: Run) -> None:
    """Call with the run, and end the run where that is asked for; the run keeps its x where the callback fails."""
    try:
        stop = callback(run) if callback else None
    except StopIteration:
        stop = True
    except Exception as error:
        run.cancel(Reason.CALLBACK)
        error.add_note("the run that the callback was called with keeps its x and history: run.result()")
        raise
    # An array or a number that a callback happens to return is no request.
    if isinstance(stop, (bool, np.bool_)) and stop:
        run.cancel(Reason.CALLBACK)


def race(configurations: Sequence[Configuration]) -> list[Result]:
    """Run several configurations round-robin, one iteration each, each on its own clock.

    Returns what `Race.wait` does: a result for each, in their order; that of one that failed says why.

    Examples:
        >>> from workbench.run import configure, race
        >>> results = race([configure("two-layer", n=16), configure("two-layer", n=16, deflation="stripes")])
        >>> [result.converged for result in results]
        [True, True]
    """
    from workbench.run.jobs.races import Race

    return Race(configurations, slice_seconds=0, queue=None).wait()
