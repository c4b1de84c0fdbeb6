"""Incomplete Cholesky factorizations without fill: IC(0) and modified IC."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from workbench.devices.protocol import Device
from workbench.operators import Operator
from workbench.preconditioners.base import Preconditioner
from workbench.preconditioners.factorized import Factorized, incomplete_cholesky, require_serial_triangles
from workbench.registry import parameter, register


@register
@dataclasses.dataclass(frozen=True)
class IncompleteCholesky(Preconditioner):
    """M = (E + L) E^-1 (E + L^H) with the pattern of A and diag(M) = diag(A), in the natural ordering.

    Cost: for a nearest-neighbour stencil L is the lower triangle of A and only 1/E, shape (N,), is stored; for a CSR
    matrix both triangles of the factor are stored. One application reads each triangle once, on one core.

    A pivot that is not positive is handled by a diagonal shift, which is noted. Raises InputError if no shift helps, or
    if the entries of A are not available.

    Source: Meijerink, van der Vorst 1977; shift: Manteuffel 1980.
    """

    name: ClassVar[str] = "ic"
    title: ClassVar[str] = "incomplete Cholesky IC(0)"
    also: ClassVar[tuple[str, ...]] = ("ilu", "ilu0", "icc", "ichol", "cholesky")

    def check(self, device: Device) -> None:
        require_serial_triangles(self.name, device)

    def setup(self, operator: Operator, device: Device) -> Factorized:
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
