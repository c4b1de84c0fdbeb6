"""Some of many right-hand sides, which a method solves at once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from workbench.devices.clock import Clock
from workbench.devices.lines.block_workspace import BlockWorkspace
from workbench.host.blas import on_one_thread
from workbench.run.block.best_columns import BestColumns
from workbench.run.block.columns import ColumnsJudge
from workbench.run.block.measures import BlockMeasures
from workbench.run.breakdown import about_choices, diagnose_columns
from workbench.run.judge import Ending
from workbench.run.result import Column
from workbench.run.right_hand_sides import RightHandSides
from workbench.run.setup import SolveSetup
from workbench.run.stopping import Reason, Stopping
from workbench.solvers.block.base import BlockSolver
from workbench.solvers.block.row import BlockRow

MOST_NAMED = 4
"""Columns whose origin a sentence names."""


class Chunk:
    """The block vectors, the recurrence and the verdicts of the columns `place`, all on the device.

    iterations: done so far. Raises InputError where the block vectors do not fit.
    """

    def __init__(
        self, setup: SolveSetup, stopping: Stopping, sides: RightHandSides, place: slice, clock: Clock | None
    ) -> None:
        self.place, self.iterations = place, -1
        part = sides.part(place)
        self.measures = BlockMeasures(setup, part)
        measures, solver = self.measures, setup.solver
        assert isinstance(solver, BlockSolver)
        dtype = setup.operator.dtype
        self._setup, self._solver = setup, solver
        self.space = space = BlockWorkspace(
            setup.device,
            measures.size,
            measures.columns,
            dtype,
            vectors={"B": measures.solver_B(), "X": measures.X},
            operators={"A": setup.A, "M": setup.M},
            clock=clock,
        )
        self._best = best = BestColumns(setup.device, measures.X, measures.size, measures.columns, dtype)
        # Not of this chunk, which a circle would keep in memory.
        self.judge = ColumnsJudge(
            stopping,
            np.ldexp(stopping.atol, -part.exponents),
            measures.norms_of_b(),
            part.removed,
            stopping.limit(measures.size),
            float(np.finfo(dtype).eps),
            measures.true_residuals,
            lambda: measures.true_residuals(best.X),
            lambda: diagnose_columns(setup, space),
            solver,
        )
        self._rows: Iterator[BlockRow] = solver.block_iterates(self.space, self.judge.frozen)
        self.measures.keep_residuals_in(self.space.vector(solver.scratch))
        setup.device.settle()

    def advance(self) -> BlockRow:
        """Make one iteration; the first call makes the start."""
        # Small matrices alone, for which threads of BLAS are no use.
        with on_one_thread():
            if self.judge.restart_is_due:
                self._restart()
            row = next(self._rows)
        self.iterations += 1
        return row

    def judged(self, row: BlockRow, seconds: float) -> Ending | None:
        """Why the run of this chunk ends with the row, None if it does not. Columns that failed are then their best."""
        norms = np.where(self.judge.frozen, np.inf, row.norms)
        self._best.update(norms, self.iterations, self.measures.X)
        ending = self.judge.judge(row, self.iterations, seconds)
        if ending is None or ending.reason.converged:
            return ending
        far = "" if ending.reason is Reason.INDEFINITE else self.judge.about_starts()
        about = about_choices(ending.reason, self._setup)
        return Ending(ending.reason, ending.detail + about + far + self._take_best())

    def _restart(self) -> None:
        """Begin again from the best columns, those that have ended from their own."""
        self.judge.restart_is_due = False
        self.measures.begin_at(self._best.X, ~self.judge.frozen)
        self._rows = self._solver.block_iterates(self.space, self.judge.frozen)
        next(self._rows)

    def _take_best(self) -> str:
        """Let every column without convergence be the best of the last one, its copy, x0 and zero; a clause on that."""
        measures, judge = self.measures, self.judge
        starts, of_b = measures.starts(), measures.norms_of_b()
        norms = np.stack(
            [
                measures.true_residuals(measures.X),
                measures.true_residuals(self._best.X),
                of_b,
                measures.residuals_of(starts) if starts.any() else of_b,
            ]
        )
        norms[~np.isfinite(norms)] = np.inf
        chosen = np.where(judge.has_converged, 0, norms.argmin(axis=0))
        if not chosen.any():
            return ""
        made = measures.solution_on_host()
        columns = [np.flatnonzero(chosen == which) for which in range(4)]
        if columns[1].size:
            made[:, columns[1]] = measures.solution_on_host(self._best.X)[:, columns[1]]
        made[:, columns[2]] = 0
        made[:, columns[3]] = starts[:, columns[3]]
        measures.finish(made)
        judge.confirm_best(np.where(chosen > 0, norms.min(axis=0), np.inf), max(0, self.iterations))
        first = self.place.start
        kept = [f"column {first + j} of X is that of iteration {self._best.iterations[j]}" for j in columns[1]]
        kept += [f"column {first + j} of X is 0" for j in columns[2]]
        kept += [f"column {first + j} of X is that of x0" for j in columns[3]]
        return "; " + ", ".join(kept[:MOST_NAMED]) + (", and others" if len(kept) > MOST_NAMED else "")

    def release(self) -> None:
        """Drop all references to memory of the device."""
        for part in (self.space.programs, self.space.vectors, self.space.operators):
            part.clear()
        self.measures.release()
        self._best.release()

    def close(self) -> None:
        """Break the circle of programs and their workspace, so that all block vectors go with the chunk."""
        self.space.programs.clear()

    def returned(self, ending: Ending | None) -> tuple[tuple[Column, ...], np.ndarray]:
        """The end of each of its columns, and their X, for which the true residuals are."""
        X, true = self.measures.returned()
        return self.judge.columns(max(0, self.iterations), ending, true), X

    def lost(self, ending: Ending) -> tuple[Column, ...]:
        """The end of each of its columns once the device is lost."""
        return self.judge.columns(max(0, self.iterations), ending, np.full(self.measures.columns, np.nan))
