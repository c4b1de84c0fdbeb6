"""Incomplete Cholesky factorization of the whole matrix, plain and modified."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from workbench.devices.protocol import Device
from workbench.operators import Operator
from workbench.preconditioners.base import Preconditioner
from workbench.preconditioners.factorized import Factorized, incomplete_cholesky, need_whole_triangles
from workbench.registry import parameter, register


@register
@dataclasses.dataclass(frozen=True)
class IncompleteCholesky(Preconditioner):
    """M = (E + L) E^-1 (E + L^H) with the pattern of A and diag(M) = diag(A); unknowns in their given order.

    On a nearest-neighbour stencil L is A's own lower triangle and only 1/E, shape (N,), is stored; for a CSR matrix
    both triangles of the factor are. One application reads each triangle once, on one core. Pivots that are not
    positive are met by a shift, which is noted. Raises InputError when no shift helps or A does not show its entries.
    Source: Meijerink, van der Vorst 1977; shift: Manteuffel 1980.
    """

    name: ClassVar[str] = "ic"
    title: ClassVar[str] = "incomplete Cholesky IC(0)"

    def check(self, device: Device) -> None:
        need_whole_triangles(self.name, device)

    def setup(self, operator: Operator, device: Device) -> Factorized:
        return incomplete_cholesky(self.name, operator, device, operator.shape[0])


@register
@dataclasses.dataclass(frozen=True)
class ModifiedIncompleteCholesky(Preconditioner):
    """As `ic`, with omega times the dropped fill taken from the pivots: 0 is IC(0), with 1 M has the row sums of A.

    For complex A the real part of the fill is taken. Storage, cost and what it raises are those of `ic`; omega = 1
    breaks down more easily, and is shifted then. Source: Gustafsson 1978; relaxation: Axelsson, Lindskog 1986.
    """

    name: ClassVar[str] = "mic"
    title: ClassVar[str] = "modified incomplete Cholesky"

    omega: float = parameter(0.95, "share of the dropped fill that goes to the diagonal", low=0, high=1)

    def check(self, device: Device) -> None:
        need_whole_triangles(self.name, device)

    def setup(self, operator: Operator, device: Device) -> Factorized:
        return incomplete_cholesky(self.name, operator, device, operator.shape[0], self.omega)
