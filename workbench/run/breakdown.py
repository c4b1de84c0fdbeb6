"""Breakdown diagnosis: indefinite A or M, rounding, or the lines of a user-defined solver.

(d, A d) <= 0 alone does not prove that A is indefinite: rounding gives it for a definite matrix too, where the
direction comes from a recurrence or |(d, A d)| is below the rounding error of its computation. So (d, A d) and
(r, M^-1 r) are recomputed with A and the first-level preconditioner, and A is reported as indefinite only for a value
that rounding cannot explain.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from workbench.devices.lines.workspace import Workspace
from workbench.devices.operator_protocols import DeviceVector
from workbench.errors import InputError
from workbench.lines.parse import parse_expression
from workbench.lines.types import Name, walk
from workbench.operators import Box, Operator, Stencil
from workbench.preconditioners import MultigridCycle
from workbench.run.setup import SolveSetup
from workbench.run.stopping import Reason
from workbench.solvers import Solver

DRIFTED = 0.1
"""||Z^H r|| / ||r|| above which the drift is named as a possible cause of the failure of a deflated run."""
UNKNOWN_NORM = 100
"""||A d|| / ||d|| is only a lower bound of ||A||; where the entries are unknown, it is multiplied by this factor."""
_COARSE_SOLVE = (
    Reason.INDEFINITE,
    Reason.INDEFINITE_M,
    Reason.ROUNDING,
    Reason.DIVERGED,
    Reason.STAGNATED,
    Reason.INACCURATE,
)
_FIRST_LEVEL = (Reason.INDEFINITE_M, Reason.ROUNDING, Reason.DIVERGED, Reason.STAGNATED)
_USER_LINES = (Reason.NOT_FINITE, Reason.DIVERGED, Reason.STAGNATED)


def suspects(reason: Reason, setup: SolveSetup, x: DeviceVector, drift: Callable[[], float], advice: str) -> str:
    """Possible causes of a failure, as further clauses of its sentence; empty if none is known.

    x: a finite iterate. drift: computes ||Z^H r|| / ||r||, called only where it may be the cause. advice: of the coarse
    solver.
    """
    found = []
    if reason is Reason.NOT_FINITE and (clause := not_finite(setup, setup.b, x)):
        found.append(clause)
    if setup.solver.has_user_lines and reason in _USER_LINES:
        found.append("the lines are your own, so check them first")
    if reason in _FIRST_LEVEL and (clause := _indefinite_first_level(setup)):
        found.append(clause)
    if setup.projection and reason in _COARSE_SOLVE:
        if (share := drift()) > DRIFTED:
            found.append(f"||Z^T r||, which should be 0, is {share:.0%} of ||r|| and stalls convergence")
        found += [advice] if advice else []
    return "".join(f"; {clause}" for clause in found)


def not_finite(setup: SolveSetup, b: DeviceVector, x: DeviceVector) -> str:
    """Which of A and M makes NaN or infinity of a finite vector, as a clause; empty where neither is seen to.

    b, x: finite, of the scaled system. Cost: up to two applications of A and one of M.
    """
    device, apply = setup.device, getattr(setup.first_level, "apply", None)
    r, product = (device.zeros(setup.b.size, setup.b.dtype) for _ in range(2))
    setup.bound.apply(x, r)
    if not np.isfinite(device.norm(r)):
        return "the product of A with a finite x is not finite, so check A"
    device.subtract_from(b, r)
    # In precision mixed M has vectors in single precision.
    if apply and setup.stored == setup.b.dtype:
        apply(r, product)
        if not np.isfinite(device.norm(product)):
            return "M^-1 r is not finite for a finite r, so check M"
    setup.bound.apply(r, product)
    return "" if np.isfinite(device.norm(product)) else "the product of A with a finite r is not finite, so check A"


def _indefinite_first_level(setup: SolveSetup) -> str:
    """A proof that a multigrid cycle is not positive definite, and the remedy; empty for any other first level.

    Computed for r = b - A x of the solver's system, where (r, M^-1 r) <= 0 depends on M alone. Cost: one
    application of A and one of M.
    """
    M = setup.first_level
    if not isinstance(M, MultigridCycle):
        return ""
    device, r = setup.device, setup.device.zeros(setup.b.size, setup.b.dtype)
    setup.A.apply(setup.x, r)
    device.subtract_from(setup.solver_b, r)
    u = device.zeros(setup.b.size, setup.b.dtype)
    M.apply(r, u)
    value = float(np.real(device.vdot(r, u)))
    if not value <= 0:
        return ""
    return f"(r, M^-1 r) = {value:.3g} for r = b - A x, so {M.suspect}, not A, is not positive definite: {M.remedy}"


@dataclasses.dataclass(frozen=True)
class Curvature:
    """A dot product that is positive for a definite operator, and a bound of its rounding error."""

    value: float
    error: float

    @property
    def shows_indefinite(self) -> bool:
        """Whether rounding cannot explain the value."""
        return self.value <= -self.error


@dataclasses.dataclass(frozen=True)
class Diagnosis:
    """(d, A d) and (r, M^-1 r), recomputed; None where the recurrence does not store the vector."""

    a: Curvature | None
    m: Curvature | None

    @property
    def reason(self) -> Reason:
        """The cause of the breakdown: A, M or rounding."""
        if self.a is not None and self.a.shows_indefinite:
            return Reason.INDEFINITE
        if self.m is not None and self.m.shows_indefinite:
            return Reason.INDEFINITE_M
        return Reason.ROUNDING

    def __str__(self) -> str:
        known = (("(p, A p)", self.a), ("(r, M^-1 r)", self.m))
        return " and ".join(f"{name} = {found.value:.6g}" for name, found in known if found is not None)


def diagnose(setup: SolveSetup, workspace: Workspace) -> Diagnosis:
    """Recompute (d, A d) and (r, M^-1 r) for the direction and the residual that the solver declares.

    Under deflation (d, A d) is computed for the direction and for its projection, on which the solver's P A acts, and
    the lower value is taken; M is the first level alone. Cost: up to three applications of A and two of M.
    """
    solver = setup.solver
    space = _vectors_of(setup, workspace, solver)
    if space is None:
        return Diagnosis(None, None)
    return Diagnosis(_curvature_of_a(setup, space), _curvature_of_m(setup, space))


def _vectors_of(setup: SolveSetup, workspace: Workspace, solver: Solver) -> Workspace | None:
    """A workspace with the direction d and the residual e, None if the recurrence does not store them."""
    direction, residual = solver.direction, solver.residual
    names = _names(direction) | _names(residual)
    vectors = {name: found for name in names if (found := workspace.gathered(name)) is not None}
    if not _names(residual) & set(vectors):
        return None
    scalars = [name for name in names if workspace.has_scalar(name)]
    operators = {"A": setup.product, "M": setup.M, "F": setup.first_level}
    about = {"vectors": vectors, "scalars": scalars, "operators": operators, "stored": setup.stored}
    space = Workspace(setup.device, setup.b.size, setup.b.dtype, **about)
    for name in scalars:
        space.set_scalar(name, workspace.scalar(name))
    made = "g = M(e)\nu = g\n" if "u" in names - set(vectors) else ""
    (measure,) = space.lines(
        f"e = {residual}\n{made}f = F(e)\nef = (e, f)\nee = (e, e)\nff = (f, f)\n"
        f"d = {direction}\nt = A(d)\ndt = (d, t)\ndd = (d, d)\ntt = (t, t)"
    )
    measure()
    return space


def _curvature_of_a(setup: SolveSetup, space: Workspace) -> Curvature | None:
    found = [tuple(float(np.real(space.scalar(name))) for name in ("dt", "dd", "tt"))]
    if setup.projection is not None:
        device = setup.device
        d = device.copy(space.vector("d"))
        setup.projection.project_transposed(d)
        t = device.zeros(setup.b.size, setup.stored)
        setup.product.apply(d, t)
        found.append((float(np.real(device.vdot(d, t))), device.norm(d) ** 2, device.norm(t) ** 2))
    # Before the first step p = u, so that a direction declared as p - u is zero.
    known = [Curvature(value, _error_of_product(setup.operator, dd, tt)) for value, dd, tt in found if dd > 0]
    return min(known, key=lambda found: found.value + found.error, default=None)


def _curvature_of_m(setup: SolveSetup, space: Workspace) -> Curvature:
    value, ee, ff = (float(np.real(space.scalar(name))) for name in ("ef", "ee", "ff"))
    # M may be applied inexactly: assume half of the digits.
    return Curvature(value, float(np.sqrt(np.finfo(setup.stored).eps * ee * ff)))


def _error_of_product(operator: Operator, dd: float, tt: float) -> float:
    """A bound of the rounding error of (d, A d): (row length + 4) eps || |A| || (d, d), zero where A d = 0."""
    if tt == 0:
        return 0.0
    length, norm = _row_length_and_norm(operator, np.sqrt(tt / dd) if dd > 0 else 0.0)
    return float((length + 4) * np.finfo(operator.dtype).eps * norm * dd)


def _row_length_and_norm(operator: Operator, seen: float) -> tuple[int, float]:
    """The largest number of entries in a row, and the largest row sum of |A|; for an A without entries estimated from
    `seen`, which is ||A d|| / ||d||."""
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
    return {node.name for node in walk(parse_expression(formula)) if isinstance(node, Name)}
