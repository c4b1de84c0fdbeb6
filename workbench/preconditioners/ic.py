"""Incomplete Cholesky factorizations: with levels of fill, by a threshold, and modified; in two orders."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from workbench.devices.protocol import Device
from workbench.operators import Operator
from workbench.preconditioners.base import Preconditioner
from workbench.preconditioners.factorized import (
    Factorized,
    coloured_cholesky,
    filled_cholesky,
    incomplete_cholesky,
    require_serial_triangles,
    threshold_cholesky,
)
from workbench.registry import parameter, register

NATURAL, COLOURS = "natural", "colours"
ORDER = "order in which unknowns are factorized"


@register
@dataclasses.dataclass(frozen=True)
class IncompleteCholesky(Preconditioner):
    """M = (E + L) E^-1 (E + L^H) with diag(M) = diag(A) and the pattern of A, and that of `fill` levels of fill.

    ordering=colours: colours are factorized one after another, and the factor couples no two unknowns of a colour. A
    solve with a triangle is then one parallel step for each colour, 2 on a grid of nearest neighbours without fill, and
    runs on every device. CG takes more iterations than in the natural ordering.

    Cost: for a nearest-neighbour stencil without fill L is the lower triangle of A and only 1/E, shape (N,), is stored;
    else both triangles of the factor. One application reads each triangle once, on one core in the natural ordering.

    A pivot that is not positive is handled by a diagonal shift, which is noted. Raises InputError if no shift helps, if
    more than 256 colours are needed, or if the entries of A are not available.

    Source: Meijerink, van der Vorst 1977; shift: Manteuffel 1980; colours: Lukarski 2012, power(q)-pattern.
    """

    name: ClassVar[str] = "ic"
    title: ClassVar[str] = "incomplete Cholesky"
    also: ClassVar[tuple[str, ...]] = ("ilu", "ilu0", "icc", "ichol", "cholesky")

    fill: int = parameter(0, "levels of fill in the factor", low=0, high=16)
    ordering: str = parameter(NATURAL, ORDER, choices=(NATURAL, COLOURS))

    def check(self, device: Device) -> None:
        if self.ordering == NATURAL:
            require_serial_triangles(self.name, device)

    def setup(self, operator: Operator, device: Device) -> Factorized:
        if self.ordering == COLOURS:
            return coloured_cholesky(self.name, operator, device, self.fill)
        if self.fill:
            return filled_cholesky(self.name, operator, device, self.fill)
        return incomplete_cholesky(self.name, operator, device, operator.shape[0])


@register
@dataclasses.dataclass(frozen=True)
class ModifiedIncompleteCholesky(Preconditioner):
    """IC(0) with omega times the dropped fill subtracted from the pivots.

    omega = 0 is IC(0); with omega = 1, M has the row sums of A, but breaks down, and is shifted, more often. For
    complex A the real part of the fill is subtracted. Storage, cost and errors are those of `ic`.

    Source: Gustafsson 1978; relaxation: Axelsson, Lindskog 1986.
    """

    name: ClassVar[str] = "mic"
    title: ClassVar[str] = "modified incomplete Cholesky"

    omega: float = parameter(0.95, "share of the dropped fill that goes to the diagonal", low=0, high=1)

    def check(self, device: Device) -> None:
        require_serial_triangles(self.name, device)

    def setup(self, operator: Operator, device: Device) -> Factorized:
        return incomplete_cholesky(self.name, operator, device, operator.shape[0], self.omega)


@register
@dataclasses.dataclass(frozen=True)
class ThresholdCholesky(Preconditioner):
    """M = (E + L) E^-1 (E + L^H) with fill by magnitude: dual dropping.

    Of column k of L, as exact elimination with the columns before it leaves it, entries below `threshold` times the
    2-norm of column k of A are dropped, and of the others all but the largest: as many as A has below its diagonal
    there, and `entries` more. threshold = 0 without a bound is the Cholesky factorization.

    ordering=colours: as with `ic`, no two unknowns within two couplings having a colour; fill between unknowns of a
    colour is dropped too, so that a solve with a triangle is one parallel step for each colour, on every device.

    Cost of the setup: one core, half the square of the entries of each column; memory four times that of a triangle in
    double precision. Both triangles of the factor are stored, and one application reads each once, on one core in the
    natural ordering.

    A pivot that is not positive is handled by a diagonal shift, as with `ic`. Raises InputError if no shift helps, if
    the factor does not fit the memory, if more than 256 colours are needed, or if the entries of A are not available.

    Source: Saad 1994, ILUT; limited memory: Lin, Moré 1999; shift: Manteuffel 1980.
    """

    name: ClassVar[str] = "ict"
    title: ClassVar[str] = "incomplete Cholesky by a threshold"
    also: ClassVar[tuple[str, ...]] = ("ilut", "icfs")

    threshold: float = parameter(1e-2, "least entry of a column of the factor, by the norm of that of A", low=0, high=1)
    entries: int = parameter(10, "entries of a column of the factor in addition to those of A", low=0, high=10**9)
    ordering: str = parameter(NATURAL, ORDER, choices=(NATURAL, COLOURS))

    def check(self, device: Device) -> None:
        if self.ordering == NATURAL:
            require_serial_triangles(self.name, device, "ict:ordering=colours")

    def setup(self, operator: Operator, device: Device) -> Factorized:
        limits = self.threshold, self.entries
        return threshold_cholesky(self.name, operator, device, *limits, by_colours=self.ordering == COLOURS)
