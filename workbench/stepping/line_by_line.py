"""Line-by-line execution of a solver: the values after any line of any iteration, by the reference interpreter in
NumPy; for teaching, not for speed.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from workbench.devices.clock import ACCELERATOR
from workbench.devices.pair.decomposition import rows_for_share
from workbench.errors import InputError
from workbench.operators import BoundOperator
from workbench.preconditioners import ElementWise
from workbench.run import Configuration
from workbench.run.choices.configuration import asks_for_blocks
from workbench.run.choices.rules import traits_of
from workbench.run.loop.block.diagnostics import BlockDiagnostics
from workbench.run.loop.diagnostics import Diagnostics
from workbench.run.setup.prepare import assembled, prepare
from workbench.run.setup.right_hand_side import columns_of
from workbench.run.setup.solve_setup import SolveSetup
from workbench.solvers.block.base import BlockRow, BlockSolver
from workbench.solvers.hybrid.base import HybridSolver
from workbench.solvers.hybrid.hybrid3 import Hybrid3
from workbench.solvers.multi.kept_terms import KeptTerms
from workbench.solvers.pipecg import PipelinedCG
from workbench.stepping.coarse_levels import Observed, Removal
from workbench.stepping.step_spaces import PairSpace, SplitSpace, StepLine, StepSpace, Values

if TYPE_CHECKING:
    from workbench.devices.operator_protocols import DeviceVector


LARGEST = 10_000
"""Unknowns times right-hand sides: the vectors of every iteration are kept."""
HALF = 0.5
"""The accelerator's share of the non-zeros in hybrid 3 where none is given, since nothing is measured here."""


class Walk:
    """The start and the iterations of a configuration's solver, made one by one by `advance`.

    The solver's own recurrence runs, on the cores, so that the lines are those of a run without restarts; their number
    may differ from iteration to iteration. Under deflation A and b are those that the solver sees, P A and P b. Of
    several right-hand sides those whose residual meets the tolerance keep their x, as in a run.

    columns: right-hand sides. frozen: those that have met the tolerance. scale: ||b_j||. limits: ||r_j|| that meets it.
    rows: those that the cores have in hybrid 3. breakdown: why the method has broken down, else empty.
    Keeps what every line makes, N words per vector and right-hand side. Raises InputError for solvers without lines
    (`Solver.not_stepped`), and for more than 10000 unknowns, counted for every right-hand side.
    """

    def __init__(self, configuration: Configuration) -> None:
        solver = configuration.solver
        if solver.not_stepped:
            raise InputError(f"solver {solver.name} has no lines to step through: it {solver.not_stepped}")
        self.configuration = configuration
        system = assembled(configuration)
        unknowns = system.operator.shape[0]
        # Before the setup, which for a large system takes far longer than the matrix.
        if unknowns > LARGEST:
            raise InputError(f"stepping keeps every vector, so it takes up to {LARGEST} unknowns, not {unknowns}")
        blocks = solver.takes_blocks and asks_for_blocks(configuration, system)
        self.columns = columns_of(configuration, system).shape[1] if blocks else 1
        if unknowns * self.columns > LARGEST:
            raise InputError(
                f"stepping keeps every vector, so it takes up to {LARGEST} unknowns for all right-hand sides together, "
                f"not {self.columns} times {unknowns}; take fewer cells or columns"
            )
        if isinstance(solver, HybridSolver):
            solver.check_levels(traits_of(configuration))
            configuration = dataclasses.replace(configuration, solver=PipelinedCG())
        self.setup: SolveSetup = prepare(dataclasses.replace(configuration, device="cpu"), system)
        self.rows = 0
        self.breakdown = ""
        self._steps: list[tuple[StepLine, Values]] = []
        sides = self.setup.sides
        self._measures = BlockDiagnostics(self.setup, sides) if sides else Diagnostics(self.setup)
        self.space = self._made_space()
        self.scale: np.ndarray = self._measures.norms_of_b
        stopping = configuration.stopping
        atol = np.ldexp(stopping.atol, -(sides.exponents if sides else self.setup.exponent))
        self.limits: np.ndarray = np.maximum(stopping.rtol * self.scale, atol)
        self.frozen = np.zeros(self.columns, bool)
        given = {name: np.array(vector) for name, vector in self.space.vectors.items()}
        one = {name.lower(): vector.reshape(-1) for name, vector in given.items()}
        self._start: Values = one if self.columns == 1 else given
        self._ends: list[Values] = []
        self._lines: list[list[tuple[StepLine, Values]]] = []
        self._norms: list[np.ndarray] = []
        self._observed: Observed | None = None
        self._states = self._recurrence()
        self.advance()

    @property
    def iterations(self) -> int:
        """Iterations made."""
        return len(self._ends) - 1

    @property
    def completed(self) -> int:
        """Iterations made, without one that ended at a line that cannot run."""
        return self.iterations - any(line.ends for line in self.lines(self.iterations))

    @property
    def broken_down(self) -> bool:
        """The last iteration found no direction of positive curvature, or no residual that M measures as positive."""
        return bool(self.breakdown)

    @property
    def ended(self) -> bool:
        """No iteration can follow: the method has broken down, or all of several right-hand sides are solved."""
        return self.broken_down or bool(self.frozen.all())

    @property
    def directions(self) -> KeptTerms | None:
        """Terms and directions of a multipreconditioned method as they are after the last iteration that was made."""
        return self.space.operators.get("D")

    def lines(self, iteration: int) -> tuple[StepLine, ...]:
        """The lines that an iteration has run; iteration 0 is the start."""
        return tuple(line for line, _ in self._lines[iteration])

    def advance(self) -> None:
        """Make one more iteration."""
        self._steps = []
        with np.errstate(all="ignore"):
            norms, self.breakdown = next(self._states)
        self._lines.append(self._steps)
        # A column that has ended has the residual of its end.
        self._norms.append(np.where(self.frozen, self._norms[-1], norms) if self._norms else norms)
        before = self._ends[-1] if self._ends else self._start
        self._ends.append(before | {name: value for _, changes in self._steps for name, value in changes.items()})
        if self.columns > 1:
            self.frozen |= norms <= self.limits

    def after(self, iteration: int, lines: int) -> Values:
        """The values after the first `lines` lines of an iteration that was made."""
        held = dict(self._ends[iteration - 1] if iteration else self._start)
        for _, changes in itertools.islice(self._lines[iteration], lines):
            held |= changes
        return held

    def residuals(self, iteration: int) -> tuple[np.ndarray, np.ndarray]:
        """||r_j|| by the recurrence and ||b_j - A x_j|| recomputed, after an iteration, shape (s,). Cost: a product."""
        return self._norms[iteration], self._measures.true_residuals(self.iterate(iteration).copy())

    def iterate(self, iteration: int) -> np.ndarray:
        """x after an iteration, shape (N,), or (N, s)."""
        return self._ends[iteration]["X" if self.columns > 1 else "x"]

    @property
    def has_levels(self) -> bool:
        """The coarse system of the preconditioner is solved on levels, which can be observed."""
        projection = self.setup.projection
        return projection is not None and projection.levels is not None and self.columns == 1

    def removal(self, x: np.ndarray) -> Removal:
        """The parts of the error of x that M and each level remove, in one application to b - A x. Cost: see
        `Observed`, whose factors are made the first time."""
        A = self._function(self.setup.bound)
        if self._observed is None:
            first_level = self._function(_applied(self.setup, self.setup.first_level))
            self._observed = Observed(self.setup, A, first_level)
        return self._observed.apply(self.setup.device.to_host(self.setup.b) - A(x))

    def _record(self, line: StepLine, changes: Values) -> None:
        self._steps.append((line, changes))

    def _made_space(self) -> StepSpace:
        """The workspace of the recurrence."""
        solver, setup, measures = self.configuration.solver, self.setup, self._measures
        device, dtype, size = setup.device, np.dtype(setup.b.dtype), setup.b.size
        operators = {"A": setup.A, "M": setup.M}
        if isinstance(solver, BlockSolver):
            made = isinstance(measures, BlockDiagnostics)
            B, X = (
                (measures.solver_b, measures.x)
                if made
                else (device.as_block(v) for v in (setup.solver_b, device.copy(setup.x)))
            )
            vectors = {"B": B, "X": X}
            space = StepSpace(
                device, size, dtype, self._record, vectors=vectors, operators=operators, columns=self.columns
            )
            if made:
                measures.keep_residuals_in(device.zero_block(size, self.columns, dtype))
            return space
        vectors = {"b": setup.solver_b, "x": device.copy(setup.x)}
        if not isinstance(solver, HybridSolver):
            return StepSpace(device, size, dtype, self._record, vectors=vectors, operators=operators)
        kind = SplitSpace if isinstance(solver, Hybrid3) else PairSpace
        space = kind(device, size, dtype, self._record, vectors=vectors, operators=operators, lane=ACCELERATOR)
        if isinstance(space, SplitSpace):
            assert isinstance(solver, Hybrid3)
            space.matrix = setup.operator.to_csr()
            wanted = rows_for_share(space.matrix.indptr, solver.share or HALF)
            space.rows = self.rows = min(max(wanted, 1), size - 1)
        return space

    def _recurrence(self) -> Iterator[tuple[np.ndarray, str]]:
        """||r_j|| after the start and each iteration, and why no iteration can follow; empty if one can."""
        solver, space = self.configuration.solver, self.space
        if isinstance(solver, BlockSolver):
            for row in solver.block_iterates(space, self.frozen):  # pyright: ignore[reportArgumentType]
                yield row.norms, self._stuck_block(row)
            return
        sized = np.abs if solver.complex_symmetric else np.real
        for _ in solver.iterates(space):
            values = {name: value for _, changes in self._steps for name, value in changes.items()}
            norms = np.sqrt(np.atleast_1d(np.real(values["rr"])))
            # The start has no direction yet.
            stuck = bool(self._ends) and not (sized(values["delta"]) > 0 and sized(values["gamma"]) > 0)
            yield norms, "δ or γ is not positive" if stuck else ""

    def _stuck_block(self, row: BlockRow) -> str:
        if row.breakdown:
            return row.breakdown
        going = ~self.frozen
        positive = row.curvature > 0 and bool((row.gamma[going] > 0).all())
        return "" if positive or not self._ends else "Pᴴ A P or γ is not positive definite"

    def _function(self, operator: BoundOperator) -> Callable[[np.ndarray], np.ndarray]:
        """An operator as a function of NumPy arrays."""
        device = self.setup.device

        def apply(v: np.ndarray) -> np.ndarray:
            out: DeviceVector = device.zeros(v.size, v.dtype)
            operator.apply(device.array(v, v.dtype), out)
            return device.to_host(out).copy()

        return apply


def _applied(setup: SolveSetup, M: BoundOperator | ElementWise) -> BoundOperator:
    b = setup.b
    return setup.device.applied(M, b.size, b.dtype) if isinstance(M, ElementWise) else M


@dataclasses.dataclass(frozen=True)
class Value:
    """The value that a line assigned: the real part of a scalar, or the Frobenius norm of a vector or matrix."""

    text: str
    name: str
    value: float
    is_vector: bool


@dataclasses.dataclass(frozen=True, eq=False)
class Moment:
    """The state after one iteration: values of its lines, vectors and matrices, scalars, and the largest ||r|| and
    ||b - A x|| of all right-hand sides."""

    values: tuple[Value, ...]
    vectors: dict[str, np.ndarray]
    scalars: dict[str, float]
    recurrence: float
    true_residual: float


def walk(configuration: Configuration, iterations: int, rtol: float = 0.0) -> list[Moment]:
    """The states after the start and after each of up to `iterations` iterations; fewer if the solver breaks down, or
    where ||r|| is at most rtol ||b|| for every right-hand side.

    Memory: one vector of N words per name and iteration. Raises InputError as `line_by_line.Walk` does.
    """
    steps = Walk(configuration)
    limits = rtol * steps.scale
    while steps.iterations < iterations and not steps.ended:
        if limits.any() and (steps.residuals(steps.iterations)[0] <= limits).all():
            break
        steps.advance()
    return [_moment(steps, iteration) for iteration in range(steps.iterations + 1)]


def difference(one: Moment, other: Moment, name: str) -> float:
    """The relative difference ||v - w||/||v|| of a vector or scalar; NaN unless both states have one of this name and
    shape."""
    for first, second in ((one.vectors, other.vectors), (one.scalars, other.scalars)):
        if name in first and name in second and np.shape(first[name]) == np.shape(second[name]):
            norm = float(np.linalg.norm(first[name]))
            distance = float(np.linalg.norm(np.subtract(first[name], second[name])))
            return distance / norm if norm > 0 else (0.0 if distance == 0 else np.inf)
    return np.nan


def orthogonality(moments: Sequence[Moment]) -> np.ndarray | None:
    """|(r_i, u_j)| over the roots of (r_i, u_i) and (r_j, u_j) for all pairs of k states, shape (k, k); u = M^-1 r.

    Without rounding errors it is the identity. None for a method that has no r, or several right-hand sides.
    Cost: 2 N k^2 flops.
    """
    if any(name not in each.vectors or each.vectors[name].ndim > 1 for each in moments for name in ("r", "u")):
        return None
    R, U = (np.array([each.vectors[name] for each in moments]) for name in ("r", "u"))
    products = np.abs(R.conj() @ U.T)
    scale = np.sqrt(np.diag(products))
    with np.errstate(all="ignore"):
        return products / scale / scale[:, None]


def _moment(steps: Walk, iteration: int) -> Moment:
    line_values = []
    for number, line in enumerate(steps.lines(iteration), 1):
        if line.target:
            value = steps.after(iteration, number)[line.target]
            is_vector = bool(np.ndim(value))
            size = float(np.linalg.norm(value)) if is_vector else float(np.real(value))
            line_values.append(Value(line.text, line.target, size, is_vector))
    values = steps.after(iteration, len(steps.lines(iteration)))
    vectors = {name: np.array(value) for name, value in values.items() if np.ndim(value)}
    scalars = {name: float(np.real(value)) for name, value in values.items() if not np.ndim(value)}
    recurrence, true = (float(norms.max()) for norms in steps.residuals(iteration))
    return Moment(tuple(line_values), vectors, scalars, recurrence, true)
