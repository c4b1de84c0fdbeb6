"""Diagonal scaling."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from workbench.devices.constant import constant_of
from workbench.devices.protocol import Device
from workbench.operators import Operator
from workbench.preconditioners.base import ElementWise, Preconditioner
from workbench.registry import register


@register
@dataclasses.dataclass(frozen=True)
class Jacobi(Preconditioner):
    """M = D, the diagonal of A, shape (N,), kept as 1/D, or as one number where it is constant.

    Cost: one vector of memory, and one word per unknown wherever a pass uses u = M^-1 r; nothing for a constant
    diagonal. A `LinearOperator`, which does not show its diagonal, raises InputError.
    """

    name: ClassVar[str] = "jacobi"
    title: ClassVar[str] = "Jacobi (diagonal)"
    element_wise: ClassVar[bool] = True

    def setup(self, operator: Operator, device: Device) -> ElementWise:
        diagonal = operator.diagonal()
        if constant_of(diagonal) is not None or np.all(diagonal == diagonal[0]):
            return ElementWise(f"{float(1 / np.real(diagonal[0]))!r}*v", {})
        return ElementWise("d*v", {"d": device.array(1 / diagonal, operator.dtype)})
