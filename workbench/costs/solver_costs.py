"""The cost of one iteration of each solver, counted from its lines rather than entered by hand.

Products, updates and reductions are those of the method's general text. Vectors, passes and bytes are those of the
fused program for one preconditioner, planned on a small problem. For stencils they do not depend on the size; for
an assembled matrix the bytes depend on the entries per row.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from workbench import registry
from workbench.errors import InputError
from workbench.lines.dependence import waiting
from workbench.lines.parse import parse
from workbench.lines.shapes import infer_vectors
from workbench.lines.types import Application, Binary, Formula, walk
from workbench.operators import Stencil, as_operator
from workbench.problems import LinearSystem
from workbench.registry import unknown_name
from workbench.run import configure
from workbench.run.loop.traffic import planning_workspace
from workbench.run.setup.prepare import prepare
from workbench.run.setup.solve_setup import SolveSetup
from workbench.solvers import Solver
from workbench.solvers.block.base import BlockSolver


@dataclasses.dataclass(frozen=True)
class Cost:
    """The cost of one iteration of one solver.

    with_a, with_m: applications of A and M. updates: vector updates with arithmetic. reductions: synchronization
    points, the longest chain of dependent reductions; hidden: for each the operators that can overlap with it. vectors:
    stored in addition to b, x included. passes: over memory, products included. bytes_per_unknown: read and written.
    flops_per_unknown: real floating-point operations. Bytes and flops include A and M.

    Examples:
        >>> from workbench.costs import solver_costs
        >>> {cost.solver: cost.reductions for cost in solver_costs("poisson5") if cost.solver in ("cg", "pipecg")}
        {'cg': 2, 'pipecg': 1}
    """

    solver: str
    title: str
    with_a: int
    with_m: int
    updates: int
    reductions: int
    hidden: tuple[tuple[str, ...], ...]
    vectors: int
    passes: int
    bytes_per_unknown: float
    flops_per_unknown: float

    @property
    def overlap(self) -> str:
        """The operators that can overlap with each reduction, as text."""
        return "; ".join(" + ".join(_counted(names)) or "-" for names in self.hidden)


@dataclasses.dataclass(frozen=True)
class LineCounts:
    """with_a, with_m: applications of A and M. updates: vector updates with arithmetic."""

    with_a: int
    with_m: int
    updates: int


PRECISIONS = ("float64", "float32", "complex128", "complex64")
HEADINGS = ("solver", "A", "M", "updates", "reductions", "overlap with", "vectors", "passes", "bytes")


def solver_costs(
    problem: str = "poisson7", n: int = 8, preconditioner: str = "jacobi", precision: str = "float64"
) -> list[Cost]:
    """Costs of the registered solvers for one device, for a problem with n unknowns per side, least traffic first.

    Methods for many right-hand sides are counted by `block_costs`. Programs are planned but not run. Raises InputError
    for unknown names.

    Examples:
        >>> from workbench.costs import solver_costs
        >>> costs = solver_costs("poisson5", preconditioner="neumann:2")
        >>> next(cost.bytes_per_unknown for cost in costs if cost.solver == "cg")
        136.0
    """
    if precision not in PRECISIONS:
        raise InputError(unknown_name("precision", precision, PRECISIONS))
    chosen = configure(problem, n=n, preconditioner=preconditioner)
    setup = prepare(chosen, _in_precision(chosen.problem.assemble(0), np.dtype(precision)))
    solvers = [solver() for solver in registry.registered("solver").values() if issubclass(solver, Solver)]
    counted = [solver for solver in solvers if solver.in_family and not isinstance(solver, BlockSolver)]
    costs = [solver_cost(solver, setup) for solver in counted]
    return sorted(costs, key=lambda cost: (cost.bytes_per_unknown, cost.solver))


def solver_cost(solver: Solver, setup: SolveSetup) -> Cost:
    """The cost of one iteration of a solver for a given setup."""
    counts, waits = line_counts(solver.iterate), waiting(solver.iterate)
    # Vectors are allocated when the solver compiles its lines in one workspace; programs are inspected in a second one.
    space, other = planning_workspace(setup), planning_workspace(setup)
    solver.iterates(space)
    _, iterate = other.lines(*solver.texts(other))
    return Cost(
        solver=solver.name,
        title=solver.title,
        with_a=counts.with_a,
        with_m=counts.with_m,
        updates=counts.updates,
        reductions=waits.reductions,
        hidden=waits.hidden,
        vectors=1 + len(space.added),
        passes=iterate.passes,
        bytes_per_unknown=iterate.bytes / space.size,
        flops_per_unknown=iterate.flops / space.size,
    )


def line_counts(iterate: str) -> LineCounts:
    """Counts of products and updates in the lines of an iteration, without a plan. Raises InputError for other text."""
    lines = parse(iterate)
    vectors = infer_vectors(lines, ())
    applied = [line.operator for line in lines if isinstance(line, Application)]
    updates = sum(isinstance(line, Formula) and line.target in vectors and _computes(line) for line in lines)
    return LineCounts(applied.count("A"), applied.count("M"), updates)


def table(costs: list[Cost]) -> list[tuple[str, ...]]:
    """Table rows under `HEADINGS`."""
    return [
        (
            row.solver,
            *(str(value) for value in (row.with_a, row.with_m, row.updates, row.reductions)),
            row.overlap,
            *(str(value) for value in (row.vectors, row.passes)),
            f"{row.bytes_per_unknown:.0f}",
        )
        for row in costs
    ]


def _counted(names: tuple[str, ...]) -> list[str]:
    """Each name once, preceded by its count if it occurs more than once."""
    return [f"{names.count(name)} {name}" if names.count(name) > 1 else name for name in sorted(set(names))]


def _computes(line: Formula) -> bool:
    return any(isinstance(node, Binary) for node in walk(line.expression))


def _in_precision(system: LinearSystem, dtype: np.dtype) -> LinearSystem:
    operator = system.operator
    if operator.dtype == dtype:
        return system
    if isinstance(operator, Stencil):
        return dataclasses.replace(system, operator=operator.astype(dtype))
    return dataclasses.replace(system, operator=as_operator(operator.to_csr().astype(dtype)))
