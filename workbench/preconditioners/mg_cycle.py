"""One cycle of multigrid on the finest level: smoothing, correction by the levels below, smoothing."""

from __future__ import annotations

import numpy as np

from workbench.devices.clock import TimedCalls
from workbench.devices.host.boxes import Boxes, Rows
from workbench.devices.operator_protocols import (
    CoarseLevel,
    DeviceVector,
    Dots,
    OperatorTraits,
    RestrictedProduct,
    Restriction,
)
from workbench.preconditioners.mg_smoothing import Smoothing

FINEST = "finest grid"
"""The finest level in names of a trace; `level 0` is the one below."""


class GridCycle(OperatorTraits):
    """u = M^-1 r. z: prolongation from the next level, which `coarse` solves.

    work: a vector that may be overwritten. coarse_traffic: bytes of a solve on the levels. product_work: bytes and
    operations of A.
    """

    def __init__(
        self,
        smoothing: Smoothing,
        restricted: RestrictedProduct,
        z: Restriction,
        coarse: CoarseLevel,
        work: DeviceVector,
        *,
        coarse_traffic: int,
        product_work: tuple[int, int],
    ) -> None:
        self._smoothing, self._restricted, self._z, self._coarse = smoothing, restricted, z, coarse
        self._work, self._coarse_traffic, self._product_work = work, coarse_traffic, product_work
        self.waits = coarse.waits
        self.parts_below: tuple[np.ndarray, Boxes, Rows] | None = None
        """The unknown of the next level that each cell belongs to, and that level's matrix, for a later phase."""

    @property
    def below(self) -> tuple[Restriction, CoarseLevel, int]:
        """Prolongation, solver and bytes of a solve of what lies below the finest level."""
        return self._z, self._coarse, self._coarse_traffic

    def apply(self, r: DeviceVector, u: DeviceVector, /, *_: str) -> Dots:
        """u = M^-1 r, with all three dot products of r and u, which must be distinct vectors."""
        y = self._smoothing.before(r, u)
        self._z.add(y, self._solve(self._restricted.residual(r, y, self._work)))
        return self._smoothing.after(r, y, u)

    def _solve(self, right: DeviceVector) -> DeviceVector:
        return self._coarse.solve(right)

    def parts(self) -> TimedCalls:
        """The calls that a trace records separately."""
        before, after = self._smoothing.work
        yield self._smoothing, "before", f"smooth, {FINEST}", *before
        yield self._smoothing, "after", f"smooth, {FINEST}", *after
        yield self._restricted, "residual", f"residual and restriction, {FINEST}", *self._residual_work
        yield self._z, "add", f"correct {FINEST}", *self._correction_work
        # Small products and triangular solves are latency-bound, so a bandwidth would be meaningless.
        yield self, "_solve", "coarse solve", 0, 0
        yield from self._coarse.parts()

    @property
    def _residual_work(self) -> tuple[int, int]:
        vector, (traffic, flops) = self._work.nbytes, self._product_work
        return traffic + 2 * vector + self._z.traffic - self._restricted.saved, flops + 2 * self._work.size

    @property
    def _correction_work(self) -> tuple[int, int]:
        return 2 * self._work.nbytes + self._z.traffic, self._work.size

    @property
    def traffic(self) -> int:
        work = (*self._smoothing.work, self._residual_work, self._correction_work)
        return sum(moved for moved, _ in work) + self._coarse_traffic

    @property
    def flops(self) -> int:
        work = (*self._smoothing.work, self._residual_work, self._correction_work)
        # The levels multiply and add once for each 8 bytes of a matrix.
        return sum(operations for _, operations in work) + self._coarse_traffic // 4
