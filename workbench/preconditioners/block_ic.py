"""Block incomplete Cholesky: IC(0) of blocks of consecutive unknowns, solved in parallel."""

from __future__ import annotations

import dataclasses
import math
from typing import ClassVar

from workbench.devices.protocol import Device
from workbench.operators import Operator, Stencil
from workbench.preconditioners.base import Preconditioner
from workbench.preconditioners.factorized import Factorized, incomplete_cholesky
from workbench.registry import parameter, register


@register
@dataclasses.dataclass(frozen=True)
class BlockIncompleteCholesky(Preconditioner):
    """IC(0) of each block of consecutive unknowns; couplings between blocks are dropped, and cores share the blocks.

    `block-ic:8` are the blocks that the paper calls 8n: 8 grid rows of n unknowns. `unknowns` gives the size of a block
    directly, for any matrix. A matrix without a grid is taken as a square one: its rows have sqrt(N) unknowns, rounded
    up. On a stencil with blocks of whole grid rows only 1/E, shape (N,), is stored and one application reads A's lower
    bands, 1/E and r once as long as a block fits in a core's cache; otherwise the factor is stored in CSR form.

    Pivots that are not positive are met by a shift, which is noted. Raises InputError when no shift helps or A does not
    show its entries. Source: Meijerink, van der Vorst 1977; Gupta, van Gijzen, Vuik 2013, section 3.
    """

    name: ClassVar[str] = "block-ic"
    title: ClassVar[str] = "block incomplete Cholesky"

    rows: int = parameter(8, "grid rows in a block", low=1, high=10**9)
    unknowns: int = parameter(0, "unknowns in a block; 0 takes `rows` grid rows", low=0, high=10**12)

    def setup(self, operator: Operator, device: Device) -> Factorized:
        return incomplete_cholesky(self.name, operator, device, self.block(operator))

    def block(self, operator: Operator) -> int:
        """Unknowns of a block."""
        if self.unknowns:
            return self.unknowns
        if isinstance(operator, Stencil):
            return self.rows * operator.shape_of_grid[-1]
        return self.rows * math.isqrt(operator.shape[0] - 1) + self.rows
