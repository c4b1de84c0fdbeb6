"""The results of a run and of a solve with a prepared system."""

from __future__ import annotations

import dataclasses
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.devices.interchange import on_host
from workbench.errors import InputError
from workbench.records import History, Trace
from workbench.records.film import Film
from workbench.run.choices.stopping import Reason

if TYPE_CHECKING:
    from workbench.devices.operator_protocols import DeviceVector
    from workbench.records import Record


@dataclasses.dataclass(frozen=True)
class Column:
    """The end of one of many right-hand sides: why, at which iteration, and its residuals over ||b_j||.

    Examples:
        >>> import numpy as np
        >>> from workbench.run import solve
        >>> [column.converged for column in solve(np.diag([1.0, 2.0, 4.0]), np.eye(3)).columns]
        [True, True, True]
    """

    reason: Reason
    iteration: int
    relative_residual: float
    true_relative_residual: float

    @property
    def converged(self) -> bool:
        """The tolerance is met, verified by the true residual."""
        return self.reason.converged


@dataclasses.dataclass(frozen=True, eq=False)
class Result:
    """The result of a run: solution, reason of the end, history and provenance.

    x: the solution, shape (N,), an array of the library of b; orthogonal to the null space of a singular A. Of a run
    that failed it has the shape (0,), and `detail` is the sentence of the error.
    relative_residual: ||r||/||b|| of the recurrence, for the part of b in the range of A. true_relative_residual:
    ||b - A x||/||b||, recomputed for this x and the b that was given.
    history.residual_gap_at is the first iteration at which a residual gap was measured.
    trace: every kernel of the iterations, if the run was traced; snapshots are not part of it.
    film: frames of x and residual at some iterations, if the run was filmed.
    columns: with many right-hand sides the end of each; x then has the shape (N, s), both residuals are the largest of
    all columns, and the history is a `BlockHistory`.
    detail: the iteration and value at which it ended, and what was changed in b or x. seconds are wall-clock; the setup
    includes assembly, and not the compilation of kernels, which happens once per machine: `summary["compile_seconds"]`.

    Examples:
        >>> import numpy as np
        >>> from workbench.run import solve
        >>> result = solve(np.diag([1.0, 2.0, 4.0]), np.ones(3), M=None)
        >>> result.converged, result.iterations, result.x.round(6).tolist()
        (True, 3, [1.0, 0.5, 0.25])
    """

    x: np.ndarray
    converged: bool
    reason: Reason
    detail: str
    iterations: int
    relative_residual: float
    true_relative_residual: float
    setup_seconds: float
    iteration_seconds: float
    history: History
    summary: dict[str, Any]
    provenance: dict[str, Any]
    trace: Trace | None = None
    columns: tuple[Column, ...] = ()
    film: Film | None = None

    def record(self, *, with_solution: bool = False) -> Record:
        """The run as plain data, to save or export; with its film where it has the solution.

        Raises InputError for a run that has no solution.
        """
        if not self.x.shape[0]:
            raise InputError(f"the run has no solution to save: {self.detail}")
        x, film = (on_host(self.x, "x"), self.film) if with_solution else (None, None)
        from workbench.records import Record

        return Record(self.summary, self.provenance, self.history, x, self.trace, film=film)


def as_column(result: Result) -> Result:
    """The result for one right-hand side as that for many of which there is one."""
    column = Column(result.reason, result.iterations, result.relative_residual, result.true_relative_residual)
    return dataclasses.replace(result, x=result.x[:, None], columns=(column,))


@dataclasses.dataclass(frozen=True, eq=False)
class PreparedResult:
    """The end of a solve with a prepared system.

    x: the solution, shape (N,), or (N, s) for B of that shape. relative_residual, true_relative_residual: as in
    `Result`, the largest of all columns. iterations: of the last column that converged. iteration_seconds: wall-clock
    time of the iterations; seconds: of the whole call. histories: one for each column.

    Examples:
        >>> from workbench.run import configure, prepare
        >>> prepared = prepare(configure("two-layer", n=16))
        >>> prepared.solve(prepared.system.b).converged
        True
    """

    x: DeviceVector
    reason: Reason
    detail: str
    iterations: int
    relative_residual: float
    true_relative_residual: float
    iteration_seconds: float
    seconds: float
    histories: tuple[History, ...]

    @property
    def converged(self) -> bool:
        """The tolerance is met, verified by the true residual."""
        return self.reason.converged

    @property
    def history(self) -> History:
        """The history of the only right-hand side, or of the first of many."""
        return self.histories[0]


def together(columns: list[PreparedResult], x: DeviceVector, begun: float) -> PreparedResult:
    """The result for many right-hand sides: the first reason that is no convergence, if there is one."""
    worst = next((column for column in columns if not column.converged), columns[-1])
    return PreparedResult(
        x=x,
        reason=worst.reason,
        detail=worst.detail,
        iterations=max(column.iterations for column in columns),
        relative_residual=max(column.relative_residual for column in columns),
        true_relative_residual=max(column.true_relative_residual for column in columns),
        iteration_seconds=sum(column.iteration_seconds for column in columns),
        seconds=time.perf_counter() - begun,
        histories=tuple(column.history for column in columns),
    )
