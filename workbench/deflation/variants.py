"""Two-level PCG variants, by their use of the projection P and the coarse correction Q.

M1 is the preconditioner passed to the solver:

    DEF1     system P A, M1 = M^-1,               and x = Q b + P^T x^
    DEF2     x0 projected, directions P^T M^-1 r
    A-DEF1   M1 = M^-1 P + Q
    A-DEF2   x0 projected, M1 = P^T M^-1 + Q
    BNN      M1 = P^T M^-1 P + Q
    AD       M1 = M^-1 + Q

"x0 projected" means the start Q b + P^T x0, for which Z^T r = 0. DEF1, DEF2, A-DEF2 and, from a projected start, BNN
have equal iterates in exact arithmetic; they differ in cost and in the effect of rounding errors.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from workbench.deflation.block_projection import BlockProjection
from workbench.deflation.projection import Projection
from workbench.devices.clock import TimedCall, TimedCalls
from workbench.devices.operator_protocols import DeviceVector, Dots, OperatorTraits
from workbench.devices.programs.in_blocks import in_blocks
from workbench.devices.protocol import Device
from workbench.lines.types import OperatorDot
from workbench.operators import BoundOperator
from workbench.registry import Block, register


class TwoLevel(OperatorTraits):
    """u = M1 r, composed of M^-1, P before it, P^T after it and Q added, and the dot products of r and u.

    projection, M: of vectors, or of block vectors, which have no dot products. dots_of_first_level: compute the dot
    products with u before P^T is applied, as DEF2 does. Work space: one vector if `before`.
    """

    def __init__(
        self,
        projection: Projection | BlockProjection,
        M: Any,
        device: Device,
        *,
        before: bool = False,
        after: bool = False,
        correct: bool = False,
        dots_of_first_level: bool = False,
    ) -> None:
        self._projection, self._M, self._device = projection, M, device
        self._before, self._after, self._correct = before, after, correct
        self._early, a_def2 = dots_of_first_level, after and correct and not before
        self._dots = device.dots(projection.dtype)
        self._work: DeviceVector = None
        self.waits = projection.waits or M.waits
        self.varies = not projection.exact or M.varies
        # Those of A-DEF2 come from sums over the parts.
        self.split_dots = (OperatorDot.XY, OperatorDot.XX) if a_def2 and projection.pairs else ()

    def apply(self, r: DeviceVector, u: DeviceVector, /, *wanted: str) -> Dots:
        """u = M1 r. Dot products cost a pass over r and u. r and u must be distinct vectors."""
        v = r
        if self._before:
            if self._work is None:
                self._work = self._projection.zeros()
            v = self._work
            self._device.assign(v, r)
            self._projection.project(v)
        self._M.apply(v, u)
        dots = self._dots.apply(r, u) if self._early and wanted else None
        if self._after and self._correct and wanted:
            dots = self._projection.correct(u, r)
        elif self._after and self._correct:
            self._projection.recover_solution(u, r)
        elif self._after:
            self._projection.project_transposed(u)
        elif self._correct:
            self._projection.add_correction(u, r)
        return dots if dots is not None or not wanted else self._dots.apply(r, u)

    def apply_split(self, r: DeviceVector, u: DeviceVector, /, *_: str) -> Dots:
        """u = M^-1 r, of which M1 r lacks the coarse part."""
        self._M.apply(r, u)
        assert isinstance(self._projection, Projection)
        return self._projection.correction(u, r)

    @property
    def rest(self) -> tuple[DeviceVector, DeviceVector]:
        """The coarse part, and the part of each row."""
        assert isinstance(self._projection, Projection)
        return self._projection.rest

    def complete(self, u: DeviceVector) -> None:
        """u = M1 r from the last u of `apply_split`."""
        assert isinstance(self._projection, Projection)
        self._projection.add_rest(u)

    def block(self, columns: int) -> TwoLevel:
        """M1 for block vectors."""
        assert isinstance(self._projection, Projection)
        projection = self._projection.block(columns)
        M = in_blocks(self._device, self._M, *projection.shape)
        chosen = {"before": self._before, "after": self._after, "correct": self._correct}
        return TwoLevel(projection, M, self._device, **chosen)

    def prepare(self, r: DeviceVector, u: DeviceVector) -> None:
        """Compile what block vectors need, ahead of the first application to these."""
        if hasattr(self._M, "prepare"):
            self._M.prepare(r, u)
        if self._after and self._correct and isinstance(self._projection, BlockProjection):
            self._projection.prepare_recovery(r)

    def parts(self) -> TimedCalls:
        """The calls that a trace records separately, in addition to those of the projection."""
        yield TimedCall(self._M, "apply", "M", self._M.traffic, self._M.flops)
        assert isinstance(self._projection, Projection)
        vector = self._projection.vector_traffic
        yield TimedCall(self._dots, "apply", "dot products", 2 * vector, 0)

    @property
    def traffic(self) -> int:
        product = self._projection.system_traffic if self._after else 0
        return self._M.traffic + product + self._corrections * self._projection.coarse_traffic

    @property
    def flops(self) -> int:
        product = self._projection.system_flops if self._after else 0
        return self._M.flops + product + self._corrections * self._projection.coarse_flops

    @property
    def _corrections(self) -> int:
        return self._before + (self._after or self._correct)


@dataclasses.dataclass(frozen=True)
class Variant(Block):
    """Base of all variants. Costs are per iteration, in addition to one application each of A and M.

    Source: Tang, Nabben, Vuik, Erlangga, Comparison of two-level preconditioners derived from deflation, domain
    decomposition and multigrid methods, J. Sci. Comput. 39, 2009, table 1.

    Examples:
        >>> from workbench.registry import find
        >>> find("variant", "auto").resolved(exact=False).name
        'a-def2'
    """

    kind: ClassVar[str] = "variant"
    on_ranks: ClassVar[bool] = True
    projects_system: ClassVar[bool] = False
    """The solver is applied to P A and P b, and x is recovered at the end."""
    projects_start: ClassVar[bool] = False
    """The start is Q b + P^T x0."""
    keeps_z_orthogonal: ClassVar[bool] = False
    """Z^T r = 0 in every iteration, up to rounding."""

    uses_az: ClassVar[bool] = False
    """Iterations apply P, which needs AZ."""
    adds_q: ClassVar[bool] = False
    """M1 is a sum of M^-1, projected or not, and Q."""
    hermitian: ClassVar[bool] = True
    """M1 is Hermitian on the residuals that occur: those with Z^T r = 0, where the variant keeps that."""
    accepts_inexact: ClassVar[bool] = False
    """Solves with E may be approximate: errors of Q then slow the convergence and do not limit it."""

    alone: ClassVar[str] = ""
    """The fault of the variant without a first level, as a clause; empty if there is none."""

    def resolved(self, exact: bool) -> Variant:
        """The variant for an E that is solved to rounding, or not; itself unless it leaves the choice open."""
        return self

    def check(self, space: str, device: Device) -> None:
        """Raise InputError if the variant does not go with a deflation space of this name, or a device; called before
        any setup."""

    def precondition(self, projection: Projection, M: BoundOperator, device: Device) -> BoundOperator:
        """M1 for the solver, from M^-1 as a bound operator with apply(r, u)."""
        return M


@register
@dataclasses.dataclass(frozen=True)
class Def1(Variant):
    """Deflation as in the two-level paper: one coarse solve and one product with AZ."""

    name: ClassVar[str] = "def1"
    title: ClassVar[str] = "DEF1: solve P A x^ = P b"
    uses_az: ClassVar[bool] = True
    projects_system: ClassVar[bool] = True
    keeps_z_orthogonal: ClassVar[bool] = True


@register
@dataclasses.dataclass(frozen=True)
class Auto(Variant):
    """DEF1 where systems with E are solved to rounding, since its iteration is the cheapest; else A-DEF2."""

    name: ClassVar[str] = "auto"
    title: ClassVar[str] = "automatic: DEF1, or A-DEF2 where E is solved approximately"
    projects_system: ClassVar[bool] = True
    keeps_z_orthogonal: ClassVar[bool] = True
    accepts_inexact: ClassVar[bool] = True

    def resolved(self, exact: bool) -> Variant:
        return Def1() if exact else ADef2()


@register
@dataclasses.dataclass(frozen=True)
class Def2(Variant):
    """Directions projected by P^T: one coarse solve and one additional application of A."""

    name: ClassVar[str] = "def2"
    title: ClassVar[str] = "DEF2: projected directions"
    projects_start: ClassVar[bool] = True
    keeps_z_orthogonal: ClassVar[bool] = True

    def precondition(self, projection: Projection, M: BoundOperator, device: Device) -> BoundOperator:
        return TwoLevel(projection, M, device, after=True, dots_of_first_level=True)


@register
@dataclasses.dataclass(frozen=True)
class ADef1(Variant):
    """Two coarse solves and one product with AZ. M1 is not Hermitian: its eigenvalues with A are those of BNN, but CG
    may take more iterations, and does not converge with every M. Use BNN or A-DEF2 then. Of the methods for many
    right-hand sides `bf-block-cg` alone takes it."""

    name: ClassVar[str] = "a-def1"
    title: ClassVar[str] = "A-DEF1: adapted deflation, M^-1 P + Q"
    adds_q: ClassVar[bool] = True
    uses_az: ClassVar[bool] = True
    hermitian: ClassVar[bool] = False

    def precondition(self, projection: Projection, M: BoundOperator, device: Device) -> BoundOperator:
        return TwoLevel(projection, M, device, before=True, correct=True)


@register
@dataclasses.dataclass(frozen=True)
class ADef2(Variant):
    """One coarse solve and one additional application of A; the most robust variant against rounding in E^-1."""

    name: ClassVar[str] = "a-def2"
    title: ClassVar[str] = "A-DEF2: adapted deflation, P^T M^-1 + Q"
    alone: ClassVar[str] = "variant a-def2 without a first level lets Z^T r grow from rounding"
    adds_q: ClassVar[bool] = True
    accepts_inexact: ClassVar[bool] = True
    projects_start: ClassVar[bool] = True
    keeps_z_orthogonal: ClassVar[bool] = True

    def precondition(self, projection: Projection, M: BoundOperator, device: Device) -> BoundOperator:
        return TwoLevel(projection, M, device, after=True, correct=True)


@register
@dataclasses.dataclass(frozen=True)
class BalancingNeumannNeumann(Variant):
    """Two coarse solves, one product with AZ and one additional application of A (Mandel 1993)."""

    name: ClassVar[str] = "bnn"
    title: ClassVar[str] = "BNN: balancing, P^T M^-1 P + Q"
    adds_q: ClassVar[bool] = True
    uses_az: ClassVar[bool] = True
    accepts_inexact: ClassVar[bool] = True

    def precondition(self, projection: Projection, M: BoundOperator, device: Device) -> BoundOperator:
        return TwoLevel(projection, M, device, before=True, after=True, correct=True)


@register
@dataclasses.dataclass(frozen=True)
class Additive(Variant):
    """One coarse solve (Bramble, Pasciak, Schatz 1986)."""

    name: ClassVar[str] = "ad"
    title: ClassVar[str] = "AD: additive coarse correction, M^-1 + Q"
    adds_q: ClassVar[bool] = True
    accepts_inexact: ClassVar[bool] = True

    def precondition(self, projection: Projection, M: BoundOperator, device: Device) -> BoundOperator:
        return TwoLevel(projection, M, device, correct=True)
