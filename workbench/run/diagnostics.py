"""Measurements on the vectors of a run: true residual, A-norm of the error, drift, reference norms of rtol."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from workbench.devices.interchange import array_of
from workbench.devices.operator_protocols import DeviceVector
from workbench.errors import InputError
from workbench.run.best import BestIterates
from workbench.run.setup import SolveSetup
from workbench.run.stopping import Norm
from workbench.scaling import scaled


class Diagnostics:
    """Measurements at the present x. residual: b - A x as last computed, shape (N,), on the device; the only memory."""

    columns = 1
    stored_residual: ClassVar[str] = "r"
    """The name of the residual in the workspace of a recurrence that stores it."""

    def __init__(self, setup: SolveSetup) -> None:
        self._setup = setup
        self._projection: Any = setup.projection
        self.residual: DeviceVector = setup.device.zeros(setup.b.size, setup.b.dtype)

    def release(self) -> None:
        """Drop all references to memory of the device."""
        self.residual = self._projection = None

    def true_residual(self, x: DeviceVector = None) -> float:
        """||b - A x|| recomputed, for the present iterate or another one; leaves b - A x in `residual`.

        Cost: one application of A, and that of `SolveSetup.solution`.
        """
        return self.residual_of(self._setup.solution(self._setup.x if x is None else x))

    def residual_of(self, solution: DeviceVector) -> float:
        """||b - A x|| for a solution x, which need not be an iterate; leaves b - A x in `residual`."""
        setup = self._setup
        setup.bound.apply(solution, self.residual)
        setup.device.subtract_from(setup.b, self.residual)
        return setup.device.norm(self.residual)

    # What the stopping test asks for, by column.

    @property
    def x(self) -> DeviceVector:
        """The present iterate."""
        return self._setup.x

    def b(self, column: int) -> DeviceVector:
        return self._setup.b

    def solver_system(self, column: int) -> tuple[DeviceVector, DeviceVector]:
        """The right-hand side of the system that the solver iterates on, and its iterate."""
        return self._setup.solver_b, self._setup.x

    def true_residuals(self, x: DeviceVector = None) -> np.ndarray:
        """||b - A x|| by column, for the present iterates or others."""
        return np.array([self.true_residual(x)])

    def verified_residuals(self) -> np.ndarray:
        """||b - A x|| for the x that is returned, but at least the rounding error of b - A x, by column.

        In a system of a few unknowns b - A x may be computed as exactly zero, though x is correct only to rounding.
        """
        unit_roundoff = float(np.finfo(self._setup.b.dtype).eps) / 2
        return np.maximum(self.returned_residuals(), unit_roundoff * self.norms_of_b())

    def returned_residuals(self) -> np.ndarray:
        """||b - A x|| for the x that is returned, by column."""
        return np.array([self._returned_residual(self._returned())])

    def norms_of_b(self) -> np.ndarray:
        """||b|| by column."""
        return np.array([self._setup.device.norm(self._setup.b)])

    def take_best(self, kept: BestIterates, iteration: int, done: Sequence[bool]) -> list[tuple[int, str, float]]:
        """Let x be what has the smallest true residual: the present iterate, the best so far, zero or x0.

        Returns the columns that were changed, what x is there, and its true residual. done: columns that stay.
        """
        starts, of_b = self._starts(), self.norms_of_b()
        of_starts = of_b if starts is None else self._residuals_of(starts)
        norms = np.stack([self.true_residuals(self.x), self.true_residuals(kept.x), of_b, of_starts])
        norms[~np.isfinite(norms)] = np.inf
        chosen = np.where(done, 0, norms.argmin(axis=0))
        if chosen.any():
            self._choose(chosen, kept.x, starts)
        said = [("", f"that of iteration {at}", "0", "x0")[chosen[j]] for j, at in enumerate(kept.iterations)]
        return [(j, said[j], float(norms[chosen[j], j])) for j in np.flatnonzero(chosen).tolist()]

    def _starts(self) -> Any:
        """x0, None where it is zero."""
        return None if self._setup.start is None else self._setup.device.to_device(self._setup.start)

    def _residuals_of(self, solutions: Any) -> np.ndarray:
        return np.array([self.residual_of(solutions)])

    def _choose(self, chosen: np.ndarray, best: DeviceVector, starts: Any) -> None:
        """Let x be, by column, the present iterate (0), the best so far (1), zero (2) or x0 (3)."""
        setup, (which,) = self._setup, chosen
        setup.recovered = setup.recovered or which > 1
        zero = setup.device.zeros(setup.b.size, setup.b.dtype) if which == 2 else None
        setup.x = (setup.x, best, zero, starts)[which]

    def returned_x(self) -> np.ndarray:
        """x of the original system, shape (N,), in host memory, orthogonal to the null space of A.

        On the CPU the run's own array where that is the solution.
        """
        return self._in_host_memory(self._returned())

    def returned(self) -> tuple[Any, Any]:
        """The x that is returned, and ||b - A x|| of the scaled system for this very vector.

        x is in host memory; a CuPy array where b is a vector of the user in the memory of the device.
        """
        setup, solution = self._setup, self._returned()
        residual = self._returned_residual(solution)
        if setup.exponent or not setup.device.holds(setup.system.b):
            return self._in_host_memory(solution), residual
        x = array_of(setup.device.copy(solution))
        setup.device.synchronize()
        return x, residual

    def _returned_residual(self, solution: DeviceVector) -> float:
        """||b - A x||; infinite for an x that overflows where it is scaled back."""
        found = self.residual_of(solution)
        return found if math.isfinite(found) else math.inf

    def _returned(self) -> DeviceVector:
        setup = self._setup
        return setup.returned(setup.solution(setup.x), setup.exponent)

    def _in_host_memory(self, solution: DeviceVector) -> np.ndarray:
        x, exponent = self._setup.device.to_host(solution), self._setup.exponent
        return scaled(x, exponent) if exponent else x

    def error_norm(self) -> float:
        """sqrt((e, A e)) for e = x* - x. Cost: one application of A; leaves A e = b - A x in `residual`."""
        setup = self._setup
        assert setup.exact is not None
        self.true_residual()
        error = setup.device.copy(setup.solution(setup.x))
        setup.device.subtract_from(setup.exact, error)
        # Where the error is rounding alone, its product with b - A x may have either sign.
        return math.sqrt(abs(np.real(setup.device.vdot(error, self.residual))))

    def drift(self, workspace: Any) -> np.ndarray:
        """||Z^H r|| by column, which is zero but for rounding; NaN in variants where it is not, where r may be any
        vector, and for a method that does not store r.

        workspace: of the recurrence. Cost: one read of r.
        """
        setup, r = self._setup, workspace.vectors.get(self.stored_residual)
        if not self._projection or r is None or setup.solver.has_user_lines or not setup.variant.keeps_z_orthogonal:
            return np.full(self.columns, np.nan)
        return np.atleast_1d(self._projection.drift(r))

    def references(self, norm: Norm, atol: float) -> list[tuple[float, float, float, float]]:
        """The reference of rtol in a norm, at the start of a run, ||b||, atol and the norm of what was removed from b,
        of the scaled system. Cost: one product with M, or with A.

        Raises InputError if the preconditioned or natural norm of b is zero or overflows.
        """
        setup = self._setup
        plain = float(self.norms_of_b()[0])
        return [(self._reference(norm, plain), plain, setup.scaled_norm(atol), setup.removed)]

    def _reference(self, norm: Norm, plain: float) -> float:
        if norm is Norm.RESIDUAL:
            return plain
        if norm is Norm.ERROR:
            return self.error_norm()
        reference = self._norm_with_m(self._setup.b, norm)
        if plain > 0 and not 0 < reference < math.inf:
            raise InputError(
                f"the {norm.value} norm of b is {reference:.3g}, though ||b|| = {plain:.3g}; "
                "measure with norm residual, or scale A by a power of two"
            )
        return reference

    def norms_of_residuals(self, norm: Norm, sizes: Sequence[float]) -> Sequence[float]:
        """A norm of the vector in `residual`, whose length is `sizes`. Cost: one product with M, unless the norm is its
        length; for the error nothing is known, and the result is 0."""
        if norm is Norm.RESIDUAL or not math.isfinite(sizes[0]):
            return sizes
        return [0.0 if norm is Norm.ERROR else self._norm_with_m(self.residual, norm)]

    def _norm_with_m(self, vector: DeviceVector, norm: Norm) -> float:
        """The preconditioned or the natural norm of a vector."""
        setup = self._setup
        space = setup.device.workspace(setup.b.size, setup.b.dtype, vectors={"b": vector}, operators={"M": setup.M})
        (measure,) = space.lines("u = M(b)\nbu = (b, u)\nuu = (u, u)")
        measure()
        return math.sqrt(abs(space.scalar("uu" if norm is Norm.PRECONDITIONED else "bu")))
