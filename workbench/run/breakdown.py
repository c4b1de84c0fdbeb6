"""Whether a breakdown is the matrix's fault: the dot products that must be positive, taken afresh."""

from __future__ import annotations

import ast

import numpy as np

from workbench.devices.lines.workspace import Workspace
from workbench.run.setting import Setting
from workbench.solvers import Solver


def measured_energies(setting: Setting, workspace: Workspace, solver: Solver) -> tuple[float, float] | None:
    """(d, A d) and (r, M^-1 r) with new products, for the direction and the residual that a solver names.

    None where the recurrence stores no residual; where it stores no u, u is M^-1 r. Costs a product with each operator.
    """
    direction, residual = solver.direction, solver.residual
    names = _names(direction) | _names(residual)
    vectors = {name: found for name in names if (found := workspace.gathered(name)) is not None}
    if not _names(residual) & set(vectors):
        return None
    scalars = [name for name in names if workspace.has_scalar(name)]
    operators = {"A": setting.A, "M": setting.M}
    space = Workspace(
        setting.device, setting.b.size, setting.b.dtype, vectors=vectors, scalars=scalars, operators=operators
    )
    for name in scalars:
        space.set_scalar(name, workspace.scalar(name))
    made = "u = g\n" if "u" in names - set(vectors) else ""
    (measure,) = space.lines(
        f"e = {residual}\ng = M(e)\nnatural = (e, g)\n{made}d = {direction}\nt = A(d)\nenergy = (d, t)"
    )
    measure()
    return float(np.real(space.scalar("energy"))), float(np.real(space.scalar("natural")))


def _names(formula: str) -> set[str]:
    return {node.id for node in ast.walk(ast.parse(formula)) if isinstance(node, ast.Name)}
