"""Synthetic substitutes for matrices of papers, for use without a download."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from workbench.devices.constant import constant
from workbench.devices.host.slab import Slab
from workbench.errors import InputError
from workbench.operators import ComplexSymmetricMatrix, Matrix, Size
from workbench.problems.base import LinearSystem, Problem
from workbench.problems.files import rows_of
from workbench.problems.substitutes import SUBSTITUTES, Triangulated
from workbench.registry import parameter, register

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
