"""What is measured of a run beside its recurrence: true residual, A-norm of the error, drift, what rtol refers to."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from workbench.errors import InputError
from workbench.run.setup import SolveSetup
from workbench.run.stopping import Norm
from workbench.scaling import scaled


class Measures:
    """Measurements on the vectors of a setup, at the present x. residual: b - A x as last computed, shape (N,)."""

    def __init__(self, setup: SolveSetup) -> None:
        self._setup = setup
        self.residual: Any = setup.device.zeros(setup.b.size, setup.b.dtype)

    def true_residual(self, x: Any = None) -> float:
        """||b - A x|| recomputed, for the present iterate or another one; leaves b - A x in `residual`.

        Cost: one product with A, and what it takes to make x of an iterate.
        """
        setup = self._setup
        setup.bound.apply(setup.solution(setup.x if x is None else x), self.residual)
        setup.device.subtract_from(setup.b, self.residual)
        return setup.device.norm(self.residual)

    def verified_residual(self) -> float:
        """||b - A x|| for the x that is returned, but at least the rounding error of b - A x.

        In a system of a few unknowns all entries of b - A x may come out as zero, though x is only correct to rounding.
        """
        unit_roundoff = float(np.finfo(self._setup.b.dtype).eps) / 2
        return max(self.returned_residual(), unit_roundoff * self._setup.device.norm(self._setup.b))

    def returned_x(self) -> np.ndarray:
        """x of the system that was given, shape (N,), in host memory; with zero mean where it is defined up to that.

        On the CPU device the run's own array where it is the solution.
        """
        setup = self._setup
        x = setup.device.to_host(setup.solution(setup.x))
        if setup.singular:
            x = x - x.mean()
        return scaled(x, setup.exponent) if setup.exponent else x

    def returned_residual(self) -> float:
        """||b - A x|| for x as it is once it has been scaled back, which rounds where it leaves the normal numbers."""
        setup = self._setup
        if not setup.exponent:
            return self.true_residual()
        returned = scaled(self.returned_x(), -setup.exponent)
        if not np.isfinite(returned).all():
            return math.inf
        setup.bound.apply(setup.device.array(returned, returned.dtype), self.residual)
        setup.device.subtract_from(setup.b, self.residual)
        return setup.device.norm(self.residual)

    def error_norm(self) -> float:
        """sqrt((e, A e)) for e = x* - x. Cost: one product with A; leaves A e = b - A x in `residual`."""
        setup = self._setup
        assert setup.exact is not None
        self.true_residual()
        error = setup.device.copy(setup.solution(setup.x))
        setup.device.subtract_from(setup.exact, error)
        # Where the error is nothing but rounding, its product with b - A x may have either sign.
        return math.sqrt(abs(np.real(setup.device.vdot(error, self.residual))))

    def drift(self, workspace: Any) -> float:
        """||Z^H r||, which the variant keeps at zero but for rounding; NaN where it does not, or r may be anything.

        workspace: of the recurrence. Cost: reading r once.
        """
        setup = self._setup
        known = "r" in workspace.vectors and not setup.solver.own_lines and setup.variant.keeps_z_orthogonal
        if setup.projection is None or not known:
            return math.nan
        return setup.projection.drift(workspace.vectors["r"])

    def references(self, norm: Norm) -> tuple[float, float]:
        """What rtol is relative to in a norm, at the start of a run, and ||b||. Cost: one product with M, or with A.

        Raises InputError where M maps b to a vector whose norm is zero or overflows, which measures nothing.
        """
        setup = self._setup
        plain = setup.device.norm(setup.b)
        if norm is Norm.RESIDUAL:
            return plain, plain
        if norm is Norm.ERROR:
            return self.error_norm(), plain
        space = setup.device.workspace(setup.b.size, setup.b.dtype, vectors={"b": setup.b}, operators={"M": setup.M})
        (measure,) = space.lines("u = M(b)\nbu = (b, u)\nuu = (u, u)")
        measure()
        square = abs(space.scalar("uu" if norm is Norm.PRECONDITIONED else "bu"))
        if plain > 0 and not 0 < square < math.inf:
            raise InputError(
                f"the {norm.value} norm of b is {math.sqrt(square):.3g}, though ||b|| = {plain:.3g}; "
                "measure with norm residual, or scale A by a power of two"
            )
        return math.sqrt(square), plain
