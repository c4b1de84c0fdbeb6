"""Symmetric successive over-relaxation."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from workbench.devices.protocol import Device
from workbench.operators import Operator
from workbench.preconditioners.base import Preconditioner
from workbench.preconditioners.factorized import Factorized, need_whole_triangles, relaxation
from workbench.registry import parameter, register


@register
@dataclasses.dataclass(frozen=True)
class Ssor(Preconditioner):
    """M = (D + omega L) D^-1 (D + omega L^H)/(omega (2 - omega)), L the strictly lower triangle of A.

    omega = 1 is symmetric Gauss-Seidel. Positive definite for every omega in (0, 2) when D is. Stores omega/D, shape
    (N,), and for CSR matrices both triangles; one application reads each triangle once, on one core. Raises InputError
    when A does not show its entries. Source: Axelsson 1972.
    """

    name: ClassVar[str] = "ssor"
    title: ClassVar[str] = "symmetric over-relaxation (SSOR)"

    omega: float = parameter(1.0, "relaxation, above 0 and below 2", low=0.001, high=1.999)

    def check(self, device: Device) -> None:
        need_whole_triangles(self.name, device)

    def setup(self, operator: Operator, device: Device) -> Factorized:
        return relaxation(operator, device, self.omega)
