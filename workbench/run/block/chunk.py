"""Some of many right-hand sides, which a method solves at once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from workbench.devices.clock import Clock
from workbench.devices.lines.block_workspace import BlockWorkspace
from workbench.host.blas import on_one_thread
from workbench.run.block.columns import ColumnsJudge
from workbench.run.block.measures import BlockMeasures
from workbench.run.block.right_hand_sides import RightHandSides
from workbench.run.judge import Ending
from workbench.run.result import Column
from workbench.run.setup import SolveSetup
from workbench.run.stopping import Stopping
from workbench.solvers.block.base import BlockSolver
from workbench.solvers.block.row import BlockRow


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
        self.judge = ColumnsJudge(
            stopping,
            np.ldexp(stopping.atol, -part.exponents),
            self.measures.norms_of_b(),
            part.removed,
            stopping.limit(self.measures.size),
            float(np.finfo(setup.operator.dtype).eps),
            self.measures.true_residuals,
        )
        solver = setup.solver
        assert isinstance(solver, BlockSolver)
        self.space = BlockWorkspace(
            setup.device,
            self.measures.size,
            self.measures.columns,
            setup.operator.dtype,
            vectors={"B": self.measures.solver_B(), "X": self.measures.X},
            operators={"A": setup.A, "M": setup.M},
            clock=clock,
        )
        self._rows: Iterator[BlockRow] = solver.block_iterates(self.space, self.judge.frozen)
        self.measures.keep_residuals_in(self.space.vector(solver.scratch))
        setup.device.settle()

    def advance(self) -> BlockRow:
        """Make one iteration; the first call makes the start."""
        # Small matrices alone, for which threads of BLAS are no use.
        with on_one_thread():
            row = next(self._rows)
        self.iterations += 1
        return row

    def close(self) -> None:
        """Break the circle of programs and their workspace, so that all block vectors go with the chunk."""
        self.space.programs.clear()

    def columns(self, ending: Ending | None, *, lost: bool = False) -> tuple[Column, ...]:
        """The end of each of its columns. lost: the device cannot be asked for true residuals any more."""
        true = np.full(self.measures.columns, np.nan) if lost else self.measures.true_residuals()
        return self.judge.columns(max(0, self.iterations), ending, true)
