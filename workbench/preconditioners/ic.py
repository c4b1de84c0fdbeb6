"""Incomplete Cholesky factorizations: with levels of fill, in the natural ordering or by colours, and modified."""

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
)
from workbench.registry import parameter, register

NATURAL, COLOURS = "natural", "colours"


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
    ordering: str = parameter(NATURAL, "order in which unknowns are factorized", choices=(NATURAL, COLOURS))

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
