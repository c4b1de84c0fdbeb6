"""Subdomains from the graph of a matrix, for matrices without a grid."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from workbench.deflation.base import Deflation, DeflationContext
from workbench.deflation.subspace import PiecewiseConstant
from workbench.devices.host.growth import STRONG, Growth
from workbench.operators.cuts import csr_of
from workbench.registry import parameter, register


@register
@dataclasses.dataclass(frozen=True)
class GrownParts(Deflation):
    """Parts of about `size` unknowns each, grown along the strong couplings of A; one vector for each.

    A coupling is strong where a_ij < 0 and a_ij² ≥ θ² m_i m_j, m_i being the largest -a_ij of a row: parts follow the
    directions and the phases in which the matrix couples. They need neither a grid nor coordinates. Parts that remain
    small join a neighbour. The same matrix gives the same parts, whatever the number of threads; another numbering of
    its unknowns gives others of the same quality.

    Below about 35,000 unknowns a second level seldom pays. Where a direction is weakly coupled that no line of the mesh
    follows, parts help little, as every aggregation does.

    Cost of the setup: three reads of the matrix, about 20 ns an entry; memory 30 bytes an unknown.

    Raises InputError for an A without entries, of which only products are known.

    Source: greedy growth of parts, Farhat 1988; strength as in aggregation, Vaněk, Mandel and Brezina 1996.
    """

    name: ClassVar[str] = "parts"
    title: ClassVar[str] = "parts of the graph"

    size: int = parameter(100, "unknowns of a part, about", low=2, high=1_000_000, unit="unknowns")
    theta: float = parameter(
        STRONG, "strong couplings have at least this share of the strongest ones", low=0.0, high=1.0
    )

    def estimated_count(self, size: int, grid: tuple[int, ...] | None, interface: float) -> int:
        return -(-size // self.size)

    def fewest(self, size: int, grid: tuple[int, ...] | None, *, closed: bool) -> int:
        # Parts have between a third of the size and a few times as many unknowns.
        return max(1, size // (4 * self.size)) - closed

    def space(self, context: DeflationContext) -> PiecewiseConstant:
        grown = Growth.of(csr_of(context.operator), self.size, self.theta)
        return PiecewiseConstant(grown.labels, notes=(f"deflation parts: {grown.in_words}",))
