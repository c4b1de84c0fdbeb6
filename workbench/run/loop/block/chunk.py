"""Some of many right-hand sides, which a method solves at once."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from workbench.devices.clock import Clock
from workbench.devices.host.blas import on_one_thread
from workbench.devices.programs.block_workspace import BlockWorkspace
from workbench.run.choices.stopping import Stopping
from workbench.run.loop.block.diagnostics import BlockDiagnostics
from workbench.run.loop.iteration_state import IterationState, Termination
from workbench.run.loop.result import Column
from workbench.run.loop.single.check_interval import GROWTH, SECONDS
from workbench.run.loop.stopping_test import StoppingTest
from workbench.run.setup.right_hand_side import RightHandSides
from workbench.run.setup.solve_setup import SolveSetup
from workbench.solvers.block.base import BlockRow, BlockSolver


class Made(NamedTuple):
    """Iterations made at once. kept: of those that the device has repeated and that end nothing, see `Repeats`; rows:
    what the method reports of those after them."""

    kept: Mapping[str, np.ndarray]
    rows: list[BlockRow]


class Chunk:
    """The block vectors, the recurrence and the verdicts of the columns `place`, all on the device.

    iterations: done so far. Raises InputError where the block vectors do not fit.
    """

    def __init__(
        self, setup: SolveSetup, stopping: Stopping, sides: RightHandSides, place: slice, clock: Clock | None
    ) -> None:
        self.place, self.iterations = place, -1
        part = sides.part(place)
        self.measures = BlockDiagnostics(setup, part)
        measures, solver = self.measures, setup.solver
        assert isinstance(solver, BlockSolver)
        self._setup, self._solver = setup, solver
        self.space: BlockWorkspace | None = BlockWorkspace(
            setup.device,
            measures.size,
            measures.columns,
            setup.operator.dtype,
            vectors={"B": measures.solver_b, "X": measures.x},
            operators={"A": setup.A, "M": setup.M},
            clock=clock,
        )
        self.test = StoppingTest(stopping, setup, measures, place)
        self._rows: Iterator[BlockRow] = solver.block_iterates(self.space, self.test.frozen)
        self._watch = setup.device.block_watch(self.space)
        self._interval, self._norms, self._pace = 1, np.zeros(0), 0.0
        """Iterations between the last two checks of the norms, the norms then, and seconds of an iteration."""
        self.measures.keep_residuals_in(self.space.vector(solver.scratch))
        setup.device.settle()

    def advance(self, most: int) -> Made:
        """Make one iteration, or up to `most` where the device repeats them; the first call makes the start."""
        # Small matrices alone, for which threads of BLAS are no use.
        with on_one_thread():
            if self.test.restart_from is not None:
                self._restart()
            if self._watch is None or self.iterations < 0:
                return Made({}, [next(self._rows)])
            assert self.space is not None
            limits, largest = np.array([(column.confirm_below, column.divergence) for column in self.test.columns]).T
            begun, count = time.perf_counter(), self._next_interval(most, limits)
            kept = self._watch.advance(count, ~self.test.frozen, limits, largest)
            made = len(kept["rr"])
            self._pace = (time.perf_counter() - begun) / max(1, made)
            if not self._watch.halted:
                return Made({name: rows[:-1] for name, rows in kept.items()}, self.rows_of(kept, made - 1))
            self.space.halted = self._watch.halted
            return Made(kept, [next(self._rows)])

    def rows_of(self, kept: Mapping[str, np.ndarray], first: int = 0) -> list[BlockRow]:
        """The rows that the method reports of iterations that the device has repeated, from number `first` on."""
        assert self._watch is not None
        count = len(kept["rr"])
        return [self._watch.repeats.row({name: rows[k] for name, rows in kept.items()}) for k in range(first, count)]

    def judged(self, row: BlockRow, seconds: float, *, last: bool) -> Termination | None:
        """Why the run of this chunk ends with the row, None if it does not. last: the block vectors are those of it."""
        self.iterations += 1
        norms = row.norms.tolist()
        made = IterationState(self.iterations, norms, norms, row.curvature, row.gamma.tolist(), seconds, row.breakdown)
        self.test.note(made, last=last)
        assert isinstance(self.space, BlockWorkspace)
        return None if self.test.restart_from is not None else self.test.verdict(made, self.space, last=last)

    def _next_interval(self, most: int, limits: np.ndarray) -> int:
        """Iterations until a column that has not ended may meet its limit, at its rate since the last check."""
        assert self._watch is not None
        norms = np.array([column.norm for column in self.test.columns])
        due, active = most, ~self.test.frozen
        if self._norms.size:
            with np.errstate(all="ignore"):
                rates = np.log(self._norms / norms) / self._interval
                due = np.nanmin(np.where(active & (rates > 0), np.log(norms / limits) / rates, np.inf), initial=np.inf)
        longest = SECONDS / self._pace if self._pace else 1
        count = max(1, int(min(most, due, longest, GROWTH * self._interval, self._watch.most)))
        # It depends on a clock, and all ranks must make as many.
        count = self._setup.device.agreed(count)
        self._norms, self._interval = norms, count
        return count

    def drift(self) -> float:
        """The largest ||Z^H r_j||/||b_j||."""
        assert isinstance(self.space, BlockWorkspace)
        return float(self.test.relative_to_b(self.measures.drift(self.space)).max())

    def _restart(self) -> None:
        """Begin again where the stopping test says, columns that have ended from their own."""
        x, self.test.restart_from = self.test.restart_from, None
        assert self.space is not None
        self.measures.begin_columns_at(x, ~self.test.frozen)
        self._watch = None
        self._rows = self._solver.block_iterates(self.space, self.test.frozen)
        self._watch = self._setup.device.block_watch(self.space)
        next(self._rows)

    def release(self) -> None:
        """Drop all references to memory of the device."""
        self.space, self._watch, self._rows = None, None, iter(())
        self.measures.release()
        self.test.release()

    def returned(self, ending: Termination | None) -> tuple[tuple[Column, ...], np.ndarray]:
        """The end of each of its columns, and their X, for which the true residuals are."""
        X, true = self.measures.returned()
        return self.test.results(max(0, self.iterations), ending, true), X

    def lost(self, ending: Termination) -> tuple[Column, ...]:
        """The end of each of its columns once the device is lost."""
        return self.test.results(max(0, self.iterations), ending, np.full(self.measures.columns, np.nan))
