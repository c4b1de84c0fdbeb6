"""Diagonal scaling."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from workbench.blocks import register
from workbench.operators import Operator
from workbench.preconditioners.base import ElementWise, Preconditioner


@register
@dataclasses.dataclass(frozen=True)
class Jacobi(Preconditioner):
    """M = D, the diagonal of A, shape (N,), kept as 1/D.

    Cost: one vector of memory; one word per unknown wherever a pass uses u = M^-1 r. A `LinearOperator`, which does not
    show its diagonal, raises InputError.
    """

    name: ClassVar[str] = "jacobi"
    title: ClassVar[str] = "Jacobi (diagonal)"

    def setup(self, operator: Operator, device: Any) -> ElementWise:
        return ElementWise("d*v", {"d": device.array(1 / operator.diagonal(), operator.dtype)})
