"""Deflation as a projected system: the solver solves P A x^ = P b, and x is recovered from x^ afterwards.

P = I - A Q,  Q = Z E^-1 Z^T,  E = Z^T A Z,  x = Q b + P^T x^
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.deflation.block_projection import BlockProjection, Corrections
from workbench.deflation.coarse import CoarseSolver
from workbench.deflation.galerkin import PlacedMatrix, in_host_memory
from workbench.deflation.null_space import definite_count, pinned
from workbench.deflation.subspace import BoundSubspace, Subspace
from workbench.devices.clock import TimedCall, TimedCalls
from workbench.devices.coarse import Levels
from workbench.devices.operator_protocols import DeviceVector, Dots, Restriction
from workbench.devices.protocol import Device
from workbench.errors import InputError
from workbench.lazy import sparse
from workbench.lines.types import OperatorDot
from workbench.operators import BoundOperator, Operator
from workbench.operators.null_space import NullSpace, null_space_of
from workbench.words.names import block_name
from workbench.words.numbers import count

STEPS = 6
"""Steps of the power method that tests an approximate coarse solver."""
MOST_LEFT = 0.56
"""The part of an error that an approximate coarse solver may leave: runs with 0.55 converge, with 0.58 stagnate."""


def _regular(basis: BoundSubspace, space: Subspace, null_space: NullSpace, device: Device) -> BoundSubspace:
    """A subspace with an E that the components of A do not make singular."""
    if null_space.components is None:
        return basis
    matrix, pins = pinned(in_host_memory(basis.matrix), space, null_space.components, device)
    note = f"A has several components: {count(pins)} diagonal entries of E enlarged, so that E is definite (expected)"
    return dataclasses.replace(basis, matrix=matrix, notes=(*basis.notes, note)) if pins else basis


class Projection(Corrections):
    """The projection P for a subspace, on a device.

    If A maps the constants to zero, E of piecewise constant vectors is singular. The last vector is then dropped, which
    does not change the span of AZ, unless the coarse solver accepts a singular E. So it is for a null vector that is
    constant but for empty rows, where these have subdomains of their own: see `null_space.definite_count`. Where A has
    several components E is pinned, see `null_space.pinned`. null_space: of A, by default tested.

    AZ is computed when first needed, or by `prepare_az`. exact: systems with E have to be solved to rounding, for a
    coarse solver that leaves the choice open. phase: called around the parts of the setup.

    Source: Gupta, van Gijzen, Vuik 2013, section 4, eq. (6), Algorithm 1 and eqs. (7a) to (7d). Raises InputError for a
    subspace that cannot deflate A, and for an E that is not positive definite.

    Examples:
        >>> from workbench.deflation import PiecewiseConstant, Projection
        >>> from workbench.devices import device
        >>> from workbench.registry import find
        >>> A, Z = find("problem", "poisson5:4").assemble().operator, find("deflation", "blocks:2").labels(16, (4, 4))
        >>> Projection(A, A.bind(device()), PiecewiseConstant(Z), find("coarse", "cholesky"), device()).count
        4
    """

    def __init__(
        self,
        operator: Operator,
        bound: BoundOperator,
        subspace: Subspace,
        coarse: CoarseSolver,
        device: Device,
        *,
        exact: bool = True,
        phase: Callable[[str], contextlib.AbstractContextManager[None]] = lambda _: contextlib.nullcontext(),
        null_space: NullSpace | None = None,
    ) -> None:
        null_space = null_space_of(operator, None, bound, device) if null_space is None else null_space
        singular = subspace.piecewise_constant and null_space.is_constant
        with phase("coarse matrix E"):
            basis = _regular(subspace.bind(operator, bound, device), subspace, null_space, device)
        self.count = basis.matrix.shape[0]
        self._definite = self.count - 1 if singular else definite_count(subspace, self.count, null_space, device)
        """Vectors with which E is definite, the first of all."""
        with phase("coarse solver"):
            self._set_up(operator, bound, basis, coarse, device, singular=singular, exact=exact)
        self._uses_az = False
        self._blocks: weakref.WeakValueDictionary[int, BlockProjection] = weakref.WeakValueDictionary()

    def _set_up(
        self,
        operator: Operator,
        bound: BoundOperator,
        basis: BoundSubspace,
        coarse: CoarseSolver,
        device: Device,
        *,
        singular: bool,
        exact: bool,
    ) -> None:
        """Choose and make the coarse solver for E. singular: E maps the constants to zero."""
        matrix = basis.matrix
        self.device, self.bound, self._z, self._make_az = device, bound, basis.z, basis.make_az
        self.columns = basis.columns
        """Z and AZ in host memory."""
        self._lengths = functools.cache(basis.lengths)
        self._product = device.restricted_product(bound, self._z)
        self._size, self.dtype = operator.shape[0], operator.dtype
        on_host = device.name == "cpu"
        chosen, reason = device.agreed(coarse.resolved(matrix, basis.parts, on_host=on_host, exact=exact))
        self._factorize(chosen, basis, singular)
        if self._in_doubt(basis) and (left := device.agreed(self._left_by_a_solve(matrix, singular))) > MOST_LEFT:
            poor = f"coarse solver {chosen.text} leaves {min(1.0, left):.0%} of some errors for this E"
            chosen, reason = coarse.resolved(matrix, basis.parts, on_host=on_host, exact=True)
            if chosen is coarse:
                raise InputError(
                    f"{poor}, and may leave {MOST_LEFT:.0%}: merged boxes do not follow the jumps of A; use coarse "
                    "solver sparse, a cycle other than v, or deflation levelset"
                )
            reason = f"{poor}; {reason}"
            self._factorize(chosen, basis, singular)
        self.notes = [*basis.notes, *([reason] if reason else []), *self._notes_of_factor]
        self.waits = self._coarse.waits or bound.waits

    @property
    def z(self) -> Restriction:
        """Z on the device."""
        return self._z

    @property
    def rank(self) -> int:
        """The number of vectors, the first of all, for which E is factored: fewer where E would be singular."""
        return self._rank

    def _factorize(self, coarse: CoarseSolver, basis: BoundSubspace, singular: bool) -> None:
        """Make E^-1 by a coarse solver. singular: E maps constants to zero."""
        matrix, dtype = basis.matrix, self.dtype
        self.coarse_name = coarse.name
        accepted = singular and coarse.accepts_singular and self.count > 1
        self._rank = self.count if accepted else self._definite
        self._notes_of_factor: list[str] = []
        if self._definite < self.count:
            dropped = self.count - self._rank
            many = f"{dropped} redundant deflation vectors" if dropped > 1 else "one redundant deflation vector"
            action = f"{many} removed (expected)" if dropped else "no deflation vector removed"
            self._notes_of_factor.append(f"pure Neumann problem: {action}; coarse solver {block_name(coarse)}")
        kept = matrix if coarse.takes_placed else in_host_memory(matrix)
        if self._rank < self.count:
            kept = sparse.csr_array(in_host_memory(matrix)[: self._rank, : self._rank])
        parts = basis.parts if self._rank == self.count else None
        self._factor = coarse.factor(kept, parts) if self._rank else None  # pyright: ignore[reportArgumentType]
        self.exact = self._factor is None or self._factor.exact
        """True if systems with E are solved to rounding."""
        self.advice = coarse.advice if coarse.doubts_exact or not self.exact else ""
        """Advice for a run that fails, possibly by the limited accuracy of the coarse solver."""
        form = self._factor.form if self._factor else None
        self._coarse = self.device.coarse_level(form, self._solve_on_host, self.count, dtype)
        self._notes_of_factor += [*(self._factor.notes if self._factor else ()), *self._coarse.notes]

    def _in_doubt(self, basis: BoundSubspace) -> bool:
        """True if an approximate solve may leave most of an error: one plain cycle, or boxes that are not split by
        phase, so that they are merged across the jumps of A."""
        form, parts = self._factor.form if self._factor else None, basis.parts
        return isinstance(form, Levels) and (max(form.steps) < 2 or parts is None or parts.kinds == 1)

    def _left_by_a_solve(self, matrix: sparse.csr_array | PlacedMatrix, singular: bool) -> float:
        """About the largest part, in the norm of E, that an approximate solve leaves of an error.

        By the power method for I - E^-1 E. A-DEF2 needs it to be below 1; otherwise CG stagnates. Cost: `STEPS` solves.
        """
        # In double precision: where E is singular, rounding of the mean counts as an error otherwise.
        wide = np.result_type(matrix.dtype, np.float64)
        # Coarse vectors are in double precision next to vectors in single precision.
        coarse = np.dtype(self._z.restrict(self._work).dtype)
        E = sparse.csr_array(in_host_memory(matrix).astype(wide))
        v = np.random.default_rng(0).standard_normal(self.count).astype(wide)
        v[self._rank :] = 0
        before = left = 0.0
        for step in range(STEPS + 1):
            v = v - v.mean() if singular else v
            product = E @ v
            length = np.sqrt(max(0.0, float(np.real(np.vdot(v, product)))))
            if not length > 0:
                return 0.0
            left, before = length / before if before else 0.0, 1.0
            if step == STEPS:
                break
            solved = self.coarse_solve(self.device.array(product / length, coarse))
            v = v / length - self.device.to_host(solved)
        return left

    @property
    def levels(self) -> Levels | None:
        """The levels of a coarse solver by cycles, in host memory; None for any other."""
        return self._factor.levels if self._factor else None

    def prepare_az(self) -> None:
        """Compute AZ now, as part of the setup."""
        self._uses_az = self._az is not None

    def coarse_solve(self, coarse: DeviceVector) -> DeviceVector:
        """E^-1 a, shape (d,), on the device, with zero for a dropped vector."""
        return self._coarse.solve(coarse)

    def _solve_on_host(self, coarse: np.ndarray) -> np.ndarray:
        solution = np.zeros_like(coarse)
        if self._factor is not None:
            solution[: self._rank] = self._factor.solve(coarse[: self._rank])
        return solution

    def solve_columns(self, coarse: np.ndarray) -> np.ndarray:
        """E^-1 a for all columns of a, shape (d, s), in host memory and double precision; zero for a dropped vector."""
        coarse = coarse.astype(np.result_type(coarse.dtype, np.float64), copy=False)
        solution = np.zeros_like(coarse)
        if self._factor is not None:
            solution[: self._rank] = self._factor.solve_columns(coarse[: self._rank])
        return solution

    def block(self, columns: int) -> BlockProjection:
        """The projection of block vectors, one for each number of columns."""
        made = self._blocks.get(columns)
        if made is None:
            self._blocks[columns] = made = BlockProjection(self, columns)
        return made

    def zeros(self) -> DeviceVector:
        return self.device.zeros(self._size, self.dtype)

    def correct(self, u: DeviceVector, r: DeviceVector) -> Dots | None:
        """u = u + Q (r - A u) in place. Returns (r, u), (u, u) and (r, r) where they cost no pass of their own."""
        return self._z.add_paired(u, self.coarse_solve(self._product.residual(r, u, self._work)), r)

    @property
    def pairs(self) -> bool:
        return self._product.pairs

    def correction(self, u: DeviceVector, r: DeviceVector) -> Dots:
        """Make E^-1 Z^H (r - A u), and the dot products (r, u + Z of that) and (r, r): the former is (r, u) and, with
        Z^H r, a sum over d terms. Neither u nor r is written."""
        dots, restricted, of_r = self._product.paired(r, u)
        return self._product.complete(dots, of_r, self.coarse_solve(restricted))

    @property
    def rest(self) -> tuple[DeviceVector, DeviceVector]:
        """The place of the result of `correction`, and the part of each unknown; where it gives dot products."""
        z: Any = self._z
        return z.own(self._solved), z.labels

    def add_rest(self, u: DeviceVector) -> None:
        """u = u + Z of the result of `correction`."""
        self._z.add(u, self._solved)

    @property
    def _solved(self) -> DeviceVector:
        coarse: Any = self._coarse
        return coarse.solved

    def drift(self, r: DeviceVector) -> float:
        """||Z^H r|| with the columns of Z normalized; zero for an exact projection.

        About the norm of the component of r in the span of Z.
        """
        return float(self.drift_of(self.device.to_host(self._z.restrict(r))))

    def drift_of(self, restricted: np.ndarray) -> np.ndarray:
        """`drift` from Z^H r, shape (d,), or by column from that of a block vector, shape (d, s)."""
        return np.linalg.norm(restricted.T / self._lengths(), axis=-1)

    # The interface of a bound operator, for P A in place of A.

    fused_dots = (OperatorDot.XY,)
    local = False
    """True if a product couples neighbours alone, as one with A does."""

    def apply(self, x: DeviceVector, out: DeviceVector, /, *wanted: str) -> Dots:
        """out = P A x. Returns dot products, of which only the first, (x, out), can be asked for."""
        dots, restricted = self._product.apply(x, out, *wanted)
        # (x, AZ a) = (Z^H A x, a) costs d operations instead of N.
        solved = self.coarse_solve(restricted)
        self._az.subtract(out, solved)
        return self._coarse.correct_curvature(dots, restricted, solved) if wanted else None

    def parts(self) -> TimedCalls:
        """The calls that a trace records separately."""
        vector, z = self._work.nbytes, self._z.traffic
        product = self.system_traffic + z + vector - self._product.saved
        yield TimedCall(self._product, "apply", "A, Z^T", product, self.bound.flops + self._work.size)
        yield TimedCall(
            self._product, "residual", "b - A x, Z^T", product + vector, self.bound.flops + 2 * self._work.size
        )
        if self.pairs:
            yield TimedCall(
                self._product, "paired", "b - A x, Z^T", product + vector, self.bound.flops + 6 * self._work.size
            )
            yield TimedCall(
                self._product, "complete", "(Z^T r, Q r)", 2 * self.count * self._work.itemsize, 2 * self.count
            )
        yield TimedCall(self._z, "restrict", "Z^T", vector + z, self._work.size)
        yield TimedCall(self._z, "add", "Z", 2 * vector + z, self._work.size)
        yield TimedCall(self._z, "add_paired", "Z", 3 * vector + z, 7 * self._work.size)
        # Triangular solves are latency-bound, so a bandwidth would be meaningless.
        yield TimedCall(self, "coarse_solve", "E^-1", 0, 0)
        yield from self._coarse.parts()
        if self._uses_az:
            yield TimedCall(self._az, "subtract", "AZ", self._az.traffic, 2 * self._az.entries)

    @property
    def traffic(self) -> int:
        """Bytes of one application."""
        return self.system_traffic + self.coarse_traffic - self._product.saved + self._az.traffic

    @property
    def vector_traffic(self) -> int:
        """Bytes of one vector."""
        return self._work.nbytes

    @property
    def system_traffic(self) -> int:
        """Bytes of one application of A."""
        return self.bound.traffic

    @property
    def system_flops(self) -> int:
        """Operations of one application of A."""
        return self.bound.flops

    @property
    def coarse_traffic(self) -> int:
        """Bytes of one restriction and one coarse solve."""
        return self._work.nbytes + self._z.traffic + self.solve_traffic

    @property
    def coarse_flops(self) -> int:
        """Operations of one restriction, coarse solve and addition."""
        return 2 * self._work.size + self.solve_traffic // 4

    @property
    def solve_traffic(self) -> int:
        """Bytes of one coarse solve."""
        return self._factor.traffic if self._factor else 0

    @property
    def flops(self) -> int:
        """Operations of one application."""
        return self.bound.flops + self._work.size + self.solve_traffic // 4 + 2 * self._az.entries
