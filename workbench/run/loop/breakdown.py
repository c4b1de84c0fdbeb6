"""Breakdown diagnosis: indefinite A or M, rounding, or the lines of a user-defined solver.

(d, A d) <= 0 alone does not prove that A is indefinite: rounding gives it for a definite matrix too, where the
direction comes from a recurrence or |(d, A d)| is below the rounding error of its computation. So (d, A d) and
(r, M^-1 r) are recomputed with A and the first-level preconditioner, and A is reported as indefinite only for a value
that rounding cannot explain. Methods with block vectors and with one vector are judged alike.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping

import numpy as np

from workbench.devices.operator_protocols import DeviceVector
from workbench.devices.programs.block_workspace import BlockWorkspace
from workbench.devices.programs.workspace import Workspace
from workbench.errors import InputError
from workbench.lines.parse import parse_expression
from workbench.lines.types import Name, walk
from workbench.operators import BoxStencil, Stencil
from workbench.preconditioners import ElementWise, MultigridCycle
from workbench.run.choices.stopping import Reason
from workbench.run.loop.energy import near_one
from workbench.run.setup.level_scale import largest_eigenvalue
from workbench.run.setup.solve_setup import SolveSetup
from workbench.words.numbers import percent, relative

DRIFTED = 0.1
"""||Z^H r|| / ||r|| above which the drift is named as a possible cause of the failure of a deflated run."""
UNKNOWN_NORM = 10
"""The power method estimates ||A|| from below; where the entries are unknown, it is multiplied by this factor."""
_OF_M = "f = F(e)\nef = (e, f)\nee = (e, e)\nff = (f, f)"
_OF_A = "t = A(d)\ndt = (d, t)\ndd = (d, d)\ntt = (t, t)"
_COARSE_SOLVE = (
    Reason.INDEFINITE,
    Reason.INDEFINITE_M,
    Reason.ROUNDING,
    Reason.DIVERGED,
    Reason.STAGNATED,
    Reason.INACCURATE,
)
_SINGLE = (Reason.ROUNDING, Reason.DIVERGED, Reason.STAGNATED, Reason.INACCURATE, Reason.MAXITER)
_DRIFTING = (*_SINGLE, Reason.NOT_FINITE, Reason.INDEFINITE, Reason.INDEFINITE_M)
_FIRST_LEVEL = (Reason.INDEFINITE_M, Reason.ROUNDING, Reason.DIVERGED, Reason.STAGNATED)
_USER_LINES = (Reason.NOT_FINITE, Reason.DIVERGED, Reason.STAGNATED)


def suspects(
    reason: Reason,
    setup: SolveSetup,
    b: DeviceVector,
    x: DeviceVector,
    system: Callable[[], tuple[DeviceVector, DeviceVector]],
    drift: Callable[[], float],
) -> str:
    """Possible causes of a failure, as further clauses of its sentence; empty if none is known.

    b, x: a right-hand side and a finite iterate. system: returns b and x of the solver's system. drift: computes
    ||Z^H r|| / ||r||. Both are called only where that may be the cause.
    """
    found = []
    if reason is Reason.NOT_FINITE and (clause := _not_finite(setup, b, x)):
        found.append(clause)
    if setup.solver.has_user_lines and reason in _USER_LINES:
        found.append("the lines are your own, so check them first")
    if reason in _FIRST_LEVEL and (clause := _indefinite_first_level(setup, system)):
        found.append(clause)
    if setup.projection and reason in _COARSE_SOLVE and (share := drift()) > DRIFTED:
        found.append(f"||Z^T r||, which should be 0, is {percent(share)} of ||r|| and stalls convergence")
    return _about_choices(reason, setup) + "".join(f"; {clause}" for clause in found)


def _about_choices(reason: Reason, setup: SolveSetup) -> str:
    """Choices that may be more accurate than those of a failed run, as further clauses of its sentence."""
    found = []
    if reason is Reason.ROUNDING and (instead := _more_accurate(setup)):
        found.append(f"{' and '.join(instead)} may be more accurate")
    slow = reason is Reason.MAXITER and setup.projection and not setup.projection.exact
    if setup.projection and (slow or reason in _COARSE_SOLVE) and setup.projection.advice:
        found.append(setup.projection.advice.removesuffix(f" or variant {setup.variant.name}"))
    # A multiple of the identity has no factors.
    first = setup.first_level
    alone = setup.projection and isinstance(first, ElementWise) and not first.factors and setup.variant.alone
    if alone and reason in _DRIFTING:
        found.append(f"{alone}, most of all for blocks of columns; try variant bnn or preconditioner jacobi")
    if reason in _SINGLE and setup.first_level.advice:
        found.append(setup.first_level.advice)
    if reason in _SINGLE and setup.product is not setup.bound:
        found.append("vectors in single precision may be the cause; try precision float64")
    return "".join(f"; {clause}" for clause in found)


def _not_finite(setup: SolveSetup, b: DeviceVector, x: DeviceVector) -> str:
    """A clause on which of A and M makes NaN or infinity of a finite vector; empty where neither is seen to.

    b, x: finite, of the scaled system. Cost: up to two applications of A and one of M.
    """
    device, first = setup.device, setup.first_level
    r, product = (device.zeros(setup.b.size, setup.b.dtype) for _ in range(2))
    setup.bound.apply(x, r)
    if not np.isfinite(device.norm(r)):
        return "the product of A with a finite x is not finite, so check A"
    device.subtract_from(b, r)
    # In precision mixed M has vectors in single precision.
    if not isinstance(first, ElementWise) and setup.stored == setup.b.dtype:
        first.apply(r, product)
        if not np.isfinite(device.norm(product)):
            return "M^-1 r is not finite for a finite r, so check M"
    setup.bound.apply(r, product)
    return "" if np.isfinite(device.norm(product)) else "the product of A with a finite r is not finite, so check A"


def _more_accurate(setup: SolveSetup) -> list[str]:
    """Choices that suffer less from rounding than those of a run; empty where it has them already."""
    recomputes = setup.solver.curvature_is_recomputed or setup.solver.takes_blocks
    solver = "" if recomputes else "solver cg"
    return [choice for choice in (solver, "deflation none" if setup.projection else "") if choice]


def _indefinite_first_level(setup: SolveSetup, system: Callable[[], tuple[DeviceVector, DeviceVector]]) -> str:
    """A proof that a multigrid cycle is not positive definite, and the remedy; empty for any other first level.

    Computed for r = b - A x of the solver's system, where (r, M^-1 r) <= 0 depends on M alone. Cost: one
    application of A and one of M.
    """
    M = setup.first_level
    if not isinstance(M, MultigridCycle):
        return ""
    device = setup.device
    r, _ = near_one(_residual(setup, *system()), device)
    u = device.zeros(setup.b.size, setup.b.dtype)
    M.apply(r, u)
    value = float(np.real(device.vdot(r, u)))
    if not value <= 0:
        return ""
    found = f"(r, M^-1 r) = {relative(value)} for r = b - A x"
    return f"{found}, so {M.suspect}, not A, is not positive definite: {M.remedy}"


@dataclasses.dataclass(frozen=True)
class Curvature:
    """A dot product that is positive for a definite operator, a bound of its rounding error, and what it is at least
    for an operator that is definite; exponent: for the vector times 2^-exponent."""

    value: float
    error: float
    least: float
    exponent: int = 0

    @property
    def shows_indefinite(self) -> bool:
        """True if rounding cannot explain the value."""
        return self.value + self.error < self.least


@dataclasses.dataclass(frozen=True)
class Diagnosis:
    """(d, A d) and (r, M^-1 r), recomputed; None where the recurrence does not store the vector, or it is zero."""

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
        known = (("(p, A p)", "p", self.a), ("(r, M^-1 r)", "r", self.m))
        return " and ".join(
            f"{name} = {relative(found.value)}" + (f" for {vector} times 2^{-found.exponent}" if found.exponent else "")
            for name, vector, found in known
            if found is not None
        )


def diagnose(setup: SolveSetup, workspace: Workspace | BlockWorkspace) -> Diagnosis:
    """Recompute (d, A d) and (r, M^-1 r) for the direction and the residual that the solver declares.

    Under deflation (d, A d) is computed for the direction and for its projection, on which the solver's P A acts, and
    the lower value is taken; M is the first level alone. Cost: up to three applications of A and two of M.

    With block vectors that is done for every column, and for the combination of directions with the smallest eigenvalue
    of P^H A P. The first that shows an indefinite A or M is returned, else that of the combination. Cost: for each of
    them the same, and the block vectors in host memory.
    """
    if isinstance(workspace, BlockWorkspace):
        return _diagnosed_by_column(setup, workspace)
    names = _names(setup.solver.direction) | _names(setup.solver.residual)
    vectors = {name: found for name in names if (found := workspace.gathered(name)) is not None}
    scalars = {name: workspace.scalar(name) for name in names if workspace.has_scalar(name)}
    return _diagnosed(setup, vectors, scalars, setup.solver_b, setup.x)


def _diagnosed_by_column(setup: SolveSetup, space: BlockWorkspace) -> Diagnosis:
    device = setup.device
    names = {"b", "x"} | _names(setup.solver.direction) | _names(setup.solver.residual)
    blocks = {name: device.to_host(space.vectors[name.upper()]) for name in names if name.upper() in space.vectors}
    found = Diagnosis(None, None)
    for weights in _combinations(space):
        vectors = {
            name: device.array(np.ascontiguousarray(block @ weights), setup.operator.dtype)
            for name, block in blocks.items()
        }
        b, x = vectors.pop("b"), vectors.pop("x")
        found = _diagnosed(setup, vectors, {}, b, x)
        if found.reason is not Reason.ROUNDING:
            break
    return found


def _combinations(space: BlockWorkspace) -> Iterator[np.ndarray]:
    """Each column alone, and the eigenvector of the smallest eigenvalue of P^H A P with a unit diagonal."""
    yield from np.eye(space.columns)
    delta = space.matrices.get("delta", np.zeros(0))
    if delta.ndim == 2 and np.isfinite(delta).all():
        d = np.sqrt(np.abs(np.real(np.diag(delta))))
        d[d == 0] = 1
        yield np.linalg.eigh(delta / np.outer(d, d))[1][:, 0] / d


def _diagnosed(
    setup: SolveSetup,
    vectors: Mapping[str, DeviceVector],
    scalars: Mapping[str, complex],
    b: DeviceVector,
    x: DeviceVector,
) -> Diagnosis:
    """vectors, scalars: what the solver's direction and residual are made of, as far as it is stored. b, x: of the
    solver's system, for a residual that the solver has lost."""
    direction, residual = setup.solver.direction, setup.solver.residual
    if not _names(residual) & set(vectors):
        return Diagnosis(None, None)
    operators = {"A": setup.product, "M": setup.M, "F": setup.first_level}
    about = {"operators": operators, "stored": setup.stored}
    space = Workspace(setup.device, setup.b.size, setup.b.dtype, vectors=vectors, scalars=list(scalars), **about)
    for name, value in scalars.items():
        space.set_scalar(name, value)
    made = "g = M(e)\nu = g\n" if "u" in (_names(direction) | _names(residual)) - set(vectors) else ""
    form, measure = space.lines(f"e = {residual}\n{made}d = {direction}", f"{_OF_M}\n{_OF_A}")
    form()
    exponents = {name: _bring_near_one(space, name) for name in ("e", "d")}
    measure()
    of_m = _curvature_of_m(setup, space, exponents["e"])
    if of_m is None and setup.product is setup.bound:
        lost = Workspace(setup.device, setup.b.size, setup.b.dtype, vectors={"e": _residual(setup, b, x)}, **about)
        (measure,) = lost.lines(_OF_M)
        exponent = _bring_near_one(lost, "e")
        measure()
        of_m = _curvature_of_m(setup, lost, exponent)
    return Diagnosis(_curvature_of_a(setup, space, exponents["d"]), of_m)


def _bring_near_one(space: Workspace, name: str) -> int:
    """Scale a vector of the workspace, of which the diagnosis needs the direction alone, as `near_one`."""
    vector = space.vector(name)
    scaled, exponent = near_one(vector, space.device)
    if exponent:
        space.device.assign(vector, scaled)
    return exponent


def _residual(setup: SolveSetup, b: DeviceVector, x: DeviceVector) -> DeviceVector:
    """b - A x of the solver's system, a new vector."""
    r = setup.device.zeros(setup.b.size, setup.b.dtype)
    setup.A.apply(x, r)
    setup.device.subtract_from(b, r)
    return r


def _curvature_of_a(setup: SolveSetup, space: Workspace, exponent: int) -> Curvature | None:
    found = [tuple(float(np.real(space.scalar(name))) for name in ("dt", "dd", "tt"))]
    if setup.projection is not None:
        device = setup.device
        d = device.copy(space.vector("d"))
        setup.projection.project_transposed(d)
        t = device.zeros(setup.b.size, setup.stored)
        setup.product.apply(d, t)
        found.append((float(np.real(device.vdot(d, t))), device.norm(d) ** 2, device.norm(t) ** 2))
    # Ranks that judge their own rows would differ about A.
    length, norm = map(setup.device.largest, _row_length_and_norm(setup))
    eps = (length + 4) * float(np.finfo(setup.stored).eps)
    # Before the first step p = u, so that a direction declared as p - u is zero.
    known = [_of_a(value, dd, tt, eps, norm, exponent) for value, dd, tt in found if dd > 0]
    if not setup.null_space and any(value == tt == 0 for value, dd, tt in found if dd > 0):
        # A d = 0 exactly.
        return Curvature(0.0, 0.0, 1.0)
    return min(known, key=lambda found: found.value + found.error - found.least, default=None)


def _of_a(value: float, dd: float, tt: float, eps: float, norm: float, exponent: int) -> Curvature:
    """(d, A d), whose rounding error is at most eps || |A| || (d, d).

    A semidefinite A has (d, A d) >= ||A d||^2 / ||A||, so that even a value of zero shows that A is indefinite, unless
    A d is zero to rounding. norm: || |A| ||, which is at least ||A||.
    """
    error = eps * norm * dd
    certain = max(0.0, np.sqrt(tt) - eps * norm * np.sqrt(dd))
    return Curvature(value, error, float(certain**2 / norm * (1 - eps)) if norm > 0 else 0.0, exponent)


def _curvature_of_m(setup: SolveSetup, space: Workspace, exponent: int) -> Curvature | None:
    value, ee, ff = (float(np.real(space.scalar(name))) for name in ("ef", "ee", "ff"))
    # M may be applied inexactly: assume half of the digits.
    error = float(np.sqrt(np.finfo(setup.stored).eps) * np.sqrt(ee) * np.sqrt(ff))
    if ee == 0:
        return None
    # An M^-1 that maps r to zero is not definite either.
    return Curvature(value, error, float(np.finfo(float).tiny) if ff == value == 0 else 0.0, exponent)


def _row_length_and_norm(setup: SolveSetup) -> tuple[int, float]:
    """The largest number of entries in a row, and the largest row sum of |A|; for an A without entries one, and an
    upper estimate of ||A||."""
    operator = setup.operator
    if isinstance(operator, BoxStencil):
        return int(np.ceil(operator.nnz / operator.shape[0])), operator.largest_row_sum
    if isinstance(operator, Stencil):
        # Semidefinite, so no entry is larger than those of the diagonal.
        entries = 2 * len(operator.strides) + 1
        return entries, entries * operator.largest_diagonal
    try:
        matrix = operator.to_csr()
    except InputError:
        return 1, UNKNOWN_NORM * largest_eigenvalue(setup.bound, None, operator, setup.device)
    return int(np.diff(matrix.indptr).max()), float(abs(matrix).sum(axis=1).max())


def _names(formula: str) -> set[str]:
    return {node.name for node in walk(parse_expression(formula)) if isinstance(node, Name)}
