"""Block incomplete Cholesky: IC(0) of diagonal blocks, applied in parallel."""

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
    """IC(0) of each diagonal block of consecutive unknowns, with couplings between blocks dropped.

    Blocks are solved in parallel. `block-ic:8` is the papers' block size 8n: 8 grid rows of n unknowns. `unknowns` sets
    the block size directly, for any matrix. A matrix without a grid is treated as a square grid with rows of sqrt(N)
    unknowns, rounded up; where neighbours in an unstructured one have numbers far apart, few couplings are left in
    blocks.

    Cost: for a stencil with blocks of whole grid rows only 1/E, shape (N,), is stored, and one application reads the
    lower bands of A, 1/E and r once while a block fits in a core's cache. Otherwise the factor is stored in CSR format.

    A pivot that is not positive is handled by a diagonal shift, which is noted. Raises InputError if no shift helps, or
    if the entries of A are not available.

    Source: Meijerink, van der Vorst 1977; Gupta, van Gijzen, Vuik 2013, section 3.
    """

    name: ClassVar[str] = "block-ic"
    title: ClassVar[str] = "block incomplete Cholesky"
    on_ranks: ClassVar[bool] = True
    cuts_by_index: ClassVar[bool] = True

    rows: int = parameter(8, "grid rows in a block", low=1, high=10**9)
    unknowns: int = parameter(0, "unknowns in a block; 0 takes `rows` grid rows", low=0, high=10**12)

    def planes_at_once(self, grid: tuple[int, ...]) -> int:
        plane = math.prod(grid[1:])
        return (block := self.unknowns or self.rows * grid[-1]) // math.gcd(block, plane)

    def setup(self, operator: Operator, device: Device) -> Factorized:
        return incomplete_cholesky(self.name, operator, device, self.block(operator))

    def block(self, operator: Operator) -> int:
        """Unknowns per block."""
        if self.unknowns:
            return self.unknowns
        if isinstance(operator, Stencil):
            return self.rows * operator.grid[-1]
        return self.rows * math.isqrt(operator.shape[0] - 1) + self.rows
