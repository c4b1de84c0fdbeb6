"""One cycle of multigrid on the finest level: smoothing, correction by the levels below, smoothing.

Smoothing before and after a coarse correction are adjoint to each other with respect to A.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from workbench.devices.clock import TimedCall, TimedCalls
from workbench.devices.host.boxes import Boxes, Rows
from workbench.devices.operator_protocols import (
    CoarseLevel,
    DeviceOperator,
    DeviceVector,
    Dots,
    OperatorTraits,
    RestrictedProduct,
    Restriction,
)
from workbench.devices.protocol import Device
from workbench.preconditioners.chebyshev import ChebyshevSeries

LARGEST_EIGENVALUE = 1.9
"""Largest eigenvalue of S A: the cycle is positive definite below 2."""
Work = tuple[int, int]
"""Bytes and operations of one call."""


class Smoothing(Protocol):
    """Multiplication with S, Hermitian and positive definite, with eigenvalues of S A below 2."""

    def before(self, r: DeviceVector, u: DeviceVector, /) -> DeviceVector:
        """S r, in u or in a vector that this object keeps."""
        ...

    def after(self, r: DeviceVector, y: DeviceVector, u: DeviceVector, /) -> Dots:
        """u = y + S (r - A y), with (r, u), (u, u) and (r, r). y: what `before` returned, corrected."""
        ...

    @property
    def work(self) -> tuple[Work, Work]:
        """The work of `before`, and of `after`."""
        ...


def series_weight(order: int, ratio: float) -> float:
    """The factor of S = K^H D^-1 K, a Neumann series, at which the eigenvalues of S A are below 2; 1 where A is
    diagonally dominant.

    ratio: max_i sum_(j != i) |A_ij| / A_ii, at least 1.

    With X = -D^-1/2 L D^-1/2 the matrix D^-1/2 A D^-1/2 is I - X - X^H. L couples a cell to neighbours one step back in
    x, y or z, so multiplying cell (x, y, z) by exp(i t (x + y + z)) multiplies X by exp(i t): its numerical range is a
    disk, whose radius w is that of its Hermitian part, at most ratio/2. Hence w(X^k) <= w^k (Berger), ||X^k|| <= 2 w^k,
    and from (I - X) K = I - X^(order + 1) the eigenvalues are at most (1 + 2 w^(order + 1))^2. For order 1 they are
    at most 1 + 2 w^2 + (2 w - 1)(2 w)^2, by which (y, S A y) = 1 - 2 Re (y, X^2 y) - |Xy|^2 - 2 Re (Xy, X^2 y).
    """
    w = ratio / 2
    bound = (1 + 2 * w ** (order + 1)) ** 2
    if order == 1:
        bound = min(bound, 1 + 2 * w**2 + (ratio - 1) * ratio**2)
    return min(1.0, LARGEST_EIGENVALUE / bound)


class SeriesSmoothing:
    """S = weight K^H D^-1 K. work: a vector that may be overwritten. Work space: two more vectors."""

    def __init__(
        self, series: DeviceOperator, weight: float, product: DeviceOperator, work: DeviceVector, device: Device
    ) -> None:
        self._series, self._product, self._device, self._work = series, product, device, work
        size, dtype = work.size, work.dtype
        self._y, self._change = device.zeros(size, dtype), device.zeros(size, dtype)
        # A number in the text itself would be a kernel for each matrix.
        self._add = device.one_pass("u = y + w*c", ("c", "y", "u"), dtype, numbers={"w": weight})
        self._scale = device.one_pass("u = w*c", ("c", "u"), dtype, numbers={"w": weight}) if weight < 1 else None
        self._dots = device.dots(dtype)

    def before(self, r: DeviceVector, u: DeviceVector, /) -> DeviceVector:
        """S r."""
        self._series.apply(r, self._change if self._scale else self._y)
        if self._scale:
            self._scale.apply(self._change, self._y)
        return self._y

    def after(self, r: DeviceVector, y: DeviceVector, u: DeviceVector, /) -> Dots:
        """u = y + S (r - A y), with (r, u), (u, u) and (r, r)."""
        self._product.apply(y, self._work)
        self._device.subtract_from(r, self._work)
        self._series.apply(self._work, self._change)
        self._add.apply(self._change, y, u)
        return self._dots.apply(r, u)

    @property
    def work(self) -> tuple[Work, Work]:
        """The work of `before`, and of `after`."""
        size, dtype, series = self._work.size, self._work.dtype, self._series
        scaled = self._scale.work(size, dtype) if self._scale else (0, 0)
        moved, operations = self._add.work(size, dtype)
        before = series.traffic + scaled[0], series.flops + scaled[1]
        # In addition to these, a subtraction and dot products.
        moved += self._product.traffic + series.traffic + 5 * self._work.nbytes
        return before, (moved, self._product.flops + series.flops + operations + 7 * size)


class ChebyshevSmoothing:
    """S = p(D^-1 A) D^-1."""

    def __init__(self, series: ChebyshevSeries) -> None:
        self._series = series

    def before(self, r: DeviceVector, u: DeviceVector, /) -> DeviceVector:
        """S r, in u."""
        self._series.apply(r, u)
        return u

    def after(self, r: DeviceVector, y: DeviceVector, u: DeviceVector, /) -> Dots:
        """u = u + S (r - A u), with (r, u), (u, u) and (r, r); y is u."""
        return self._series.improve(r, u)

    @property
    def work(self) -> tuple[Work, Work]:
        """The work of `before`, and of `after`."""
        series = self._series
        return (series.traffic, series.flops), (series.improve_traffic, series.improve_flops)


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
        yield TimedCall(self._smoothing, "before", f"smooth, {FINEST}", *before)
        yield TimedCall(self._smoothing, "after", f"smooth, {FINEST}", *after)
        yield TimedCall(self._restricted, "residual", f"residual and restriction, {FINEST}", *self._residual_work)
        yield TimedCall(self._z, "add", f"correct {FINEST}", *self._correction_work)
        # Small products and triangular solves are latency-bound, so a bandwidth would be meaningless.
        yield TimedCall(self, "_solve", "coarse solve", 0, 0)
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
