"""Synthetic substitutes for the matrices that papers used, for use without a download: their sizes, and how their
entries are made.
"""

from __future__ import annotations

import dataclasses
import math
from typing import ClassVar, Protocol

import numpy as np

from workbench.devices.constant import constant
from workbench.devices.host.slab import Slab
from workbench.errors import InputError
from workbench.lazy import sparse
from workbench.operators import ComplexSymmetricMatrix, Matrix, Size
from workbench.problems.base import LinearSystem, Problem
from workbench.problems.catalogue import catalogue
from workbench.problems.files import rows_of
from workbench.problems.synthetic_rows import (
    Rows,
    ThinnedGrid,
    grid_points,
    irregular_rows,
    triangulated_entries,
    triangulated_grid,
)
from workbench.registry import parameter, register


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

    def places(self, scale: float) -> np.ndarray | None:
        """The places of its unknowns, shape (N, 2) or (N, 3); None where they have none."""
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

    def places(self, scale: float) -> np.ndarray:
        return np.repeat(grid_points(self.unknowns(scale) // self.each), self.each, axis=0)


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

    def places(self, scale: float) -> None:
        return None

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

    def places(self, scale: float) -> np.ndarray:
        rows, columns = self._nodes(scale)
        node = np.arange(rows * columns)
        return np.column_stack([node % columns, node // columns]).astype(float)

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


MIN_UNKNOWNS = 600
BYTES_PER_ENTRY = 8 + 4
DEVIATION = 0.02
"""Largest relative deviation of the number of entries from the target."""


@register
@dataclasses.dataclass(frozen=True)
class StandIn(Problem):
    """NOT the named matrix, but a synthetic one with the same N and, within 2%, as many entries; b = 1, x0 = 0.

    For the matrices of the hybrid pipelined CG papers nodes fill a cube of grid points, plane by plane. Each is coupled
    to neighbours in a box around it, from which pairs are dropped at random until the number of entries is right.
    Couplings are those of elastic bonds, -k (I + d d^T) for a unit vector d along the bond, with k the harmonic mean of
    the stiffness of two nodes, which varies by a factor of 100. A diagonal entry exceeds the sum of the magnitudes of
    the others in its row by 1e-3 of it, so A is positive definite.

    For those of the block CG paper N, the entries, and the shortest and longest row are the printed ones: m_t1 has
    elastic bonds between nodes on a ring, near neighbours and random others, 1138_bus random ones alone, and mhd1280b
    those with random phases, which make it complex and Hermitian; parabolic_fem and helm_fem are linear
    finite elements on triangles, K + 0.1 M, and K less a complex multiple of M, which is complex symmetric.

    On ranks each assembles the whole, and keeps its rows.

    It is meant for measurements of time and memory; iteration counts differ from those of the real matrix. The number
    of entries is that of the papers, which count stored zeros. Cost: a few seconds per 10^8 entries (m_t1: per 10^7);
    12 nnz + 4 N bytes, and more during assembly (a quarter; for those of block CG several times that). Raises
    InputError for a scale that leaves fewer than 600 unknowns, for insufficient memory, and for helm_fem with a method
    that needs a Hermitian matrix.
    Source: sizes from Tiwari, Vadhiyar 2022, Table 1; Tali, Vainikko, Table I.
    """

    name: ClassVar[str] = "stand-in"
    title: ClassVar[str] = "STAND-IN for a matrix of the collection (generated, not the real one)"
    has_grid: ClassVar[bool] = False
    on_ranks: ClassVar[bool] = True

    of: str = parameter("bcsstk15", "matrix that it substitutes", choices=tuple(SUBSTITUTES))
    scale: float = parameter(1.0, "fraction of the unknowns", low=1e-4, high=1.0)
    geometry_seed: int = parameter(0, "seed of the pairs dropped and of the stiffness", low=0, high=2**31 - 1)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.unknowns < MIN_UNKNOWNS:
            raise InputError(
                f"stand-in: scale {self.scale:g} leaves {self.unknowns} unknowns of {self.of}, at least {MIN_UNKNOWNS} "
                "are needed; use a larger scale"
            )

    @property
    def unknowns(self) -> int:
        """N: that of the matrix for scale 1, and always a multiple of the unknowns per node."""
        return SUBSTITUTES[self.of].unknowns(self.scale)

    @property
    def entries(self) -> int:
        """The target for the number of entries."""
        return SUBSTITUTES[self.of].entries(self.scale)

    @property
    def is_complex_symmetric(self) -> bool:
        substitute = SUBSTITUTES[self.of]
        return isinstance(substitute, Triangulated) and isinstance(substitute.mass, complex)

    def coordinates(self) -> np.ndarray | None:
        return SUBSTITUTES[self.of].places(self.scale)

    @property
    def known_size(self) -> Size:
        return Size.of_rows(self.unknowns, round((1 - DEVIATION) * self.entries))

    @property
    def hint(self) -> str:
        return "use a smaller scale"

    @property
    def assembly_bytes(self) -> int:
        return round(SUBSTITUTES[self.of].peak * BYTES_PER_ENTRY * self.entries)

    def assemble(self, seed: int = 0) -> LinearSystem:
        return self._assembled(Matrix)

    def rows(self, slab: Slab, seed: int = 0) -> LinearSystem:
        return rows_of(self.assemble(seed), slab)

    def assemble_complex_symmetric(self, seed: int = 0) -> LinearSystem:
        return self._assembled(ComplexSymmetricMatrix)

    def _assembled(self, kind: type[Matrix]) -> LinearSystem:
        self.check_memory()
        operator = kind(SUBSTITUTES[self.of].matrix(self.scale, self.geometry_seed))
        return LinearSystem(operator, constant(1, self.unknowns, operator.dtype))
