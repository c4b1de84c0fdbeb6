"""Subdomains from the graph of a matrix, for matrices without a grid."""

from __future__ import annotations

import dataclasses
import math
from typing import ClassVar

import numpy as np

from workbench.deflation.base import Deflation, DeflationContext
from workbench.deflation.modes import check_nodes, modes_of_parts, translations
from workbench.deflation.subspace import PiecewiseConstant, Subspace
from workbench.devices.host.growth import STRONG, Growth
from workbench.operators import Operator
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

    Where the system has a near null space of m vectors, such as rigid-body modes, each part has a vector for each of
    them, made orthonormal within the part. Unknowns of a node, whose translations come
    first among rigid-body modes, then are in one part.

    Below about 35,000 unknowns a second level seldom pays. Where a direction is weakly coupled that no line of the mesh
    follows, parts help little, as every aggregation does.

    Cost of the setup: three reads of the matrix, about 20 ns an entry; memory 30 bytes an unknown.

    Raises InputError for an A without entries, of which only products are known.

    Source: greedy growth of parts, Farhat 1988; strength as in aggregation, Vaněk, Mandel and Brezina 1996.
    """

    name: ClassVar[str] = "parts"
    title: ClassVar[str] = "parts of the graph"
    by_entries: ClassVar[bool] = True
    takes_near_null: ClassVar[bool] = True

    size: int = parameter(100, "unknowns of a part, about", low=2, high=1_000_000, unit="unknowns")
    theta: float = parameter(STRONG, "strong couplings have at least this share of the strongest", low=0.0, high=1.0)
    node: int = parameter(
        0,
        "unknowns of a node, which are in one part, with a vector for each; 0: one, or of rigid-body modes as many "
        "as translations come first",
        low=0,
        high=64,
        unit="unknowns",
    )

    def estimated_count(self, size: int, grid: tuple[int, ...] | None, interface: float) -> int:
        return -(-size // self.size) * max(1, self.node)

    def fewest(self, size: int, grid: tuple[int, ...] | None, *, closed: bool) -> int:
        # Parts have between a third of the size and a few times as many unknowns.
        return max(1, size // (4 * self.size)) - closed

    def check(self, sides: tuple[int, ...]) -> None:
        check_nodes(math.prod(sides), self.node)

    def labels_of(
        self, operator: Operator, grid: tuple[int, ...] | None, phase: np.ndarray | None = None
    ) -> np.ndarray:
        return self._grown(operator).labels

    def space(self, context: DeflationContext) -> Subspace:
        near_null = context.near_null
        if near_null is None and self.node > 1:
            near_null = translations(context.operator.shape[0], self.node)
        if near_null is not None:
            return modes_of_parts(context.operator, near_null, self.size, self.theta, self.node)
        grown = self._grown(context.operator)
        return PiecewiseConstant(grown.labels, notes=(f"deflation parts: {grown.in_words}",))

    def _grown(self, operator: Operator) -> Growth:
        return Growth.of(csr_of(operator), self.size, self.theta)
