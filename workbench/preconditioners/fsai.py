"""Factorized sparse approximate inverse."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from workbench.devices.protocol import Device
from workbench.errors import InputError
from workbench.operators import Operator
from workbench.preconditioners.base import Preconditioner
from workbench.registry import register

LONGEST_ROW = 1024


@register
@dataclasses.dataclass(frozen=True)
class Fsai(Preconditioner):
    """M^-1 = G^H G with G on the pattern of the lower triangle of A, nearest to L^-1 for A = L L^H, diag(G A G^H) = 1.

    Each row of G takes a dense solve with its part of A, rows in parallel: the entries of a row of the lower triangle,
    cubed, and summed over rows. G and G^H are stored in CSR form, also for stencils. One application is two products,
    with no recurrence in them. Raises InputError for a row of more than 1024 entries, for a part of A that is not
    positive definite, and when A does not show its entries. Source: Kolotilina, Yeremin 1993.
    """

    name: ClassVar[str] = "fsai"
    title: ClassVar[str] = "factorized sparse inverse (FSAI)"

    def setup(self, operator: Operator, device: Device) -> Any:
        matrix = operator.to_csr()
        entries = np.diff(sparse.csr_array(sparse.tril(matrix, format="csr")).indptr)
        longest = int(np.argmax(entries))
        if entries[longest] > LONGEST_ROW:
            raise InputError(
                f"fsai solves a dense system per row, of at most {LONGEST_ROW} unknowns; row {longest} has "
                f"{entries[longest]} entries up to its diagonal: use ic or jacobi"
            )
        factor, failed = device.inverse_factor(matrix)
        if failed >= 0:
            raise InputError(
                f"fsai needs every part of A positive definite, and that of row {failed} is not; use jacobi"
            )
        return device.factorized_inverse(factor)
