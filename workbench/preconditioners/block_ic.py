"""Block incomplete Cholesky: IC(0) of diagonal blocks, applied in parallel."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, ClassVar

from workbench.devices.host.growth import Growth
from workbench.devices.protocol import Device
from workbench.operators import Operator, Stencil
from workbench.operators.cuts import csr_of, cut_parameter, grid_of, grows
from workbench.preconditioners.base import Preconditioner
from workbench.preconditioners.factorized import Factorized, incomplete_cholesky
from workbench.registry import parameter, register

if TYPE_CHECKING:
    from workbench.problems import LinearSystem


@register
@dataclasses.dataclass(frozen=True)
class BlockIncompleteCholesky(Preconditioner):
    """IC(0) of each diagonal block of consecutive unknowns, with couplings between blocks dropped.

    Blocks are solved in parallel. `block-ic:8` is the papers' block size 8n: 8 grid rows of n unknowns. `unknowns` sets
    the block size directly, for any matrix. A matrix without a grid counts as a square grid with rows of sqrt(N)
    unknowns, rounded up; its blocks are parts of about that size, grown along the couplings of A, or ranges of
    consecutive unknowns with cut=index and on ranks. Where neighbours have numbers far apart, few couplings are left in
    ranges.

    Cost: for a stencil with blocks of whole grid rows only 1/E, shape (N,), is stored, and one application reads the
    lower bands of A, 1/E and r once while a block fits in a core's cache. Otherwise the factor is stored in CSR format.
    Parts store a number more for each unknown.

    A pivot that is not positive is handled by a diagonal shift, which is noted. Raises InputError if no shift helps, or
    if the entries of A are not available.

    Source: Meijerink, van der Vorst 1977; Gupta, van Gijzen, Vuik 2013, section 3; growth of parts: Farhat 1988.
    """

    name: ClassVar[str] = "block-ic"
    title: ClassVar[str] = "block incomplete Cholesky"
    on_ranks: ClassVar[bool] = True

    rows: int = parameter(8, "grid rows in a block", low=1, high=10**9)
    unknowns: int = parameter(0, "unknowns in a block; 0 takes `rows` grid rows", low=0, high=10**12)
    cut: str = cut_parameter()

    def planes_at_once(self, grid: tuple[int, ...]) -> int:
        plane = math.prod(grid[1:])
        return (block := self.unknowns or self.rows * grid[-1]) // math.gcd(block, plane)

    def setup(self, operator: Operator, device: Device) -> Factorized:
        return self._made(operator, device, None)

    def setup_of(self, system: LinearSystem, device: Device, workers: object = None) -> Factorized:
        return self._made(system.operator, device, system.grid)

    def _made(self, operator: Operator, device: Device, grid: tuple[int, ...] | None) -> Factorized:
        block = self.block(operator)
        if grid_of(operator, grid) or not grows(operator, self.cut) or block >= operator.shape[0]:
            return incomplete_cholesky(self.name, operator, device, block)
        grown = Growth.of(csr_of(operator), block)
        made = incomplete_cholesky(self.name, operator, device, block, labels=grown.labels)
        made.notes = [*made.notes, f"block-ic: {grown.in_words}"]
        return made

    def block(self, operator: Operator) -> int:
        """Unknowns per block."""
        if self.unknowns:
            return self.unknowns
        if isinstance(operator, Stencil):
            return self.rows * operator.grid[-1]
        return self.rows * math.isqrt(operator.shape[0] - 1) + self.rows
