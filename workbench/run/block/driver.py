"""The run of a method on many right-hand sides."""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from workbench import devices
from workbench.devices.lines.block_workspace import BlockWorkspace
from workbench.devices.protocol import Device
from workbench.errors import DeviceError, InputError
from workbench.problems import LinearSystem
from workbench.recording import BlockHistory
from workbench.run.block.columns import ColumnsJudge
from workbench.run.block.measures import BlockMeasures
from workbench.run.block.right_hand_sides import RightHandSides, right_hand_sides
from workbench.run.configuration import Configuration
from workbench.run.judge import Ending
from workbench.run.report import block_result_of
from workbench.run.result import Result
from workbench.run.right_hand_side import Vectors
from workbench.run.run_state import RunState
from workbench.run.setup import SolveSetup, prepare
from workbench.run.stopping import Norm, Reason
from workbench.run.tracing import noting, start_trace
from workbench.solvers.block.base import BlockSolver
from workbench.solvers.block.row import BlockRow


class BlockRun:
    """One solve of A X = B, step by step, with the interface of `Run`.

    history: in its column `residual` the largest ||r_j||/||b_j||, and by column what `BlockHistory` adds. x0: shape
    (N, s), by default zero. The other parameters and errors are those of `Run`.
    """

    def __init__(
        self,
        configuration: Configuration,
        system: LinearSystem | None = None,
        x0: np.ndarray | None = None,
        *,
        trace: bool = False,
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        begun = time.perf_counter()
        self.started = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        self.configuration = configuration
        check(configuration)
        self.ending: Ending | None = None
        """Why the run has ended; None while it can be stepped."""
        self.iteration_seconds = 0.0
        """Wall-clock time of the iterations, in s, without measurements."""
        self.setup, sides = _prepared(configuration, system, x0, stopped)
        self._measures = BlockMeasures(self.setup, sides)
        self.trace, clock = start_trace(self.setup) if trace else (None, None)
        self._clock = clock
        stopping, size = configuration.stopping, self.setup.operator.shape[0]
        self._judge = ColumnsJudge(
            stopping,
            np.ldexp(stopping.atol, -sides.exponents),
            self._measures.norms_of_b(),
            sides.removed,
            stopping.limit(size),
            float(np.finfo(self.setup.operator.dtype).eps),
            self._measures.true_residuals,
        )
        self.history = BlockHistory(self._measures.columns)
        solver = self.setup.solver
        assert isinstance(solver, BlockSolver)
        self.space = BlockWorkspace(
            self.setup.device,
            size,
            self._measures.columns,
            self.setup.operator.dtype,
            vectors={"B": self._measures.solver_B(), "X": self._measures.X},
            operators={"A": self.setup.A, "M": self.setup.M},
            clock=clock,
        )
        self._rows: Iterator[BlockRow] = solver.block_iterates(self.space, self._judge.frozen)
        self.setup.device.settle()
        self.setup_seconds = time.perf_counter() - begun

    @property
    def iterations(self) -> int:
        """Iterations done."""
        return max(0, self.history.count - 1)

    @property
    def reason(self) -> Reason | None:
        """Why the run has ended; None while it can be stepped."""
        return self.ending.reason if self.ending else None

    @property
    def threshold(self) -> float:
        """The relative residual norm at which a column has converged."""
        return self.configuration.stopping.rtol

    @property
    def x(self) -> np.ndarray:
        """The present X, shape (N, s). NaN once the device is lost."""
        if self.reason is Reason.DEVICE_LOST:
            return np.full((self._measures.size, self._measures.columns), np.nan, self.setup.operator.dtype)
        return self._measures.returned_X()

    def cancel(self) -> None:
        """End the run as cancelled, unless it has ended."""
        if self.ending is None:
            self.ending = Ending(Reason.CANCELLED, f"at iteration {self.iterations}")

    def step(self, most: int | None = None) -> bool:
        """Make one iteration (the first call: the start). False when the run has ended."""
        if self.ending is None:
            try:
                self._advance()
            except DeviceError as lost:
                self.ending = Ending(Reason.DEVICE_LOST, f"at iteration {self.iterations}: {lost}")
                devices.forget(self.setup.device)
        return self.ending is None

    def _advance(self) -> None:
        """Make one iteration, and judge every column."""
        begun = time.perf_counter()
        with noting(self._clock):
            row = next(self._rows)
        self.setup.device.synchronize()
        self.iteration_seconds += time.perf_counter() - begun
        self.ending = self._judge.judge(row, self.history.count, self.iteration_seconds)
        self.history.append_block(self._judge.relative, row.rank, row.pivot, self.iteration_seconds)
        if self._clock:
            self._clock.resolve()

    def result(self) -> Result:
        """The result, valid between any two steps."""
        lost = self.reason is Reason.DEVICE_LOST
        true = np.full(self._measures.columns, np.nan) if lost else self._measures.true_residuals()
        columns = self._judge.columns(self.iterations, self.ending, true)
        return block_result_of(self._state, self.x, columns, self.trace)

    def serve_snapshots(self) -> None:
        """Block runs have no snapshots."""

    @property
    def _state(self) -> RunState:
        return RunState(
            configuration=self.configuration,
            setup=self.setup,
            workspace=None,
            measures=None,
            history=self.history,
            ending=self.ending,
            norm_of_b=1.0,
            started=self.started,
            setup_seconds=self.setup_seconds,
            iteration_seconds=self.iteration_seconds,
        )


def check(configuration: Configuration) -> None:
    """Raise InputError for a method or a stopping criterion that many right-hand sides do not have."""
    solver = configuration.solver
    if not isinstance(solver, BlockSolver):
        raise InputError(
            f"solver {solver.name} takes one right-hand side; for several choose block-cg, which needs fewer "
            "iterations, or pseudo-block-cg, whose iterations cost less"
        )
    if configuration.stopping.norm != Norm.RESIDUAL:
        raise InputError(
            f"norm {configuration.stopping.norm} is not available for several right-hand sides; choose norm residual"
        )


def _prepared(
    configuration: Configuration,
    system: LinearSystem | None,
    x0: np.ndarray | None,
    stopped: Callable[[], bool],
) -> tuple[SolveSetup, RightHandSides]:
    """The setup with vectors of one column as work space, and all right-hand sides."""
    found: list[RightHandSides] = []

    def vectors_of(
        configuration: Configuration,
        system: LinearSystem,
        x0: Any,
        _bound: Any,
        device: Device,
        singular: bool,
        notes: list[str],
        _stopped: Any,
    ) -> Vectors:
        found.append(right_hand_sides(configuration, system, x0, singular=singular, notes=notes))
        size, dtype = system.operator.shape[0], system.operator.dtype
        return Vectors(device.zeros(size, dtype), device.zeros(size, dtype), None, 0, 0.0)

    setup = prepare(configuration, system, x0, stopped, vectors_of)
    return setup, found[0]
