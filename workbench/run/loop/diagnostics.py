"""Measurements on the vectors of a run: true residuals, x of the original system, norms of a right-hand side."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from workbench.arrays.scaling import in_range, scaled_scalar
from workbench.devices.interchange import array_of
from workbench.devices.operator_protocols import DeviceVector
from workbench.errors import InputError
from workbench.run.choices.stopping import Norm
from workbench.run.loop.best import BestIterates
from workbench.run.loop.energy import energy_norm
from workbench.run.setup.right_hand_side import unscaled
from workbench.run.setup.solve_setup import SolveSetup
from workbench.words.numbers import relative

if TYPE_CHECKING:
    from workbench.devices.programs.named_vectors import NamedVectors

PRESENT, BEST, ZERO, START = range(4)
"""The vectors that may be returned where a run fails."""


class References(NamedTuple):
    """Reference values of the stopping test of a column, in the scaled system.

    scale: the reference of rtol. norm_of_b: ||b||. removed: the norm of what was removed from b.
    """

    scale: float
    norm_of_b: float
    atol: float
    removed: float


class Diagnostics:
    """Measurements at the present x of one right-hand side, and by column where `BlockDiagnostics` has many.

    x: on the device. residual: b - A x as last computed; the only memory.
    """

    stored_residual: ClassVar[str] = "r"
    """The name of the residual in the workspace of a recurrence that stores it."""

    def __init__(self, setup: SolveSetup) -> None:
        self._setup, self._projection = setup, setup.projection
        self.right_hand_sides, self.x = setup.b, setup.x
        self._exponents, self._removed = [setup.exponent], [setup.removed]
        """As in `SolveSetup`, by column."""
        self._is_solution = False
        """True once x is the solution itself, whatever the variant."""
        self.verified: tuple[DeviceVector, np.ndarray] | None = None
        """The result of `_verified`, until x is changed."""
        # Block vectors of residuals are the method's.
        self.residual: DeviceVector = None if setup.sides else setup.device.zeros(setup.b.size, setup.b.dtype)

    @property
    def columns(self) -> int:
        """The number of right-hand sides."""
        return len(self._exponents)

    def release(self) -> None:
        """Drop all references to memory of the device."""
        self.x = self.right_hand_sides = self.residual = self._projection = self.verified = None

    @property
    def solver_b(self) -> DeviceVector:
        """The right-hand side of the system that the solver iterates on."""
        return self._setup.solver_b

    def b(self, column: int) -> DeviceVector:
        """A right-hand side, shape (N,)."""
        return self._taken(self.right_hand_sides, column)

    def solver_system(self, column: int) -> tuple[DeviceVector, DeviceVector]:
        """The right-hand side of the system that the solver iterates on, and its iterate, shape (N,)."""
        return self._taken(self.solver_b, column), self._taken(self.x, column)

    def solution(self, x: DeviceVector = None) -> DeviceVector:
        """The solution of the scaled system for the present iterates or others: x itself, or Q b + P^T x of a variant
        that iterates on the projected system, which the next call may overwrite."""
        x = self._setup.device.whole(self.x if x is None else x)
        if self._is_solution or not (self._projection and self._setup.variant.projects_system):
            return x
        finished = self._copy(x)
        self._projection.recover_solution(finished, self.right_hand_sides)
        return finished

    @functools.cached_property
    def norms_of_b(self) -> np.ndarray:
        """||b||, shape (s,)."""
        return np.array([self._setup.device.norm(self._setup.b)])

    def references(self, norm: Norm, atol: float) -> list[References]:
        """Reference values of the stopping test in a norm, at the start of a run.

        Cost: one product with M, or with A. Raises InputError if the preconditioned or natural norm of b is zero or
        overflows.
        """
        return [
            References(self._reference(norm, length), length, scaled_scalar(atol, -exponent), removed)
            for length, exponent, removed in zip(self.norms_of_b.tolist(), self._exponents, self._removed, strict=True)
        ]

    def begin_at(self, x: DeviceVector) -> None:
        """Let x be the start of another recurrence: the solution of this iterate, projected as at the first start.

        Its component in the null space of A is removed, whose rounding error in A x has the size of A.
        """
        setup, self.verified = self._setup, None
        # The last reference to the x before, whose memory may be needed.
        self.x = setup.x = x
        solution = self.solution()
        x, _ = setup.null_space.complement(self._copy(x) if solution is x else solution, setup.device)
        # In mixed precision the recurrence does it.
        if setup.projection and setup.variant.projects_start and setup.product is setup.bound:
            setup.projection.recover_solution(x, setup.b)
        self.x = setup.x = x

    def true_residuals(self, x: DeviceVector = None) -> np.ndarray:
        """||b - A x|| recomputed, for the present iterates or others.

        Cost: one application of A, and that of `solution`.
        """
        return self._residuals(self.solution(x))

    def verified_residuals(self) -> np.ndarray:
        """||b - A x|| for the x that is returned, of which `ColumnState.bound` is certain."""
        return self._verified()[1]

    def returned_x(self) -> np.ndarray:
        """x of the original system in host memory, orthogonal to the null space of A.

        On the CPU the run's own array where that is the solution.
        """
        return self._in_host_memory(self._returned())

    def returned(self) -> tuple[Any, np.ndarray]:
        """The x that is returned, and ||b - A x|| of the scaled system for this very x."""
        solution, residuals = self._verified()
        return self._as_given(solution), residuals

    def norms_of_residuals(self, norm: Norm, sizes: Sequence[float]) -> Sequence[float]:
        """A norm of the vector in `residual`, whose length is `sizes`. Cost: one product with M, unless the norm is its
        length; for the error nothing is known, and the result is 0."""
        if norm is Norm.RESIDUAL or not math.isfinite(sizes[0]):
            return sizes
        return [0.0 if norm is Norm.ERROR else self._norm_with_m(self.residual, norm)]

    def error_norm(self) -> float:
        """sqrt((e, A e)) for e = x* - x. Cost: one application of A; leaves A e = b - A x in `residual`."""
        setup = self._setup
        assert setup.exact is not None
        self.true_residuals()
        error = setup.device.copy(self.solution())
        setup.device.subtract_from(setup.exact, error)
        return energy_norm(error, self.residual, setup.device)

    def take_best(self, kept: BestIterates, iteration: int, done: Sequence[bool]) -> list[tuple[int, str, float]]:
        """Let x be the vector with the smallest true residual: the present iterate, the best so far, zero or x0.

        Returns the columns that were changed, the name of x there, and its true residual. done: columns that stay.
        """
        starts, of_b = self._starts(), self.norms_of_b
        of_starts = of_b if starts is None else self._residuals(starts)
        norms = np.stack([self.true_residuals(self.x), self.true_residuals(kept.x), of_b, of_starts])
        norms[~np.isfinite(norms)] = np.inf
        chosen = np.where(done, PRESENT, norms.argmin(axis=0))
        changed = np.flatnonzero(chosen != PRESENT).tolist()
        if changed:
            self._choose(chosen, kept.x, starts)
        names = {ZERO: "0", START: "x0"}
        said = [names.get(chosen[j], f"that of iteration {at}") for j, at in enumerate(kept.iterations)]
        return [(j, said[j], float(norms[chosen[j], j])) for j in changed]

    def _choose(self, chosen: np.ndarray, best: DeviceVector, starts: DeviceVector) -> None:
        """Let x be the candidates that are chosen by column. starts: x0, None where it is zero."""
        setup = self._setup
        if (chosen == PRESENT).any() and (solution := self.solution()) is not self.x:
            setup.device.assign(self.x, solution)
        found = {START: starts}
        if (chosen == BEST).any():
            found[BEST] = self.solution(best)
        for j in np.flatnonzero(chosen != PRESENT).tolist():
            vectors = found.get(chosen[j])
            column = setup.device.zeros(setup.b.size, setup.b.dtype) if vectors is None else self._taken(vectors, j)
            self.x = self._put(column, self.x, j)
        self._is_solution, self.verified = True, None

    def drift(self, workspace: NamedVectors[Any]) -> np.ndarray:
        """||Z^H r||, which is zero but for rounding; NaN in variants where it is not, where r may be any vector, and
        for a method that does not store r.

        workspace: of the recurrence. Cost: one read of r.
        """
        setup, r = self._setup, workspace.vectors.get(self.stored_residual)
        if not self._projection or r is None or setup.solver.has_user_lines or not setup.variant.keeps_z_orthogonal:
            return np.full(self.columns, np.nan)
        return np.atleast_1d(self._projection.drift(r))

    def _verified(self) -> tuple[DeviceVector, np.ndarray]:
        """The solution to return, and ||b - A x|| for it; infinite for an x that overflows where it is scaled back."""
        if self.verified is None:
            solution = self._returned()
            found = self._residuals(solution)
            self.verified = solution, np.where(np.isfinite(found), found, np.inf)
        return self.verified

    def make_product(self) -> None:
        """Leave A x in `residual`."""
        self._setup.bound.apply(self.solution(), self.residual)

    def _returned(self) -> DeviceVector:
        """The solution as `SolveSetup.returned` gives it.

        Iterates may lose their component in the null space of A: no recurrence depends on it.
        """
        x = self.solution()
        for j, exponent in enumerate(self._scales):
            if self._setup.null_space or exponent:
                x = self._put(self._setup.returned(self._taken(x, j), exponent), x, j)
        return x

    @property
    def _scales(self) -> Sequence[int]:
        """The exponents of columns that scaling may round."""
        return self._exponents

    def _in_host_memory(self, solution: DeviceVector) -> np.ndarray:
        """A solution of the scaled system as one of the original system."""
        return unscaled(self._setup.device.to_host(solution), self._exponents)

    def _as_given(self, solution: DeviceVector) -> DeviceVector:
        """A solution of the original system: in host memory; a CuPy array where b is a vector of the user in the memory
        of the device."""
        setup = self._setup
        if setup.sides or setup.exponent or not setup.device.holds(setup.system.given_b):
            return self._in_host_memory(solution)
        x = array_of(setup.device.copy(solution))
        setup.device.synchronize()
        return x

    def _taken(self, vectors: DeviceVector, column: int) -> DeviceVector:
        """One of some vectors, shape (N,); the only one itself."""
        return vectors

    def _put(self, vector: DeviceVector, vectors: DeviceVector, column: int) -> DeviceVector:
        """Some vectors with another one in a column; the only one itself."""
        return vector

    def _copy(self, x: DeviceVector) -> DeviceVector:
        """x in other memory."""
        return self._setup.device.copy(x)

    def _residuals(self, solution: DeviceVector) -> np.ndarray:
        """||b - A x||; leaves b - A x in `residual`."""
        setup = self._setup
        setup.bound.apply(solution, self.residual)
        setup.device.subtract_from(setup.b, self.residual)
        return np.array([setup.device.norm(self.residual)])

    def _starts(self) -> DeviceVector:
        """x0 of the scaled system; None where it is zero."""
        return None if self._setup.start is None else self._setup.device.to_device(self._setup.start)

    def _reference(self, norm: Norm, length: float) -> float:
        """A norm of b, whose length is known."""
        if norm is Norm.RESIDUAL:
            return length
        if norm is Norm.ERROR:
            return self.error_norm()
        reference = self._norm_with_m(self._setup.b, norm)
        # The recurrence has its square.
        if length > 0 and not 0 < reference * reference < math.inf:
            raise InputError(
                f"the {norm.value} norm of b is {relative(reference)}, whose square under- or overflows, though "
                f"||b|| = {relative(length)}; measure with norm residual, or scale A by a power of two"
            )
        return reference

    def _norm_with_m(self, vector: DeviceVector, norm: Norm) -> float:
        """The preconditioned or the natural norm of a vector."""
        setup = self._setup
        space = setup.device.workspace(setup.b.size, setup.b.dtype, vectors={"b": vector}, operators={"M": setup.M})
        (measure,) = space.lines("u = M(b)\nbu = (b, u)\nuu = (u, u)")
        measure()
        square = abs(space.scalar("uu" if norm is Norm.PRECONDITIONED else "bu"))
        if in_range(square):
            return math.sqrt(square)
        # u is kept where another program reads it.
        make, _ = space.lines("u = M(b)", "uu = (u, u)")
        make()
        u = space.vector("u")
        return setup.device.norm(u) if norm is Norm.PRECONDITIONED else energy_norm(vector, u, setup.device)
