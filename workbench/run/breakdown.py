"""Whether a breakdown is the matrix's fault: the dot products that must be positive, taken afresh."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.run.setting import Setting


def measured_energies(setting: Setting, gathered: Callable[[str], Any]) -> tuple[float, float] | None:
    """(p, A p) and (r, M^-1 r) of a recurrence's vectors, with new products; None where it stores neither.

    gathered: a whole vector of the recurrence by its name, None where it has none. Methods without p go along u, and
    Lanczos vectors v are multiples of r. Costs a product with each operator.
    """
    p = next((found for name in ("p", "u") if (found := gathered(name)) is not None), None)
    r = next((found for name in ("r", "v") if (found := gathered(name)) is not None), None)
    if p is None or r is None:
        return None
    space = setting.device.workspace(
        setting.b.size, setting.b.dtype, vectors={"p": p, "r": r}, operators={"A": setting.A, "M": setting.M}
    )
    (measure,) = space.lines("s = A(p)\nenergy = (p, s)\nu = M(r)\ngamma = (r, u)")
    measure()
    return float(np.real(space.scalar("energy"))), float(np.real(space.scalar("gamma")))
