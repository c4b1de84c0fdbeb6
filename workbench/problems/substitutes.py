"""Substitutes for the matrices that papers used: their sizes, and how their entries are made."""

from __future__ import annotations

import dataclasses
import math
from typing import ClassVar, Protocol

from workbench.lazy import sparse
from workbench.problems.catalogue import catalogue
from workbench.problems.irregular_rows import Rows, irregular_rows
from workbench.problems.thinned_grid import ThinnedGrid
from workbench.problems.triangulated_grid import triangulated_entries, triangulated_grid


class Substitute(Protocol):
    """A synthetic matrix of a size that can be scaled; scale 1 is that of the real one.

    peak: memory during assembly, in multiples of the arrays of a real matrix.
    """

    peak: ClassVar[float]

    def unknowns(self, scale: float) -> int:
        """N."""
        ...

    def entries(self, scale: float) -> int:
        """The target for the number of entries."""
        ...

    def matrix(self, scale: float, seed: int) -> sparse.csr_array:
        """The matrix."""
        ...


@dataclasses.dataclass(frozen=True)
class Thinned:
    """`ThinnedGrid` with as many unknowns per node."""

    peak: ClassVar[float] = 1.25

    of: str
    each: int

    def unknowns(self, scale: float) -> int:
        return self.each * round(catalogue()[self.of].N * scale / self.each)

    def entries(self, scale: float) -> int:
        entry = catalogue()[self.of]
        return round((entry.nnz + entry.zeros) * self.unknowns(scale) / entry.N)

    def matrix(self, scale: float, seed: int) -> sparse.csr_array:
        return ThinnedGrid(self.unknowns(scale) // self.each, self.each, self.entries(scale), seed).to_csr()


@dataclasses.dataclass(frozen=True)
class Irregular:
    """`irregular_rows`, with the shortest and the longest row of the real matrix. nodes, pairs: for scale 1.

    phases: for a complex Hermitian matrix.
    """

    peak: ClassVar[float] = 3.0

    nodes: int
    each: int
    pairs: int
    rows: Rows
    phases: bool = False

    def unknowns(self, scale: float) -> int:
        return self.each * round(self.nodes * scale)

    def entries(self, scale: float) -> int:
        return self.each**2 * self._pairs(scale)

    def matrix(self, scale: float, seed: int) -> sparse.csr_array:
        nodes = self.unknowns(scale) // self.each
        return irregular_rows(nodes, self.each, self._pairs(scale), self.rows, seed, phases=self.phases)

    def _pairs(self, scale: float) -> int:
        """A node has one block of its own and couplings in both directions, so nodes and pairs are odd together."""
        nodes = round(self.nodes * scale)
        pairs = round(self.pairs * nodes / self.nodes)
        return pairs + (pairs - nodes) % 2


@dataclasses.dataclass(frozen=True)
class Triangulated:
    """`triangulated_grid`. rows, columns: nodes for scale 1. mass: complex for a complex symmetric matrix."""

    peak: ClassVar[float] = 6.0

    rows: int
    columns: int
    mass: complex

    def unknowns(self, scale: float) -> int:
        return math.prod(self._nodes(scale))

    def entries(self, scale: float) -> int:
        return triangulated_entries(*self._nodes(scale))

    def matrix(self, scale: float, seed: int) -> sparse.csr_array:
        return triangulated_grid(*self._nodes(scale), self.mass)

    def _nodes(self, scale: float) -> tuple[int, int]:
        side = math.sqrt(scale)
        return max(2, round(self.rows * side)), max(2, round(self.columns * side))


SUBSTITUTES: dict[str, Substitute] = {
    # The hybrid pipelined CG papers: 3 displacements per node in solids, 1 potential in `offshore`.
    "bcsstk15": Thinned("bcsstk15", 3),
    "gyro": Thinned("gyro", 3),
    "boneS01": Thinned("boneS01", 3),
    "hood": Thinned("hood", 3),
    "offshore": Thinned("offshore", 1),
    "Serena": Thinned("Serena", 3),
    "Queen_4147": Thinned("Queen_4147", 3),
    # The block CG paper. Its N and entries are those of these node counts exactly.
    "1138_bus": Irregular(1_138, 1, 4_054, Rows(2, 18, ring=0)),
    "m_t1": Irregular(32_526, 3, 1_083_730, Rows(16, 79, ring=7)),
    "parabolic_fem": Triangulated(513, 1025, 0.1),
    "mhd1280b": Irregular(1_280, 1, 22_778, Rows(1, 32, ring=0), phases=True),
    # Twenty wavelengths across the grid, and losses.
    "helm_fem": Triangulated(128, 128, -((1 + 0.15j) * (40 * math.pi / 127) ** 2)),
}
"""By the name of the real matrix."""
