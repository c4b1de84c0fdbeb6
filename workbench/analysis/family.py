"""What an iteration of each solver costs, counted from its lines: nothing here is typed by hand.

Products, updates and reductions are the method's own, read from its general text. Vectors, sweeps and bytes are those
of the program that the planner makes of it for a preconditioner, on a small problem; on stencils they do not depend on
the size, and the bytes of an assembled matrix follow its entries a row.
"""

from __future__ import annotations

import ast
import dataclasses

import numpy as np

from workbench import registry
from workbench.devices.lines.dependence import waiting
from workbench.devices.lines.kinds import infer_vectors
from workbench.devices.lines.language import Application, Formula, parse
from workbench.errors import InputError
from workbench.operators import Stencil, as_operator
from workbench.problems import LinearSystem
from workbench.registry import unknown_name
from workbench.run import configure
from workbench.run.setup import SolveSetup, prepare
from workbench.run.traffic import planning_workspace
from workbench.solvers import Solver


@dataclasses.dataclass(frozen=True)
class Cost:
    """One iteration of one solver.

    with_a, with_m: products with A and M. updates: vector lines with arithmetic. reductions: how many
    must follow one another; hidden: for each the operators that can work meanwhile. vectors: stored beside b, x
    included. sweeps: over memory, products included. bytes_per_unknown: read and written, flops_per_unknown: real
    floating-point operations, A and M included in both.
    """

    solver: str
    title: str
    with_a: int
    with_m: int
    updates: int
    reductions: int
    hidden: tuple[tuple[str, ...], ...]
    vectors: int
    sweeps: int
    bytes_per_unknown: float
    flops_per_unknown: float

    @property
    def overlap(self) -> str:
        """What can go on during the reductions, in words."""
        return "; ".join(" + ".join(_counted(names)) or "-" for names in self.hidden)


PRECISIONS = ("float64", "float32", "complex128", "complex64")
HEADINGS = ("solver", "A", "M", "updates", "reductions", "overlap with", "vectors", "sweeps", "bytes")


def family(
    problem: str = "poisson7", n: int = 8, preconditioner: str = "jacobi", precision: str = "float64"
) -> list[Cost]:
    """The cost of every registered solver for a problem of n unknowns per side, the least traffic first.

    Those that share work between two devices are left out. Plans programs and runs none. Raises InputError for unknown
    names.
    """
    if precision not in PRECISIONS:
        raise InputError(unknown_name("precision", precision, PRECISIONS))
    chosen = configure(problem, n=n, preconditioner=preconditioner)
    setting = prepare(chosen, _in_precision(chosen.problem.assemble(0), np.dtype(precision)))
    solvers = [solver() for solver in registry.registered("solver").values() if issubclass(solver, Solver)]
    costs = [cost(solver, setting) for solver in solvers if not solver.needs_accelerator]
    return sorted(costs, key=lambda cost: (cost.bytes_per_unknown, cost.solver))


def cost(solver: Solver, setting: SolveSetup) -> Cost:
    """The cost of an iteration of a solver on a system that is set up."""
    lines = parse(solver.iterate)
    vectors = infer_vectors(lines, ())
    applied = [line.operator for line in lines if isinstance(line, Application)]
    waits = waiting(solver.iterate)
    # What the solver itself compiles makes its vectors; a second workspace has the two programs to look at.
    space, other = planning_workspace(setting), planning_workspace(setting)
    solver.iterates(space)
    _, iterate = other.lines(*solver.texts(other))
    return Cost(
        solver=solver.name,
        title=solver.title,
        with_a=applied.count("A"),
        with_m=applied.count("M"),
        updates=sum(isinstance(line, Formula) and line.target in vectors and _computes(line) for line in lines),
        reductions=waits.reductions,
        hidden=waits.hidden,
        vectors=1 + len(space.added),
        sweeps=iterate.passes,
        bytes_per_unknown=iterate.bytes / space.size,
        flops_per_unknown=iterate.flops / space.size,
    )


def table(costs: list[Cost]) -> list[tuple[str, ...]]:
    """The rows under `HEADINGS`."""
    return [
        (
            row.solver,
            *(str(value) for value in (row.with_a, row.with_m, row.updates, row.reductions)),
            row.overlap,
            *(str(value) for value in (row.vectors, row.sweeps)),
            f"{row.bytes_per_unknown:.0f}",
        )
        for row in costs
    ]


def _counted(names: tuple[str, ...]) -> list[str]:
    """Each name once, with how often it is there."""
    return [f"{names.count(name)} {name}" if names.count(name) > 1 else name for name in sorted(set(names))]


def _computes(line: Formula) -> bool:
    return any(isinstance(node, ast.BinOp) for node in ast.walk(line.expression))


def _in_precision(system: LinearSystem, dtype: np.dtype) -> LinearSystem:
    operator = system.operator
    if isinstance(operator, Stencil):
        lower = tuple(band.astype(dtype) for band in operator.lower)
        return dataclasses.replace(system, operator=Stencil(operator.shape_of_grid, operator.main.astype(dtype), lower))
    return dataclasses.replace(system, operator=as_operator(operator.to_csr().astype(dtype)))
