"""Generated matrices that stand in for large ones of the SuiteSparse collection where those cannot be downloaded."""

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

UNKNOWNS_A_NODE = {
    "bcsstk15": 3,
    "gyro": 3,
    "boneS01": 3,
    "hood": 3,
    "offshore": 1,
    "Serena": 3,
    "Queen_4147": 3,
}
"""The matrices of the hybrid pipelined CG papers: three displacements a node in solids, one potential in `offshore`."""
FEWEST = 600
BYTES_PER_ENTRY = 8 + 4
DEVIATION = 0.02
"""Of the entries from what is aimed at, as a fraction."""
ROOM = 1.25
"""Memory while the matrix is made, in sizes of the matrix."""


@register
@dataclasses.dataclass(frozen=True)
class StandIn(Problem):
    """NOT the matrix of that name, but a generated one with its N and, within 2%, its entries; b = 1, x0 = 0.

    Nodes fill a cube of grid points, plane after plane; each is coupled to neighbours in a box around it, from which
    pairs are dropped at random until the count is right. Couplings are those of elastic bonds, -k (I + d d^T) for a
    unit vector d along the bond, with k the harmonic mean of two nodes' stiffness, which varies by a factor of 100.
    The diagonal exceeds the other entries of its row by 1e-3 of their sum, so A is positive definite. Entries, rows and
    sizes suit measurements of time and memory; iteration counts are not those of the real matrix.

    The number of entries is the papers', which count stored zeros. Cost: seconds per 10^8 entries, 12 nnz + 4 N bytes,
    and a quarter of that while it is made. Raises InputError for a scale that leaves fewer than 600 unknowns, and where
    memory does not suffice.
    Source: sizes from Tiwari, Vadhiyar (2022), hybrid pipelined CG, Table 1.
    """

    name: ClassVar[str] = "stand-in"
    title: ClassVar[str] = "STAND-IN for a matrix of the collection (generated, not the real one)"
    has_grid: ClassVar[bool] = False

    of: str = parameter("bcsstk15", "matrix it stands in for", choices=tuple(UNKNOWNS_A_NODE))
    scale: float = parameter(1.0, "fraction of the unknowns", low=1e-4, high=1.0)
    geometry_seed: int = parameter(0, "seed of the pairs dropped and of the stiffness", low=0, high=2**31 - 1)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.unknowns < FEWEST:
            raise InputError(
                f"stand-in: scale {self.scale:g} leaves {self.unknowns} unknowns of {self.of}, at least {FEWEST} are "
                "needed; use a larger scale"
            )

    @property
    def label(self) -> str:
        part = "" if self.scale == 1 else f" x {self.scale:g}"
        return f"stand-in for {self.of}{part}"

    @property
    def unknowns(self) -> int:
        """N: that of the matrix for scale 1, else a whole number of nodes."""
        each = UNKNOWNS_A_NODE[self.of]
        return each * round(catalogue()[self.of].N * self.scale / each)

    @property
    def entries(self) -> int:
        """The number of entries aimed at."""
        entry = catalogue()[self.of]
        return round((entry.nnz + entry.zeros) * self.unknowns / entry.N)

    @property
    def known_size(self) -> Size:
        return Size.of_rows(self.unknowns, round((1 - DEVIATION) * self.entries))

    def assemble(self, seed: int = 0) -> LinearSystem:
        check_memory(round(ROOM * BYTES_PER_ENTRY * self.entries), self.label, "use a smaller scale")
        each = UNKNOWNS_A_NODE[self.of]
        grid = ThinnedGrid(self.unknowns // each, each, self.entries, self.geometry_seed)
        return LinearSystem(Matrix(grid.to_csr()), np.ones(self.unknowns))
