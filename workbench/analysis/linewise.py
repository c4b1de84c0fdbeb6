"""A method line by line: the values after any line of any iteration, by the reference interpreter in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.analysis.coarse_levels import Observed, Removal
from workbench.errors import InputError
from workbench.lines.interpret import evaluate_line
from workbench.lines.parse import parse
from workbench.lines.shapes import infer
from workbench.lines.types import Line
from workbench.operators import BoundOperator
from workbench.preconditioners import ElementWise
from workbench.run import Configuration
from workbench.run.setup import SolveSetup, assembled, prepare
from workbench.run.single.diagnostics import SingleDiagnostics
from workbench.run.vector_files import asks_for_blocks

LARGEST = 10_000
"""Unknowns: the vectors of every iteration are kept."""
Values = dict[str, Any]
"""Vectors, shape (N,), and scalars by name. No array in it is ever changed."""


class Walk:
    """The start and the iterations of a configuration's solver, made one by one by `advance`.

    start, iterate: its general text for one right-hand side, line by line; lines that run in some iterations alone come
    last, see `skips`. Under deflation A and b are those that the solver sees, P A and P b.
    Keeps the vectors that hold after each iteration, N words each. Raises InputError for solvers that do more than
    run their lines (`Solver.not_stepped`), for several right-hand sides, and for more than 10000 unknowns.
    """

    def __init__(self, configuration: Configuration) -> None:
        solver = configuration.solver
        if solver.not_stepped:
            raise InputError(f"solver {solver.name} has no lines to step through: it {solver.not_stepped}")
        self.configuration = configuration
        system = assembled(configuration)
        if asks_for_blocks(configuration, system):
            raise InputError(
                f"stepping takes one right-hand side, and rhs {configuration.rhs} has several; choose another"
            )
        unknowns = system.operator.shape[0]
        # Before the setup, which for a large system takes far longer than the matrix.
        if unknowns > LARGEST:
            raise InputError(f"stepping keeps every vector, so it takes up to {LARGEST} unknowns, not {unknowns}")
        self.setup: SolveSetup = prepare(configuration, system)
        self._measures = SingleDiagnostics(self.setup)
        texts = solver.stepped(self.setup.b.dtype)
        self._always = len(parse(texts.iterate))
        self.start, self.iterate = parse(texts.start), parse(f"{texts.iterate}\n{texts.replace}")
        self._shapes = infer((*self.start, *self.iterate), ("b", "x"))
        self._operators = {"A": self._function(self.setup.A), "M": self._function(_applied(self.setup, self.setup.M))}
        to_host = self.setup.device.to_host
        self._start: Values = {"b": to_host(self.setup.solver_b).copy(), "x": to_host(self.setup.x).copy()}
        self._ends: list[Values] = []
        self._inside: tuple[int, list[Values]] = (-1, [])
        self._observed: Observed | None = None
        self.advance()

    @property
    def iterations(self) -> int:
        """Iterations made."""
        return len(self._ends) - 1

    @property
    def broken_down(self) -> bool:
        """The last iteration found no direction of positive curvature, or no residual that M measures as positive."""
        last, sized = self._ends[-1], np.abs if self.configuration.solver.complex_symmetric else np.real
        return self.iterations > 0 and not (sized(last["delta"]) > 0 and sized(last["gamma"]) > 0)

    @property
    def optional(self) -> int:
        """How many lines at the end of an iteration run only where `due` < 0."""
        return len(self.iterate) - self._always

    def skips(self, iteration: int, line: int) -> bool:
        """Whether a line, counted from 1, does not run in this iteration."""
        return iteration > 0 and line > self._always and not np.real(self.after(iteration, self._always)["due"]) < 0

    def lines(self, iteration: int) -> tuple[Line, ...]:
        """The lines of an iteration; iteration 0 is the start."""
        return self.iterate if iteration else self.start

    def advance(self) -> None:
        """Make one more iteration."""
        self._ends.append(self._run(len(self._ends))[-1])

    def after(self, iteration: int, lines: int) -> Values:
        """What holds after so many lines of an iteration that was made. Cost: the lines of that iteration, once."""
        if self._inside[0] != iteration:
            self._inside = iteration, self._run(iteration)
        return self._inside[1][lines]

    def residuals(self, iteration: int) -> tuple[float, float]:
        """||r|| by the recurrence and ||b - A x|| recomputed, after an iteration. Cost: a product."""
        values, setup = self._ends[iteration], self.setup
        x = setup.device.array(values["x"].copy(), values["x"].dtype)
        product = self._function(setup.bound)(setup.device.to_host(self._measures.solution(x)))
        recomputed = float(np.linalg.norm(setup.device.to_host(setup.b) - product))
        with np.errstate(invalid="ignore"):
            return float(np.sqrt(np.real(values["rr"]))), recomputed

    @property
    def has_levels(self) -> bool:
        """The coarse system of the preconditioner is solved on levels, which can be observed."""
        projection = self.setup.projection
        return projection is not None and projection.levels is not None

    def removal(self, x: np.ndarray) -> Removal:
        """What M and each level remove from the error of x, in one application to b - A x. Cost: see `Observed`, whose
        factors are made the first time."""
        A = self._function(self.setup.bound)
        if self._observed is None:
            first_level = self._function(_applied(self.setup, self.setup.first_level))
            self._observed = Observed(self.setup, A, first_level)
        return self._observed.apply(self.setup.device.to_host(self.setup.b) - A(x))

    def _run(self, iteration: int) -> list[Values]:
        """What holds before the first line of an iteration, and after each of them."""
        held = [dict(self._ends[iteration - 1] if iteration else self._start)]
        for place, line in enumerate(self.lines(iteration)):
            values = dict(held[-1])
            if iteration and place >= self._always and not np.real(held[self._always]["due"]) < 0:
                held.append(values)
                continue
            evaluate_line(line, self._shapes, values, self._operators)
            held.append(values)
        return held

    def _function(self, operator: BoundOperator) -> Callable[[np.ndarray], np.ndarray]:
        """An operator of the device as a function of NumPy arrays."""
        device = self.setup.device

        def apply(v: np.ndarray) -> np.ndarray:
            out = device.zeros(v.size, v.dtype)
            operator.apply(device.array(v, v.dtype), out)
            return device.to_host(out).copy()

        return apply


def _applied(setup: SolveSetup, M: BoundOperator | ElementWise) -> BoundOperator:
    b = setup.b
    return setup.device.applied(M, b.size, b.dtype) if isinstance(M, ElementWise) else M
