"""Factorized sparse approximate inverse (FSAI)."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from workbench.devices.host.sparse_inverse import inverse_factor
from workbench.devices.protocol import Device
from workbench.errors import InputError
from workbench.lazy import sparse
from workbench.operators import BoundOperator, Operator
from workbench.operators.null_space import precision_of
from workbench.preconditioners.base import Preconditioner
from workbench.preconditioners.pinned import pin_unknowns
from workbench.registry import register

MAX_ROW = 1024


@register
@dataclasses.dataclass(frozen=True)
class Fsai(Preconditioner):
    """M^-1 = G^H G, where G on the pattern of tril(A) minimizes ||I - G L||_F for A = L L^H.

    The rows of G are scaled so that diag(G A G^H) = 1.

    Cost of the setup: for each row of G a dense solve with a principal submatrix of A, in parallel; the sum over rows
    of the cubed number of entries in tril(A). G and G^H are stored in CSR format, also for stencils. One application is
    two sparse products, without recurrences.

    Raises InputError for a row of more than 1024 entries in tril(A), for a principal submatrix that is not positive
    definite, and if the entries of A are not available.

    Source: Kolotilina, Yeremin 1993.
    """

    name: ClassVar[str] = "fsai"
    title: ClassVar[str] = "factorized sparse inverse (FSAI)"
    also: ClassVar[tuple[str, ...]] = ("spai", "ainv")

    def setup(self, operator: Operator, device: Device) -> BoundOperator:
        matrix = operator.to_csr()
        entries = np.diff(sparse.csr_array(sparse.tril(matrix, format="csr")).indptr)
        longest = int(np.argmax(entries))
        if entries[longest] > MAX_ROW:
            raise InputError(
                f"fsai solves a dense system per row, of at most {MAX_ROW} unknowns; row {longest} has "
                f"{entries[longest]} entries up to its diagonal: use ic or jacobi"
            )
        factor, failed = inverse_factor(matrix)
        # A component that A couples to no other may be a principal submatrix as a whole, and then a singular one.
        if failed >= 0 and (regular := pin_unknowns(matrix, precision_of(operator))).pins:
            factor, failed = inverse_factor(regular.matrix)
        if failed >= 0:
            raise InputError(
                f"fsai needs positive definite principal submatrices of A, and that of row {failed} is not; use jacobi"
            )
        return device.factorized_inverse(factor)
