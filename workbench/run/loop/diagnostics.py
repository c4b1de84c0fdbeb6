"""Measurements on the vectors of a run: what one right-hand side and many have in common."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from workbench.devices.operator_protocols import DeviceVector
from workbench.run.choices.stopping import Norm
from workbench.run.loop.best import BestIterates
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


class Diagnostics(abc.ABC):
    """Measurements at the present iterates x, by column; x is on the device, of shape (N,), or (N, s) for s columns.

    columns: the number of right-hand sides. projection: in its form for x.
    """

    stored_residual: ClassVar[str]
    """The name of the residual in the workspace of a recurrence that stores it."""

    def __init__(self, setup: SolveSetup, columns: int, projection: Any) -> None:
        self._setup, self.columns = setup, columns
        self._projection = projection
        self._is_solution = False
        """True once x is the solution itself, whatever the variant."""

    @property
    @abc.abstractmethod
    def x(self) -> DeviceVector:
        """The present iterates."""

    @property
    @abc.abstractmethod
    def right_hand_sides(self) -> DeviceVector:
        """b of the scaled system, of the shape of x."""

    @abc.abstractmethod
    def release(self) -> None:
        """Drop all references to memory of the device."""

    @abc.abstractmethod
    def b(self, column: int) -> DeviceVector:
        """A right-hand side, shape (N,)."""

    @abc.abstractmethod
    def solver_system(self, column: int) -> tuple[DeviceVector, DeviceVector]:
        """The right-hand side of the system that the solver iterates on, and its iterate, shape (N,)."""

    def solution(self, x: DeviceVector = None) -> DeviceVector:
        """The solution of the scaled system for the present iterates or others: x itself, or Q b + P^T x of a variant
        that iterates on the projected system, which the next call may overwrite."""
        x = self._setup.device.whole(self.x if x is None else x)
        if self._is_solution or not (self._projection and self._setup.variant.projects_system):
            return x
        finished = self._copy(x)
        self._projection.recover_solution(finished, self.right_hand_sides)
        return finished

    @abc.abstractmethod
    def norms_of_b(self) -> np.ndarray:
        """||b||."""

    @abc.abstractmethod
    def references(self, norm: Norm, atol: float) -> list[References]:
        """Reference values of the stopping test in a norm, at the start of a run.

        Cost: one product with M, or with A. Raises InputError if the preconditioned or natural norm of b is zero or
        overflows.
        """

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
        starts, of_b = self._starts(), self.norms_of_b()
        of_starts = of_b if starts is None else self._residuals(starts)
        norms = np.stack([self.true_residuals(self.x), self.true_residuals(kept.x), of_b, of_starts])
        norms[~np.isfinite(norms)] = np.inf
        chosen = np.where(done, 0, norms.argmin(axis=0))
        if chosen.any():
            self._choose(chosen, kept.x)
        said = [("", f"that of iteration {at}", "0", "x0")[chosen[j]] for j, at in enumerate(kept.iterations)]
        return [(j, said[j], float(norms[chosen[j], j])) for j in np.flatnonzero(chosen).tolist()]

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

    @abc.abstractmethod
    def _copy(self, x: DeviceVector) -> DeviceVector:
        """x in other memory."""

    @abc.abstractmethod
    def _residuals(self, solution: DeviceVector) -> np.ndarray:
        """||b - A x|| for solutions x, which need not be iterates."""

    @abc.abstractmethod
    def _returned(self) -> DeviceVector:
        """The solution as `SolveSetup.returned` gives it."""

    @abc.abstractmethod
    def _in_host_memory(self, solution: DeviceVector) -> np.ndarray:
        """A solution of the scaled system as one of the original system."""

    def _as_given(self, solution: DeviceVector) -> DeviceVector:
        """A solution of the original system, perhaps in the memory of the device if b was given there."""
        return self._in_host_memory(solution)

    @abc.abstractmethod
    def _starts(self) -> DeviceVector:
        """x0 of the scaled system; None where it is zero."""

    @abc.abstractmethod
    def _choose(self, chosen: np.ndarray, best: DeviceVector) -> None:
        """Let x be, by column, the present iterate (0), the best so far (1), zero (2) or x0 (3)."""
