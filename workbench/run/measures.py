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
    """Measurements on the vectors of a setting, at the present x. residual: b - A x as last computed, shape (N,)."""

    def __init__(self, setting: SolveSetup) -> None:
        self._setting = setting
        self.residual: Any = setting.device.zeros(setting.b.size, setting.b.dtype)

    def true_residual(self, x: Any = None) -> float:
        """||b - A x|| recomputed, for the present iterate or another one; leaves b - A x in `residual`.

        Cost: one product with A, and what it takes to make x of an iterate.
        """
        setting = self._setting
        setting.bound.apply(setting.solution(setting.x if x is None else x), self.residual)
        setting.device.subtract_from(setting.b, self.residual)
        return setting.device.norm(self.residual)

    def verified_residual(self) -> float:
        """||b - A x|| for the x that is returned, but at least the rounding error of b - A x.

        In a system of a few unknowns all entries of b - A x may come out as zero, though x is only correct to rounding.
        """
        unit_roundoff = float(np.finfo(self._setting.b.dtype).eps) / 2
        return max(self.returned_residual(), unit_roundoff * self._setting.device.norm(self._setting.b))

    def returned_x(self) -> np.ndarray:
        """x of the system that was given, shape (N,), in host memory; with zero mean where it is defined up to that.

        On the CPU device the run's own array where it is the solution.
        """
        setting = self._setting
        x = setting.device.to_host(setting.solution(setting.x))
        if setting.singular:
            x = x - x.mean()
        return scaled(x, setting.exponent) if setting.exponent else x

    def returned_residual(self) -> float:
        """||b - A x|| for x as it is once it has been scaled back, which rounds where it leaves the normal numbers."""
        setting = self._setting
        if not setting.exponent:
            return self.true_residual()
        returned = scaled(self.returned_x(), -setting.exponent)
        if not np.isfinite(returned).all():
            return math.inf
        setting.bound.apply(setting.device.array(returned, returned.dtype), self.residual)
        setting.device.subtract_from(setting.b, self.residual)
        return setting.device.norm(self.residual)

    def error_norm(self) -> float:
        """sqrt((e, A e)) for e = x* - x. Cost: one product with A; leaves A e = b - A x in `residual`."""
        setting = self._setting
        assert setting.exact is not None
        self.true_residual()
        error = setting.device.copy(setting.solution(setting.x))
        setting.device.subtract_from(setting.exact, error)
        # Where the error is nothing but rounding, its product with b - A x may have either sign.
        return math.sqrt(abs(np.real(setting.device.vdot(error, self.residual))))

    def drift(self, workspace: Any) -> float:
        """||Z^H r||, which the variant keeps at zero but for rounding; NaN where it does not, or r may be anything.

        workspace: of the recurrence. Cost: reading r once.
        """
        setting = self._setting
        known = "r" in workspace.vectors and not setting.solver.has_user_lines and setting.variant.keeps_z_orthogonal
        if setting.projection is None or not known:
            return math.nan
        return setting.projection.drift(workspace.vectors["r"])

    def references(self, norm: Norm) -> tuple[float, float]:
        """What rtol is relative to in a norm, at the start of a run, and ||b||. Cost: one product with M, or with A.

        Raises InputError where M maps b to a vector whose norm is zero or overflows, which measures nothing.
        """
        setting = self._setting
        plain = setting.device.norm(setting.b)
        if norm is Norm.RESIDUAL:
            return plain, plain
        if norm is Norm.ERROR:
            return self.error_norm(), plain
        space = setting.device.workspace(
            setting.b.size, setting.b.dtype, vectors={"b": setting.b}, operators={"M": setting.M}
        )
        (measure,) = space.lines("u = M(b)\nbu = (b, u)\nuu = (u, u)")
        measure()
        square = abs(space.scalar("uu" if norm is Norm.PRECONDITIONED else "bu"))
        if plain > 0 and not 0 < square < math.inf:
            raise InputError(
                f"the {norm.value} norm of b is {math.sqrt(square):.3g}, though ||b|| = {plain:.3g}; "
                "measure with norm residual, or scale A by a power of two"
            )
        return math.sqrt(square), plain
