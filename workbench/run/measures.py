"""What is measured of a run beside its recurrence: true residual, A-norm of the error, drift, what rtol refers to."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from workbench.run.setting import Setting
from workbench.run.stopping import Norm


class Measures:
    """Measurements on the vectors of a setting, at the present x. residual: b - A x as last computed, shape (N,)."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self.residual: Any = setting.device.zeros(setting.b.size, setting.b.dtype)

    def true_residual(self) -> float:
        """||b - A x|| computed afresh; leaves b - A x in `residual`. Cost: one product with A."""
        setting = self._setting
        setting.bound.apply(setting.solution(setting.x), self.residual)
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
        known = "r" in workspace.vectors and not setting.solver.own_lines and setting.variant.keeps_z_orthogonal
        if setting.projection is None or not known:
            return math.nan
        return setting.projection.drift(workspace.vectors["r"])

    def references(self, norm: Norm) -> tuple[float, float]:
        """What rtol is relative to in a norm, at the start of a run, and ||b||. Cost: one product with M, or with A."""
        setting = self._setting
        space = setting.device.workspace(
            setting.b.size, setting.b.dtype, vectors={"b": setting.b}, operators={"M": setting.M}
        )
        (measure,) = space.lines("u = M(b)\nbu = (b, u)\nuu = (u, u)\nbb = (b, b)")
        measure()
        plain = math.sqrt(abs(space.scalar("bb")))
        if norm is Norm.ERROR:
            return self.error_norm(), plain
        squares = {Norm.RESIDUAL: "bb", Norm.PRECONDITIONED: "uu", Norm.NATURAL: "bu"}
        return math.sqrt(abs(space.scalar(squares[norm]))), plain
