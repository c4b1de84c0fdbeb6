"""Whether a breakdown is the matrix's fault: the dot products that must be positive, taken afresh."""

from __future__ import annotations

import ast

import numpy as np

from workbench.devices.lines.workspace import Workspace
from workbench.run.setting import Setting


def measured_energies(setting: Setting, workspace: Workspace, direction: str) -> tuple[float, float] | None:
    """(d, A d) and (r, M^-1 r) with new products; None where the recurrence stores no residual.

    direction: d as a formula of what the workspace holds. Where u is not stored it is M^-1 r, and Lanczos vectors v are
    multiples of r. Costs a product with each operator.
    """
    r = next((found for name in ("r", "v") if (found := workspace.gathered(name)) is not None), None)
    if r is None:
        return None
    names = {node.id for node in ast.walk(ast.parse(direction)) if isinstance(node, ast.Name)}
    vectors = {"r": r} | {name: found for name in names if (found := workspace.gathered(name)) is not None}
    scalars = [name for name in names if workspace.has_scalar(name)]
    operators = {"A": setting.A, "M": setting.M}
    space = Workspace(
        setting.device, setting.b.size, setting.b.dtype, vectors=vectors, scalars=scalars, operators=operators
    )
    for name in scalars:
        space.set_scalar(name, workspace.scalar(name))
    made = "u = g\n" if "u" in names - set(vectors) else ""
    (measure,) = space.lines(f"g = M(r)\ngamma = (r, g)\n{made}d = {direction}\ns = A(d)\nenergy = (d, s)")
    measure()
    return float(np.real(space.scalar("energy"))), float(np.real(space.scalar("gamma")))
