"""Whose fault it is when a run fails: dot products that must be positive, taken afresh, and what to look at first."""

from __future__ import annotations

import ast
from collections.abc import Callable

import numpy as np

from workbench.devices.lines.workspace import Workspace
from workbench.run.setting import Setting
from workbench.run.stopping import Reason
from workbench.solvers import Solver

DRIFTED = 0.1
"""A part of r in the span of Z above this share of ||r|| is to blame when a deflated run fails."""
_PERHAPS_THE_COARSE_SOLVE = (
    Reason.INDEFINITE,
    Reason.ROUNDING,
    Reason.DIVERGED,
    Reason.STAGNATED,
    Reason.INACCURATE,
)
_PERHAPS_THE_LINES = (Reason.NOT_FINITE, Reason.DIVERGED, Reason.STAGNATED)


def suspects(reason: Reason, setting: Setting, drifted: Callable[[], float], advice: str) -> str:
    """What to look at first when a run has ended like that, as more clauses of its sentence; empty for nothing.

    drifted: measures ||Z^H r|| / ||r||, only where it may be to blame. advice: of the coarse solver.
    """
    told = []
    if setting.solver.own_lines and reason in _PERHAPS_THE_LINES:
        told.append("the lines are your own, so check them first")
    if setting.projection and reason in _PERHAPS_THE_COARSE_SOLVE:
        if (share := drifted()) > DRIFTED:
            told.append(f"||Z^T r||, which should be 0, is {share:.0%} of ||r|| and stalls convergence")
        told += [advice] if advice else []
    return "".join(f"; {clause}" for clause in told)


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
