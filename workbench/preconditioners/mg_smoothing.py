"""Smoothing before and after a coarse correction, adjoint to each other with respect to A."""

from __future__ import annotations

from typing import Protocol

from workbench.devices.operator_protocols import DeviceOperator, DeviceVector, Dots
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
