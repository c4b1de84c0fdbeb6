"""Measurements on the vectors of a run: true residual, A-norm of the error, drift, reference norms of rtol."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.devices.interchange import array_of
from workbench.devices.operator_protocols import DeviceVector
from workbench.devices.programs.workspace import Workspace
from workbench.errors import InputError
from workbench.run.best import BestIterates
from workbench.run.setup import SolveSetup
from workbench.run.stopping import Norm
from workbench.scaling import scaled


class Measures:
    """Measurements at the present x. residual: b - A x as last computed, shape (N,), on the device; the only memory."""

    def __init__(self, setup: SolveSetup) -> None:
        self._setup = setup
        self.residual: DeviceVector = setup.device.zeros(setup.b.size, setup.b.dtype)

    def release(self) -> None:
        """Drop all references to memory of the device."""
        self.residual = None

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

    def true_residuals(self, x: DeviceVector = None) -> list[float]:
        return [self.true_residual(x)]

    def verified_residuals(self) -> list[float]:
        """||b - A x|| for the x that is returned, but at least the rounding error of b - A x.

        In a system of a few unknowns b - A x may be computed as exactly zero, though x is correct only to rounding.
        """
        unit_roundoff = float(np.finfo(self._setup.b.dtype).eps) / 2
        return [max(self._returned_residual(self._returned()), unit_roundoff * self._setup.device.norm(self._setup.b))]

    def take_best(self, kept: BestIterates, iteration: int, done: Sequence[bool]) -> list[tuple[int, str, float]]:
        """Let x be what has the smallest true residual: the present iterate, the best so far, x0 or zero.

        Returns the columns that were changed, what x is there, and its true residual. done: columns that stay.
        """
        setup = self._setup
        present = self.true_residual()
        found = [(present if math.isfinite(present) else math.inf, "", setup.x)]
        if kept.iterations[0] != iteration:
            found.append((self.true_residual(kept.x), f"that of iteration {kept.iterations[0]}", kept.x))
        best, said, x = min((one for one in found if not math.isnan(one[0])), key=lambda one: one[0])
        start = None if setup.start is None else setup.device.to_device(setup.start)
        if start is not None and (residual := self.residual_of(start)) < best:
            best, said, x = residual, "x0", start
            setup.recovered = True
        if (norm_of_b := setup.device.norm(setup.b)) < best:
            best, said, x = norm_of_b, "0", setup.device.zeros(setup.b.size, setup.b.dtype)
            setup.recovered = True
        setup.x = x
        return [(0, said, best)] if said else []

    def returned_x(self) -> np.ndarray:
        """x of the original system, shape (N,), in host memory, orthogonal to the null space of A.

        On the CPU the run's own array where that is the solution.
        """
        return self._in_host_memory(self._returned())

    def returned(self) -> tuple[Any, float]:
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

    def drift(self, workspace: Workspace) -> Sequence[float]:
        """||Z^H r||, which is zero but for rounding; NaN in variants where it is not, and where r may be any vector.

        workspace: of the recurrence. Cost: one read of r.
        """
        setup = self._setup
        known = "r" in workspace.vectors and not setup.solver.has_user_lines and setup.variant.keeps_z_orthogonal
        if setup.projection is None or not known:
            return [math.nan]
        return [setup.projection.drift(workspace.vectors["r"])]

    def references(self, norm: Norm, atol: float) -> list[tuple[float, float, float, float]]:
        """The reference of rtol in a norm, at the start of a run, ||b||, atol and the norm of what was removed from b,
        of the scaled system. Cost: one product with M, or with A.

        Raises InputError if the preconditioned or natural norm of b is zero or overflows.
        """
        setup = self._setup
        plain = setup.device.norm(setup.b)
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

    def norms_of_residuals(self, norm: Norm, sizes: list[float]) -> list[float]:
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
