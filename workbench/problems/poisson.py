"""Poisson problems with a constant coefficient: 5- and 7-point stencils, assembled 27- and 125-point matrices."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from workbench.blocks import parameter, register
from workbench.operators import Matrix
from workbench.problems.base import LinearSystem, Problem
from workbench.problems.box_neighbours import box_entries, box_neighbours
from workbench.problems.diffusion import assemble_diffusion
from workbench.problems.memory import check_memory

BYTES_PER_ENTRY = 3 * 12
"""A float64 value and an int32 column, three times: `Matrix` checks symmetry on the transpose and the difference."""


@register
@dataclasses.dataclass(frozen=True)
class Poisson5(Problem):
    """The 5-point Laplacian on an n x n grid, Dirichlet rows eliminated: diagonal 4, couplings -1; b = 1, x0 = 0.

    N = n^2, not scaled by 1/h^2. Cost: 5 arrays of N words. Raises InputError for bad parameters.
    Source: the standard second-order difference, e.g. Saad (2003), Iterative Methods for Sparse Linear Systems, section
    2.2.
    """

    name: ClassVar[str] = "poisson5"
    title: ClassVar[str] = "Poisson, 5-point stencil (2D)"

    n: int = parameter(128, "unknowns per side", low=2, high=8192)

    def assemble(self, seed: int = 0) -> LinearSystem:
        return _stencil_system((self.n,) * 2)


@register
@dataclasses.dataclass(frozen=True)
class Poisson7(Problem):
    """The 7-point Laplacian on an n x n x n grid, Dirichlet rows eliminated: diagonal 6, couplings -1; b = 1, x0 = 0.

    N = n^3, not scaled by 1/h^2. Cost: 6 arrays of N words. Raises InputError for bad parameters.
    Source: the standard second-order difference, e.g. Saad (2003), Iterative Methods for Sparse Linear Systems, section
    2.2.
    """

    name: ClassVar[str] = "poisson7"
    title: ClassVar[str] = "Poisson, 7-point stencil (3D)"

    n: int = parameter(64, "unknowns per side", low=2, high=512)

    def assemble(self, seed: int = 0) -> LinearSystem:
        return _stencil_system((self.n,) * 3)


@register
@dataclasses.dataclass(frozen=True)
class Poisson27(Problem):
    """The 27-point operator on an n x n x n grid, assembled: diagonal 26, -1 per neighbour; b = 1, x0 = 0.

    N = n^3, nnz = (3n - 2)^3; neighbours outside the box are dropped, so A is weakly diagonally dominant, strictly so
    in the rows at the boundary, and positive definite. Cost: 12 nnz + 4 N bytes, three times that while it is checked.
    Raises InputError where memory does not suffice.
    Source: the matrix of the HPCG benchmark, Dongarra, Heroux, Luszczek (2016).
    """

    name: ClassVar[str] = "poisson27"
    title: ClassVar[str] = "27-point operator, assembled (3D)"

    n: int = parameter(32, "unknowns per side", low=2, high=320)

    def assemble(self, seed: int = 0) -> LinearSystem:
        return _assembled_system(self, self.n, reach=1)


@register
@dataclasses.dataclass(frozen=True)
class Poisson125(Problem):
    """The 125-point operator on an n x n x n grid, assembled: diagonal 124, -1 per neighbour; b = 1, x0 = 0.

    N = n^3, nnz = (5n - 6)^3; neighbours outside the box are dropped, so A is weakly diagonally dominant, strictly so
    in the rows at the boundary, and positive definite. n = 165 is the paper's 4.5M; the bound on n keeps nnz within 32
    bits. Cost: 12 nnz + 4 N bytes, three times that while it is checked. Raises InputError where memory does not
    suffice.
    Source: Tiwari, Vadhiyar (2022), hybrid pipelined CG, Table 1: sizes and nnz agree; the paper does not print the
    values.
    """

    name: ClassVar[str] = "poisson125"
    title: ClassVar[str] = "125-point operator, assembled (3D)"

    n: int = parameter(24, "unknowns per side", low=2, high=259)

    def assemble(self, seed: int = 0) -> LinearSystem:
        return _assembled_system(self, self.n, reach=2)


def _stencil_system(grid: tuple[int, ...]) -> LinearSystem:
    operator = assemble_diffusion(np.ones(grid), "dirichlet", dirichlet_distance=1.0)
    return LinearSystem(operator, np.ones(operator.shape[0]), grid=grid)


def _assembled_system(problem: Problem, n: int, reach: int) -> LinearSystem:
    needed = BYTES_PER_ENTRY * box_entries(n, reach)
    check_memory(needed, problem.spec, "use a smaller n")
    return LinearSystem(Matrix(box_neighbours(n, reach)), np.ones(n**3), grid=(n, n, n))
