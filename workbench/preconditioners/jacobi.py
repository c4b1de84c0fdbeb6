"""Jacobi preconditioner (diagonal scaling)."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from workbench.devices.constant import constant_of, entries
from workbench.devices.protocol import Device
from workbench.operators import Operator, Size, TwoPhaseStencil, check_diagonal
from workbench.preconditioners.base import ElementWise, Preconditioner
from workbench.registry import register


@register
@dataclasses.dataclass(frozen=True)
class Jacobi(Preconditioner):
    """M = D, the diagonal of A. Stores 1/D, shape (N,), or one number if the diagonal is constant.

    Cost: one vector of memory, and one word per unknown in each pass that uses u = M^-1 r; nothing for a constant
    diagonal.

    Raises InputError for a zero on the diagonal of A, and if it is not available.
    """

    name: ClassVar[str] = "jacobi"
    title: ClassVar[str] = "Jacobi (diagonal)"
    also: ClassVar[tuple[str, ...]] = ("diagonal", "diag")
    element_wise: ClassVar[bool] = True
    on_ranks: ClassVar[bool] = True

    def needed_bytes(self, size: Size, item: int, *, on_host: bool) -> int:
        return 0 if size.constant_diagonal else item * size.unknowns

    def setup(self, operator: Operator, device: Device) -> ElementWise:
        if isinstance(operator, TwoPhaseStencil):
            return ElementWise("d*v", {"d": device.inverse_diagonal(operator.faces, operator.dtype)})
        diagonal = operator.diagonal()
        is_constant = constant_of(diagonal) is not None or np.all(diagonal == diagonal[0])
        # Formulas have real numbers.
        is_constant = is_constant and np.imag(diagonal[0]) == 0
        # All ranks have the same lines, hence the same sums.
        entry = device.common(float(np.real(diagonal[0])) if is_constant else None)
        check_diagonal(entries(diagonal))
        if entry is not None:
            return ElementWise(f"{1 / entry!r}*v", {})
        return ElementWise("d*v", {"d": device.array(1 / diagonal, operator.dtype)})
