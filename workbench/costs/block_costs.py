"""The cost of one iteration of each method for many right-hand sides, and GFLOP/s of its runs, counted from the lines
that it runs."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from workbench.devices.programs.block_workspace import BlockProgram
from workbench.lines.types import Application, Dot, Formula, Line
from workbench.registry import blocks as registry
from workbench.run import Run, Stopping, configure
from workbench.solvers.block.base import BlockSolver

__all__ = ["BlockCost", "block_costs"]

HEADINGS = ("solver", "A", "M", "X^H Y", "X C", "reductions", "blocks", "bytes", "flops")
WARM_UP = 2
"""Rows before the counted iteration: the start, and a first iteration."""
REAL, COMPLEX = (2, 10, 2), (8, 40, 28)
"""Multiples of the non-zeros, of N and of 1 in an iteration of CG with one right-hand side: a product with A, two dot
products, three vector updates and two divisions, by Table II of Tali and Vainikko, "Block Conjugate Gradient solver in
OpenCL"."""


@dataclasses.dataclass(frozen=True)
class BlockCost:
    """The cost of one iteration.

    with_a, with_m: applications of A and M to a block vector. grams: Gram matrices; products: block vectors times an
    s x s matrix. reductions: times that it waits for dot products. blocks: block vectors (N, s) stored in addition to
    B, X included. bytes, flops: per unknown and right-hand side, A and M included.

    Examples:
        >>> from workbench.costs.block_costs import block_costs
        >>> costs = block_costs("poisson5", columns=4)
        >>> all(cost.columns == 4 for cost in costs)
        True
    """

    solver: str
    columns: int
    with_a: int
    with_m: int
    grams: int
    products: int
    reductions: int
    blocks: int
    bytes: float
    flops: float

    @property
    def row(self) -> tuple[str, ...]:
        """The cells of a table row under `HEADINGS`."""
        counts = (self.with_a, self.with_m, self.grams, self.products, self.reductions, self.blocks)
        return self.solver, *map(str, counts), f"{self.bytes:.0f}", f"{self.flops:.0f}"


def block_costs(
    problem: str = "poisson7", n: int = 8, preconditioner: str = "jacobi", columns: int = 16
) -> list[BlockCost]:
    """Costs of the registered block methods with many right-hand sides, least traffic first.

    Runs three iterations of each on the CPU. Raises InputError for unknown names.

    Examples:
        >>> from workbench.costs.block_costs import block_costs
        >>> {cost.solver: cost.with_a for cost in block_costs("poisson5", columns=4) if cost.solver == "block-cg"}
        {'block-cg': 1}
    """
    names = [name for name, cls in registry.registered("solver").items() if issubclass(cls, BlockSolver)]
    costs = [_cost(problem, n, preconditioner, name, columns) for name in names]
    return sorted(costs, key=lambda cost: (cost.bytes, cost.solver))


def flops_of_one(n: int, nnz: int, *, is_complex: bool) -> int:
    """Operations of an iteration of CG with one right-hand side and no preconditioner.

    Examples:
        >>> from workbench.costs.block_costs import flops_of_one
        >>> flops_of_one(100, 460, is_complex=False)
        1922
    """
    return int(np.dot(COMPLEX if is_complex else REAL, (nnz, n, 1)))


def gflops(run: Run) -> tuple[float, float]:
    """GFLOP/s of the iterations of a run: as if each right-hand side had a recurrence of its own, and counted from the
    lines of the method."""
    operator = run.setup.operator
    (n, _), is_complex = operator.shape, operator.dtype.kind == "c"
    separate = run.iterations * run.history.columns.shape[1] * flops_of_one(n, operator.nnz or 0, is_complex=is_complex)
    counted = sum(program.calls * program.flops for program in run.workspace.programs)
    seconds = 1e9 * max(run.iteration_seconds, 1e-9)
    return separate / seconds, counted / seconds


def _cost(problem: str, n: int, preconditioner: str, solver: str, columns: int) -> BlockCost:
    stopping = Stopping(rtol=1e-300)
    rhs = f"random:{columns}"
    run = Run(configure(problem, n=n, preconditioner=preconditioner, solver=solver, rhs=rhs, stopping=stopping))
    for _ in range(WARM_UP):
        run.step()
    made = step_calls(run)
    lines = [line for program, calls in made for line in program.lines for _ in range(calls)]
    applied = [line.operator for line in lines if isinstance(line, Application)]
    elements = run.workspace.size * columns
    held = {id(block) for name, block in run.workspace.vectors.items() if name != "B"}
    return BlockCost(
        solver=solver,
        columns=columns,
        with_a=applied.count("A"),
        with_m=applied.count("M"),
        grams=sum(isinstance(line, Dot) and not line.columnwise for line in lines),
        products=sum(line.text.count("@") for line in lines if isinstance(line, Formula)),
        reductions=sum(calls * _reductions(program) for program, calls in made),
        blocks=len(held),
        bytes=sum(calls * program.bytes for program, calls in made) / elements,
        flops=sum(calls * program.flops for program, calls in made) / elements,
    )


def step_calls(run: Run) -> list[tuple[BlockProgram, int]]:
    """Make one iteration; the programs of the run, and how often it called each."""
    before = [program.calls for program in run.workspace.programs]
    run.step()
    # Programs that this iteration was the first to need were called once.
    before += [0] * (len(run.workspace.programs) - len(before))
    return [(program, program.calls - past) for program, past in zip(run.workspace.programs, before, strict=True)]


def _reductions(program: BlockProgram) -> int:
    """Runs of dot products without another line between."""
    lines: Sequence[Line] = program.lines
    return sum(
        isinstance(line, Dot) and not (place and isinstance(lines[place - 1], Dot)) for place, line in enumerate(lines)
    )
