"""Systems that are set up once, and solved for many right-hand sides, one after another."""

from __future__ import annotations

import contextlib
import dataclasses
import threading
import time
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, NoReturn, SupportsIndex

import numpy as np

from workbench.arrays.validation import finite_block, own, read_only
from workbench.devices.accelerator.placed_phase import PlacedPhase
from workbench.devices.interchange import array_of, in_place, on_host, returned_as, vector_for
from workbench.errors import InputError
from workbench.operators import as_operator
from workbench.preconditioners import ElementWise
from workbench.problems import LinearSystem
from workbench.process.forks import WorkLock
from workbench.run.cancellation import check_stopped
from workbench.run.choices.configuration import Configuration, configure
from workbench.run.choices.in_memory import (
    InMemoryProblem,
    as_deflation,
    as_preconditioner,
    has_columns,
    kind_of,
    own_entries,
    system_of,
    with_near_null,
)
from workbench.run.choices.levels import AUTO, filled_in, set_up_by_default
from workbench.run.choices.stopping import Stopping
from workbench.run.loop.result import PreparedResult, together
from workbench.run.loop.single.iterations import SingleIterations
from workbench.run.loop.single.recurrence import Recurrence
from workbench.run.machine_use import MACHINE_USE
from workbench.run.results.report import explained
from workbench.run.setup.moved_systems import with_entries, with_phase
from workbench.run.setup.prepare import assembled, renewed
from workbench.run.setup.prepare import prepare as set_up
from workbench.run.setup.right_hand_side import prepare_vectors
from workbench.run.setup.solve_setup import SolveSetup
from workbench.settings import MIXED, RUN
from workbench.solvers import Solver
from workbench.solvers.block.base import BlockSolver

if TYPE_CHECKING:
    from workbench.devices.operator_protocols import DeviceOperator, DeviceVector

PLAIN = {"device", "coarse", "variant", "stopping", "format", "reduction", "ranks", "cluster"}
"""Further settings of a prepared system with which it has levels by default: those of `solve`, and all criteria."""


@dataclasses.dataclass(frozen=True)
class Update:
    """The parts of a setup that `Prepared.update` renewed.

    changed: cells whose phase changed, or None where entries of A were given. full: all of the setup was made anew:
    for entries, for more than a tenth of the cells, and where components merge or split. detail: what has changed, as a
    sentence. seconds: wall-clock time.

    Examples:
        >>> from workbench.run import configure, prepare
        >>> prepared = prepare(configure("two-layer", n=16))
        >>> prepared.update(prepared.system.phase).full
        False
    """

    changed: int | None
    full: bool
    detail: str
    seconds: float


class Prepared:
    """A system with its preconditioner, deflation and compiled programs, ready to be solved.

    configuration: method, device and stopping criteria; its `rhs` and `x0` are not used. system: by default that of the
    configuration's problem; a phase of 0 and 1 is numbered by connected component. Use `workbench.run.prepare` to make
    one. The calls of several threads wait for each other; a process that was forked during the call of another thread
    is refused.

    Arrays that were given are copied, so that the system that is solved is the one that was prepared: A, M, Z, labels,
    null vectors, phases. An operator of the workbench, a LinearOperator, a function, and other arrays of a
    `LinearSystem` are kept: do not change them.

    Memory: that of a run, and of those copies. Raises InputError as a `Run` does, and for ranks, a cluster and block
    methods.

    Examples:
        >>> from workbench.run import configure, prepare
        >>> prepared = prepare(configure("bubbles-2d", n=32, preconditioner="neumann:2", deflation="levelset:4"))
        >>> first = prepared.solve(prepared.system.b)
        >>> second = prepared.solve(prepared.system.b, x0=first.x)
        >>> first.converged, second.iterations
        (True, 0)
    """

    def __init__(self, configuration: Configuration, system: LinearSystem | None = None) -> None:
        if configuration.ranks > 1 or configuration.cluster:
            raise InputError("a prepared solve runs in one process; leave ranks at 1 and cluster empty, or use solve")
        if isinstance(configuration.solver, BlockSolver):
            raise InputError(
                f"a prepared solve takes one column at a time; use cg instead of {configuration.solver.name}"
            )
        defaults = {name: RUN[name].default for name in ("rhs", "x0")}
        self.configuration = dataclasses.replace(configuration, **defaults)
        self._at_work = WorkLock(
            "a prepared system was at work in another thread when this process was forked, which has it half-made; "
            "prepare another one here"
        )
        # Phases are compared with later ones.
        system = system.with_parts(phase=own(system.phase)) if system else assembled(configuration)
        with MACHINE_USE:
            self._begin(system)

    @property
    def system(self) -> LinearSystem:
        """The present system; b is the default right-hand side of the problem."""
        return self._system

    @property
    def notes(self) -> list[str]:
        """Sentences on what was chosen or changed at the setup."""
        return self._setup.all_notes

    @property
    def setup_seconds(self) -> float:
        """Wall-clock time of the last full setup, in s, without the compilation of kernels."""
        return self._setup.phases.seconds

    @property
    def deflation_vectors(self) -> int:
        """The number of deflation vectors of the present setup."""
        return self._setup.deflation_vectors

    def solve(self, b: Any, x0: Any = None, stopped: Callable[[], bool] = lambda: False) -> PreparedResult:
        """Solve A x = b, or A X = B column by column, each from x0.

        b: shape (N,), or (N, s). x0: of the shape of b, or (N,) for every column; zero by default. Neither is changed.
        x is a new array of the library of b. The history has the drift of some rows only. stopped: a request for the
        end, tested between two checks of the norms, which raises StoppedError.

        A notice that the machine is in use, which is a file, would take longer than a small solve: enter
        `workbench.run.MACHINE_USE` around many. Cost: the iterations, and some passes over vectors; programs and
        vectors of the method are kept, and recorded launches of an accelerator. The outcome is that of another prepared
        system, bit by bit, where it converges; else reason, iteration and x may be others. Raises InputError for shapes
        that do not fit, for NaN, and within a call of this object.
        """
        begun = time.perf_counter()
        like, b, x0 = b, in_place(b, "b"), in_place(x0, "x0")
        with self._alone():
            if not has_columns(b):
                return self._solved(b, x0, begun, stopped, like)
            size = self._system.operator.shape[0]
            b = finite_block(b, "B", size)
            starts = list(finite_block(x0, "x0", size).T) if has_columns(x0) else [x0] * b.shape[1]
            if len(starts) != b.shape[1]:
                raise InputError(f"x0 has {len(starts)} columns and B has {b.shape[1]}; give one start for each column")
            columns = [
                self._solved(np.ascontiguousarray(column), start, time.perf_counter(), stopped)
                for column, start in zip(b.T, starts, strict=True)
            ]
        return together(columns, returned_as(like, np.stack([column.x for column in columns], 1)), begun)

    def product(self, x: Any) -> DeviceVector:
        """A x, shape (N,), of the library of x. Raises InputError for an x that `solve` refuses as b."""
        with self._alone():
            return self._applied(self._setup.bound, x, "x")

    def precondition(self, r: object) -> DeviceVector:
        """M^-1 r by the first level alone, shape (N,), of the library of r. Raises InputError as `product`."""
        with self._alone():
            setup = self._setup
            M = setup.first_level
            if isinstance(M, ElementWise):
                M = setup.device.applied(M, setup.operator.shape[0], setup.operator.dtype)
            return self._applied(M, r, "r")

    def _applied(self, operator: DeviceOperator, x: object, name: str) -> DeviceVector:
        """An operator of the setup on a vector, shape (N,), of the library of x."""
        setup = self._setup
        device, dtype = setup.device, setup.operator.dtype
        given = vector_for(device, in_place(x, name), name, setup.operator.shape[0], dtype)
        out, is_placed = device.zeros(given.size, dtype), device.holds(given)
        operator.apply(device.to_device(given) if is_placed else device.array(given, dtype), out)
        out, _ = setup.null_space.without_empty_rows(out, device)
        if not is_placed:
            return returned_as(x, np.array(device.to_host(out)))
        device.synchronize()
        return array_of(out)

    def update(
        self, values: Any, *, numbered: bool = False, moved: np.ndarray | None = None, keep_coarse: bool = False
    ) -> Update:
        """Renew A. values: another matrix or operator of the same pattern, or the phase of each cell, once moved.

        phase: integers from 0 or bool, shape (N,) or that of the grid, of a system of two phases; or a `PlacedPhase`,
        which stays where it is on this device if it is numbered and `moved` is given. Connected components are
        numbered, and keep their numbers; numbered: they are already, in an array that is not changed afterwards.
        moved: flat places of all cells with another number than before, where these are known and it is numbered.
        Where no cell has changed nothing is renewed. Else A and both levels are renewed, with the outcome of another
        `prepare`, bit by bit; the device, the null space, vectors and compiled programs are kept, and Z where its
        labels stay, as those of blocks do. On the cores codes of faces, labels of levelset, and E or the first coarse
        matrix of mg are made anew around the changed cells alone; where more than a tenth of the cells have changed, or
        components merge or split, all of them. No notice is given, as by `solve`. With entries of A all is made anew.
        keep_coarse: let preconditioner mg keep its coarse levels, which are then those of an earlier phase.

        Raises InputError for another shape or pattern, for NaN, and for null vectors given that A does not map to zero,
        with the present system kept.
        """
        begun = time.perf_counter()
        with self._alone():
            return self._updated(values, begun, numbered=numbered, moved=moved, keep_coarse=keep_coarse)

    def _updated(
        self, values: Any, begun: float, *, numbered: bool, moved: np.ndarray | None, keep_coarse: bool
    ) -> Update:
        size = self._system.operator.shape[0]
        stays = numbered and moved is not None
        if isinstance(values, PlacedPhase) and not (stays and values.lies_on(self._setup.device)):
            values = np.asarray(values)
        array = values if isinstance(values, np.ndarray | PlacedPhase) and values.size == size and size > 1 else None
        if array is None:
            with MACHINE_USE:
                self._begin(with_entries(self.configuration.solver, self._system, values))
            return Update(None, True, "the entries of A were replaced", time.perf_counter() - begun)
        system, cells, again = with_phase(self._system, array, moved, numbered=numbered)
        if cells.size:
            self._renew(system, None if again else cells, keep_coarse=keep_coarse)
        detail = f"{cells.size} of {size} cells changed phase{again}"
        return Update(cells.size, bool(again), detail, time.perf_counter() - begun)

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise InputError(
            "a prepared system has memory of a device and compiled programs, which cannot be copied or pickled; "
            "prepare another one"
        )

    @contextlib.contextmanager
    def _alone(self) -> Generator[None]:
        """Wait for the call of another thread. Raises InputError within a call of this thread, and where a
        call was in progress when this process was forked."""
        if self._at_work.worker == threading.get_ident():
            raise InputError(
                "a prepared system was used within a call of its own, by a function given as A, M or stopped; prepare "
                "another one for that function"
            )
        with self._at_work:
            yield

    def _renew(self, system: LinearSystem, cells: np.ndarray | None, *, keep_coarse: bool) -> None:
        """A and both levels for a moved phase. Nothing of this object is changed where that fails."""
        moved = self._setup.system.with_parts(operator=system.operator, phase=system.phase)
        given = self.configuration, self._setup, moved, cells
        recurrence, self._recurrence, setup, kept = self._recurrence, None, None, None
        if recurrence:
            with contextlib.suppress(InputError):
                setup = renewed(*given, keep_coarse=keep_coarse)
                kept = recurrence if recurrence.renew(setup) else None
        if setup is None:
            # The vectors of the method may be what there was no room for.
            recurrence = None
            setup = renewed(*given, keep_coarse=keep_coarse)
        self._recurrence = kept
        self._setup, self._system = setup, system.with_parts(phase=read_only(setup.system.phase))

    def _begin(self, system: LinearSystem) -> None:
        """The full setup. Nothing of this object is changed where it fails."""
        empty = np.zeros(system.operator.shape[0], system.operator.dtype)
        # No right-hand side of a file or a list counts here, and zero is in the range of every A.
        prepared = dataclasses.replace(system, given_b=empty, random_start=False, given_rhs_name="")
        setup = set_up(self.configuration, prepared)
        for change in setup.changes:
            setup.notes.remove(change)
        self._b, self._x = setup.device.copy(setup.b), setup.device.copy(setup.x)
        self._setup: SolveSetup = setup
        self._system = dataclasses.replace(system, phase=read_only(setup.system.phase))
        self._recurrence: Recurrence | None = None
        self._expected = 0
        """Iterations of the last solve."""

    def _solved(self, b: Any, x0: Any, begun: float, stopped: Callable[[], bool], like: Any = None) -> PreparedResult:
        setup = self._setup
        system = setup.system = setup.system.with_parts(given_b=b)
        where = setup.bound, setup.device, setup.null_space
        vectors = prepare_vectors(self.configuration, system, x0, *where, [], stopped)
        setup.b, setup.x = self._b, self._x
        setup.take(vectors)
        recurrence, self._recurrence = self._recurrence, None
        if recurrence:
            recurrence.rewind()
        iterations = SingleIterations(self.configuration, setup, None, recurrence, self._expected)
        if recurrence is None and self.configuration.precision != MIXED:
            recurrence = iterations.recurrence
            recurrence = recurrence if recurrence and recurrence.keep() else None
        while (ending := iterations.advance(None)) is None:
            check_stopped(stopped)
        found = iterations.found(ending)
        if ending.reason.converged and recurrence is iterations.recurrence:
            self._recurrence = recurrence
        history = iterations.history
        self._expected = max(0, history.count - 1)
        # The next solve overwrites the vectors of the setup.
        x = np.array(found.x) if isinstance(found.x, np.ndarray) else found.x
        norm_of_b = iterations.norm_of_b
        last = float(history["residual"][-1])
        return PreparedResult(
            x=x if like is None else returned_as(like, x),
            reason=ending.reason,
            detail=explained(setup, ending.detail, found.true_relative),
            iterations=self._expected,
            relative_residual=last / norm_of_b if norm_of_b else last,
            true_relative_residual=found.true_relative,
            iteration_seconds=iterations.seconds,
            seconds=time.perf_counter() - begun,
            histories=(history,),
        )


def prepare(
    A: Any,
    *,
    rtol: float = Stopping.rtol,
    atol: float = Stopping.atol,
    maxiter: int | None = Stopping.maxiter,
    solver: str | Solver | None = None,
    M: Any = AUTO,
    deflation: Any = AUTO,
    nullspace: Any = None,
    near_null: object = None,
    **more: Any,
) -> Prepared:
    """Set up A once, to solve for many right-hand sides.

    A: a `Configuration`, which says the method as well, a `LinearSystem` (with grid and phases), or what `solve` takes.
    rtol, atol, maxiter, solver, M, deflation, nullspace, near_null: as in `solve`, with its levels by default; M is
    jacobi and deflation none on a grid, next to settings that `solve` lacks, and where the other one is given. more:
    further settings of `configure`, such as coarse, variant, device, or stopping for all of the criteria. Raises
    InputError as `solve` does, and for keywords next to a `Configuration`.

    Cost: that of the setup of one solve.

    Examples:
        >>> import numpy as np
        >>> from workbench.run import prepare
        >>> prepared = prepare(2 * np.eye(50) - np.eye(50, k=1) - np.eye(50, k=-1), M="neumann:2")
        >>> [prepared.solve(np.ones(50) * k).converged for k in (1, 2)]
        [True, True]
    """
    if isinstance(A, Configuration):
        # Arrays are not compared with the defaults.
        chosen = any(not (isinstance(each, str) and each == AUTO) for each in (M, deflation))
        others = any(each is not None for each in (solver, nullspace, near_null))
        if more or chosen or others or Stopping(rtol=rtol, atol=atol, maxiter=maxiter) != Stopping():
            raise InputError("a configuration says the method already; change it with dataclasses.replace")
        return Prepared(A)
    method = Solver.named(solver or "cg")
    if isinstance(A, LinearSystem):
        system = A
    else:
        kind, nullspace = kind_of(method), own(on_host(nullspace, "nullspace"))
        operator = as_operator(own_entries(on_host(A, "A")), kind)
        system, _ = system_of(operator, np.zeros(operator.shape[0], operator.dtype), None, kind, nullspace)
    system = with_near_null(system, own(on_host(near_null, "near_null")))
    M, deflation = own(on_host(M, "M")), own(on_host(deflation, "deflation"))
    device, modes = more.get("device", RUN["device"].default), near_null is not None
    alone = bool(system.grid or more.keys() - PLAIN)
    levels = filled_in(M, deflation, system.operator, method, device, alone=alone, modes=modes)
    system = system.with_parts(notes=(*system.notes, levels.note)) if levels.note else system
    configuration = configure(
        InMemoryProblem(),
        solver=method,
        preconditioner=as_preconditioner(levels.preconditioner, system.operator.shape[0]),
        deflation=as_deflation(levels.deflation),
        **{"stopping": Stopping(rtol=rtol, atol=atol, maxiter=maxiter), **more},
    )
    return set_up_by_default(Prepared, configuration, system, levels.note)
