"""Symmetric successive over-relaxation (SSOR)."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from workbench.devices.protocol import Device
from workbench.operators import Operator
from workbench.preconditioners.base import Preconditioner
from workbench.preconditioners.factorized import Factorized, require_serial_triangles, ssor_factors
from workbench.registry import parameter, register


@register
@dataclasses.dataclass(frozen=True)
class Ssor(Preconditioner):
    """M = (D + omega L) D^-1 (D + omega L^H)/(omega (2 - omega)), L the strictly lower triangle of A.

    omega = 1 is symmetric Gauss-Seidel. M is positive definite for every omega in (0, 2) if D is.

    Cost: stores omega/D, shape (N,), and for CSR matrices both triangles. One application reads each triangle once, on
    one core.

    Raises InputError if the entries of A are not available.

    Source: Axelsson 1972.
    """

    name: ClassVar[str] = "ssor"
    title: ClassVar[str] = "symmetric over-relaxation (SSOR)"
    also: ClassVar[tuple[str, ...]] = ("sor", "sgs", "gauss-seidel")

    omega: float = parameter(1.0, "relaxation, above 0 and below 2", low=0.001, high=1.999)

    def check(self, device: Device) -> None:
        require_serial_triangles(self.name, device)

    def setup(self, operator: Operator, device: Device) -> Factorized:
        return ssor_factors(operator, device, self.omega)
