"""Measurements on the vectors of a run, by column: one right-hand side is a case of many."""

from __future__ import annotations

import abc
import enum
import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from workbench.arrays.scaling import scaled_scalar
from workbench.devices.operator_protocols import DeviceVector
from workbench.run.loop.best import BestIterates
from workbench.run.loop.stopping import Norm
from workbench.run.setup.right_hand_side import unscaled
from workbench.run.setup.solve_setup import SolveSetup

if TYPE_CHECKING:
    from workbench.devices.programs.named_vectors import NamedVectors


class References(NamedTuple):
    """Reference values of the stopping test of a column, in the scaled system.

    scale: the reference of rtol. norm_of_b: ||b||. removed: the norm of what was removed from b.
    """

    scale: float
    norm_of_b: float
    atol: float
    removed: float


class Candidate(enum.IntEnum):
    """The vectors that may be returned where a run fails."""

    PRESENT = 0
    BEST = 1
    ZERO = 2
    START = 3


class Diagnostics(abc.ABC):
    """Measurements at the present iterates x, on the device.

    b, x: shape (N,), or (N, s) for s columns. projection: in its form for x. exponents, removed: of each column, as in
    `SolveSetup`.
    """

    stored_residual: ClassVar[str]
    """The name of the residual in the workspace of a recurrence that stores it."""

    def __init__(
        self,
        setup: SolveSetup,
        b: DeviceVector,
        x: DeviceVector,
        projection: Any,
        exponents: Sequence[int],
        removed: Sequence[float],
    ) -> None:
        self._setup, self.right_hand_sides, self.x = setup, b, x
        self._projection, self._exponents, self._removed = projection, exponents, removed
        self.columns = len(exponents)
        self._is_solution = False
        """True once x is the solution itself, whatever the variant."""

    def release(self) -> None:
        """Drop all references to memory of the device."""
        self.x = self.right_hand_sides = self._projection = None

    @property
    @abc.abstractmethod
    def solver_b(self) -> DeviceVector:
        """The right-hand sides of the system that the solver iterates on."""

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
        return self._norms_of_b()

    def references(self, norm: Norm, atol: float) -> list[References]:
        """Reference values of the stopping test in a norm, at the start of a run.

        Cost: one product with M, or with A. Raises InputError if the preconditioned or natural norm of b is zero or
        overflows.
        """
        return [
            References(self._reference(norm, length), length, scaled_scalar(atol, -exponent), removed)
            for length, exponent, removed in zip(self.norms_of_b.tolist(), self._exponents, self._removed, strict=True)
        ]

    def _reference(self, norm: Norm, length: float) -> float:
        """A norm of b, whose length is known."""
        return length

    def norms_of_residuals(self, norm: Norm, sizes: Sequence[float]) -> Sequence[float]:
        """A norm of the b - A x that was measured last, whose length is `sizes`; the length itself by default."""
        return sizes

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

    def take_best(self, kept: BestIterates, iteration: int, done: Sequence[bool]) -> list[tuple[int, str, float]]:
        """Let x be the vector with the smallest true residual: the present iterate, the best so far, zero or x0.

        Returns the columns that were changed, the name of x there, and its true residual. done: columns that stay.
        """
        starts, of_b = self._starts(), self.norms_of_b
        of_starts = of_b if starts is None else self._residuals(starts)
        norms = np.stack([self.true_residuals(self.x), self.true_residuals(kept.x), of_b, of_starts])
        norms[~np.isfinite(norms)] = np.inf
        chosen = np.where(done, Candidate.PRESENT, norms.argmin(axis=0))
        changed = np.flatnonzero(chosen != Candidate.PRESENT).tolist()
        if changed:
            self._choose(chosen, kept.x, starts)
        names = {Candidate.ZERO: "0", Candidate.START: "x0"}
        said = [names.get(chosen[j], f"that of iteration {at}") for j, at in enumerate(kept.iterations)]
        return [(j, said[j], float(norms[chosen[j], j])) for j in changed]

    def _choose(self, chosen: np.ndarray, best: DeviceVector, starts: DeviceVector) -> None:
        """Let x be the candidates that are chosen by column. starts: x0, None where it is zero."""
        setup = self._setup
        if (chosen == Candidate.PRESENT).any() and (solution := self.solution()) is not self.x:
            setup.device.assign(self.x, solution)
        found = {Candidate.START: starts}
        if (chosen == Candidate.BEST).any():
            found[Candidate.BEST] = self.solution(best)
        for j in np.flatnonzero(chosen != Candidate.PRESENT).tolist():
            vectors = found.get(chosen[j])
            column = setup.device.zeros(setup.b.size, setup.b.dtype) if vectors is None else self._taken(vectors, j)
            self.x = self._put(column, self.x, j)
        self._is_solution = True

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
        """The solution to return, and ||b - A x|| for it."""
        solution = self._returned()
        return solution, self._finite_residuals(solution)

    def _finite_residuals(self, solution: DeviceVector) -> np.ndarray:
        """||b - A x||; infinite for an x that overflows where it is scaled back."""
        found = self._residuals(solution)
        return np.where(np.isfinite(found), found, np.inf)

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
        """A solution of the original system, perhaps in the memory of the device if b was given there."""
        return self._in_host_memory(solution)

    def _taken(self, vectors: DeviceVector, column: int) -> DeviceVector:
        """One of some vectors, shape (N,); the only one itself."""
        return vectors

    def _put(self, vector: DeviceVector, vectors: DeviceVector, column: int) -> DeviceVector:
        """Some vectors with another one in a column; the only one itself."""
        return vector

    @abc.abstractmethod
    def _norms_of_b(self) -> np.ndarray:
        """||b||, by column."""

    @abc.abstractmethod
    def _copy(self, x: DeviceVector) -> DeviceVector:
        """x in other memory."""

    @abc.abstractmethod
    def _residuals(self, solution: DeviceVector) -> np.ndarray:
        """||b - A x|| for solutions x, which need not be iterates."""

    @abc.abstractmethod
    def _starts(self) -> DeviceVector:
        """x0 of the scaled system; None where it is zero."""
