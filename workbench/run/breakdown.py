"""Breakdown diagnosis: dot products that must be positive, recomputed, and what to look at first.

(d, A d) <= 0 alone does not prove that A is indefinite: rounding makes it so for a definite matrix too, where the
direction comes from a recurrence or (d, A d) is below the rounding error of its own computation. So both energies are
recomputed with A itself and the first level itself, and A is blamed only for a value that rounding cannot explain.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable

import numpy as np

from workbench.devices.lines.workspace import Workspace
from workbench.errors import InputError
from workbench.operators import Box, Operator, Stencil
from workbench.run.setup import SolveSetup
from workbench.run.stopping import Reason
from workbench.solvers import Solver

DRIFTED = 0.1
"""A part of r in the span of Z above this share of ||r|| is to blame when a deflated run fails."""
UNKNOWN_NORM = 100
"""||A d|| / ||d|| bounds ||A|| from below only; where the entries are not known, ||A|| counts as this times larger."""
_PERHAPS_THE_COARSE_SOLVE = (
    Reason.INDEFINITE,
    Reason.INDEFINITE_M,
    Reason.ROUNDING,
    Reason.DIVERGED,
    Reason.STAGNATED,
    Reason.INACCURATE,
)
_PERHAPS_THE_FIRST_LEVEL = (Reason.INDEFINITE_M, Reason.ROUNDING, Reason.DIVERGED, Reason.STAGNATED)
_PERHAPS_THE_LINES = (Reason.NOT_FINITE, Reason.DIVERGED, Reason.STAGNATED)


def suspects(reason: Reason, setting: SolveSetup, drifted: Callable[[], float], advice: str) -> str:
    """What to look at first when a run has ended like that, as more clauses of its sentence; empty for nothing.

    drifted: measures ||Z^H r|| / ||r||, only where it may be to blame. advice: of the coarse solver.
    """
    found = []
    if setting.solver.has_user_lines and reason in _PERHAPS_THE_LINES:
        found.append("the lines are your own, so check them first")
    if reason in _PERHAPS_THE_FIRST_LEVEL and (blamed := _first_level(setting)):
        found.append(blamed)
    if setting.projection and reason in _PERHAPS_THE_COARSE_SOLVE:
        if (share := drifted()) > DRIFTED:
            found.append(f"||Z^T r||, which should be 0, is {share:.0%} of ||r|| and stalls convergence")
        found += [advice] if advice else []
    return "".join(f"; {clause}" for clause in found)


def _first_level(setting: SolveSetup) -> str:
    """What proves that a multigrid cycle is not positive definite, and what to do; empty for every other first level.

    Measured on r = b - A x as the solver sees it: (r, M^-1 r) <= 0 is about M alone. Costs a product with A and M each.
    """
    M = setting.first_level
    if not getattr(M, "suspect", ""):
        return ""
    device, r = setting.device, setting.device.zeros(setting.b.size, setting.b.dtype)
    setting.A.apply(setting.x, r)
    device.subtract_from(setting.seen_b, r)
    u = device.zeros(setting.b.size, setting.b.dtype)
    M.apply(r, u)
    energy = float(np.real(device.vdot(r, u)))
    if not energy <= 0:
        return ""
    return f"(r, M^-1 r) = {energy:.3g} for r = b - A x, so {M.suspect}, not A, is not positive definite: {M.remedy}"


@dataclasses.dataclass(frozen=True)
class Energy:
    """A dot product that is positive for a definite operator, and the rounding error of computing it."""

    value: float
    error: float

    @property
    def shows_indefinite(self) -> bool:
        """Rounding cannot explain it."""
        return self.value <= -self.error


@dataclasses.dataclass(frozen=True)
class Diagnosis:
    """(d, A d) and (r, M^-1 r), recomputed; None where the recurrence stores no such vector."""

    a: Energy | None
    m: Energy | None

    @property
    def reason(self) -> Reason:
        """Which of A, M and rounding is to blame."""
        if self.a is not None and self.a.shows_indefinite:
            return Reason.INDEFINITE
        if self.m is not None and self.m.shows_indefinite:
            return Reason.INDEFINITE_M
        return Reason.ROUNDING

    def __str__(self) -> str:
        known = (("(p, A p)", self.a), ("(r, M^-1 r)", self.m))
        return " and ".join(f"{name} = {energy.value:.6g}" for name, energy in known if energy is not None)


def diagnose(setting: SolveSetup, workspace: Workspace) -> Diagnosis:
    """Recompute the energies of the direction and the residual that a solver names.

    Under deflation the direction is measured as it is and projected, as the solver's P A sees it, and the lower value
    counts; M is the first level alone. Cost: up to three products with A and two with M.
    """
    solver = setting.solver
    space = _vectors_of(setting, workspace, solver)
    if space is None:
        return Diagnosis(None, None)
    return Diagnosis(_energy_of_a(setting, space), _energy_of_m(setting, space))


def _vectors_of(setting: SolveSetup, workspace: Workspace, solver: Solver) -> Workspace | None:
    """A workspace with the direction d and the residual e, None where the recurrence stores neither."""
    direction, residual = solver.direction, solver.residual
    names = _names(direction) | _names(residual)
    vectors = {name: found for name in names if (found := workspace.gathered(name)) is not None}
    if not _names(residual) & set(vectors):
        return None
    scalars = [name for name in names if workspace.has_scalar(name)]
    operators = {"A": setting.bound, "M": setting.M, "F": setting.first_level}
    space = Workspace(
        setting.device, setting.b.size, setting.b.dtype, vectors=vectors, scalars=scalars, operators=operators
    )
    for name in scalars:
        space.set_scalar(name, workspace.scalar(name))
    made = "g = M(e)\nu = g\n" if "u" in names - set(vectors) else ""
    (measure,) = space.lines(
        f"e = {residual}\n{made}f = F(e)\nef = (e, f)\nee = (e, e)\nff = (f, f)\n"
        f"d = {direction}\nt = A(d)\ndt = (d, t)\ndd = (d, d)\ntt = (t, t)"
    )
    measure()
    return space


def _energy_of_a(setting: SolveSetup, space: Workspace) -> Energy | None:
    found = [tuple(float(np.real(space.scalar(name))) for name in ("dt", "dd", "tt"))]
    if setting.projection is not None:
        device = setting.device
        d = device.copy(space.vector("d"))
        setting.projection.project_transposed(d)
        t = device.zeros(setting.b.size, setting.b.dtype)
        setting.bound.apply(d, t)
        found.append((float(np.real(device.vdot(d, t))), device.norm(d) ** 2, device.norm(t) ** 2))
    # Before the first step p is u, and what is named p - u is no direction.
    known = [Energy(energy, _error_of_product(setting.operator, dd, tt)) for energy, dd, tt in found if dd > 0]
    return min(known, key=lambda energy: energy.value + energy.error, default=None)


def _energy_of_m(setting: SolveSetup, space: Workspace) -> Energy:
    energy, ee, ff = (float(np.real(space.scalar(name))) for name in ("ef", "ee", "ff"))
    # M may be applied inexactly: assume half of the digits.
    return Energy(energy, float(np.sqrt(np.finfo(setting.b.dtype).eps * ee * ff)))


def _error_of_product(operator: Operator, dd: float, tt: float) -> float:
    """A bound of what rounding does to (d, A d): (row length + 4) eps || |A| || (d, d), and nothing where A d = 0."""
    if tt == 0:
        return 0.0
    length, norm = _row_length_and_norm(operator, np.sqrt(tt / dd) if dd > 0 else 0.0)
    return float((length + 4) * np.finfo(operator.dtype).eps * norm * dd)


def _row_length_and_norm(operator: Operator, seen: float) -> tuple[int, float]:
    """The most entries in a row, and the largest row sum of |A|; estimated from ||A d|| / ||d|| for an unknown A."""
    if isinstance(operator, Box):
        return int(np.ceil(operator.nnz / operator.shape[0])), operator.largest_row_sum
    if isinstance(operator, Stencil):
        bands = sum(float(np.abs(low).max()) for low in operator.lower)
        return 2 * len(operator.lower) + 1, float(np.abs(operator.main).max()) + 2 * bands
    try:
        matrix = operator.to_csr()
    except InputError:
        return 1, UNKNOWN_NORM * seen
    return int(np.diff(matrix.indptr).max()), float(abs(matrix).sum(axis=1).max())


def _names(formula: str) -> set[str]:
    return {node.id for node in ast.walk(ast.parse(formula)) if isinstance(node, ast.Name)}
