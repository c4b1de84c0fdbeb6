"""Synthetic substitutes for large matrices of the SuiteSparse collection, for use without a download."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from workbench.errors import InputError
from workbench.operators import Matrix, Size
from workbench.problems.base import LinearSystem, Problem
from workbench.problems.catalogue import catalogue
from workbench.problems.memory import check_memory
from workbench.problems.thinned_grid import ThinnedGrid
from workbench.registry import parameter, register

UNKNOWNS_PER_NODE = {
    "bcsstk15": 3,
    "gyro": 3,
    "boneS01": 3,
    "hood": 3,
    "offshore": 1,
    "Serena": 3,
    "Queen_4147": 3,
}
"""The matrices of the hybrid pipelined CG papers: 3 displacements per node in solids, 1 potential in `offshore`."""
MIN_UNKNOWNS = 600
BYTES_PER_ENTRY = 8 + 4
DEVIATION = 0.02
"""Largest relative deviation of the number of entries from the target."""
MEMORY_FACTOR = 1.25
"""Peak memory during assembly, in multiples of the matrix."""


@register
@dataclasses.dataclass(frozen=True)
class StandIn(Problem):
    """NOT the named matrix, but a synthetic one with the same N and, within 2%, as many entries; b = 1, x0 = 0.

    Nodes fill a cube of grid points, plane by plane. Each is coupled to neighbours in a box around it, from which pairs
    are dropped at random until the number of entries is right. Couplings are those of elastic bonds, -k (I + d d^T) for
    a unit vector d along the bond, with k the harmonic mean of the stiffness of two nodes, which varies by a factor of
    100. A diagonal entry exceeds the sum of the magnitudes of the others in its row by 1e-3 of it, so A is positive
    definite. It is meant for measurements of time and memory; iteration counts differ from those of the real matrix.

    The number of entries is that of the papers, which count stored zeros. Cost: a few seconds per 10^8 entries; 12 nnz
    + 4 N bytes, plus a quarter of that during assembly. Raises InputError for a scale that leaves fewer than 600
    unknowns, and for insufficient memory.
    Source: sizes from Tiwari, Vadhiyar (2022), hybrid pipelined CG, Table 1.
    """

    name: ClassVar[str] = "stand-in"
    title: ClassVar[str] = "STAND-IN for a matrix of the collection (generated, not the real one)"
    has_grid: ClassVar[bool] = False

    of: str = parameter("bcsstk15", "matrix that it substitutes", choices=tuple(UNKNOWNS_PER_NODE))
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
    def label(self) -> str:
        part = "" if self.scale == 1 else f" x {self.scale:g}"
        return f"stand-in for {self.of}{part}"

    @property
    def unknowns(self) -> int:
        """N: that of the matrix for scale 1, and always a multiple of the unknowns per node."""
        per_node = UNKNOWNS_PER_NODE[self.of]
        return per_node * round(catalogue()[self.of].N * self.scale / per_node)

    @property
    def entries(self) -> int:
        """The target for the number of entries."""
        entry = catalogue()[self.of]
        return round((entry.nnz + entry.zeros) * self.unknowns / entry.N)

    @property
    def known_size(self) -> Size:
        return Size.of_rows(self.unknowns, round((1 - DEVIATION) * self.entries))

    def assemble(self, seed: int = 0) -> LinearSystem:
        check_memory(round(MEMORY_FACTOR * BYTES_PER_ENTRY * self.entries), self.label, "use a smaller scale")
        per_node = UNKNOWNS_PER_NODE[self.of]
        grid = ThinnedGrid(self.unknowns // per_node, per_node, self.entries, self.geometry_seed)
        return LinearSystem(Matrix(grid.to_csr()), np.ones(self.unknowns))
