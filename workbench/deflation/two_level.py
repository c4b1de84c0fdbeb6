"""The two-level preconditioner M1 as one operator, of which each variant takes what it needs."""

from __future__ import annotations

from typing import Any

from workbench.deflation.block_projection import BlockProjection
from workbench.deflation.projection import Projection
from workbench.devices.clock import TimedCalls
from workbench.devices.operator_protocols import DeviceVector, Dots, OperatorTraits
from workbench.devices.programs.in_blocks import in_blocks
from workbench.devices.protocol import Device
from workbench.lines.types import OperatorDot


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
        yield self._M, "apply", "M", self._M.traffic, self._M.flops
        assert isinstance(self._projection, Projection)
        vector = self._projection.vector_traffic
        yield self._dots, "apply", "dot products", 2 * vector, 0

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
