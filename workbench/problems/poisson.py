"""Constant-coefficient problems with b = 1: 5- and 7-point stencils, 27- and 125-point box operators."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from workbench.devices.constant import constant
from workbench.devices.host.slab import Slab
from workbench.errors import InputError
from workbench.lazy import sparse
from workbench.operators import BoxStencil, Matrix, Size
from workbench.operators.box_stencil import MAX_NNZ
from workbench.operators.matrix_rows import MatrixRows
from workbench.problems.base import LARGEST_CUBE, LARGEST_SQUARE, LinearSystem, Problem
from workbench.problems.diffusion import assemble_diffusion, diffusion_rows
from workbench.registry import parameter, register

FORM_HELP = "assembled as CSR, or matrix-free"
FORMS = ("assembled", "matrix-free")


@register
@dataclasses.dataclass(frozen=True)
class Poisson5(Problem):
    """The 5-point Laplacian on an n x n grid, Dirichlet rows eliminated: diagonal 4, couplings -1; b = 1, x0 = 0.

    N = n^2, not scaled by 1/h^2. Cost: 5 arrays of N words. Raises InputError for bad parameters.
    Source: the second-order difference, Saad 2003, Iterative Methods for Sparse Linear Systems, section 2.2.
    """

    name: ClassVar[str] = "poisson5"
    title: ClassVar[str] = "Poisson, 5-point stencil (2D)"
    on_ranks: ClassVar[bool] = True
    constant_b: ClassVar[bool] = True

    n: int = parameter(128, "unknowns per side", low=2, high=LARGEST_SQUARE)

    @property
    def known_size(self) -> Size:
        return Size.of_stencil((self.n,) * 2, constant_diagonal=True)

    def assemble(self, seed: int = 0) -> LinearSystem:
        return _stencil_system(self)

    def rows(self, slab: Slab, seed: int = 0) -> LinearSystem:
        return _stencil_system(self, slab)


@register
@dataclasses.dataclass(frozen=True)
class Poisson7(Problem):
    """The 7-point Laplacian on an n x n x n grid, Dirichlet rows eliminated: diagonal 6, couplings -1; b = 1, x0 = 0.

    N = n^3, not scaled by 1/h^2. Cost: 6 arrays of N words. Raises InputError for bad parameters.
    Source: the second-order difference, Saad 2003, Iterative Methods for Sparse Linear Systems, section 2.2.
    """

    name: ClassVar[str] = "poisson7"
    title: ClassVar[str] = "Poisson, 7-point stencil (3D)"
    on_ranks: ClassVar[bool] = True
    constant_b: ClassVar[bool] = True

    n: int = parameter(64, "unknowns per side", low=2, high=LARGEST_CUBE)

    @property
    def known_size(self) -> Size:
        return Size.of_stencil((self.n,) * 3, constant_diagonal=True)

    def assemble(self, seed: int = 0) -> LinearSystem:
        return _stencil_system(self)

    def rows(self, slab: Slab, seed: int = 0) -> LinearSystem:
        return _stencil_system(self, slab)


@dataclasses.dataclass(frozen=True)
class _BoxProblem(Problem):
    """Common base class of `Poisson27` and `Poisson125`. reach: cells to each side with which a cell couples."""

    reach: ClassVar[int]
    on_ranks: ClassVar[bool] = True
    constant_b: ClassVar[bool] = True

    n: int = parameter(32, "unknowns per side", low=2, high=LARGEST_CUBE)
    form: str = parameter("assembled", FORM_HELP, choices=FORMS)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.form == "assembled" and self._box.nnz > MAX_NNZ:
            raise InputError(
                f"{self.spec} has {self._box.nnz} entries, at most {MAX_NNZ} are possible with 32-bit indices; "
                "use a smaller n, or form=matrix-free"
            )

    @property
    def known_size(self) -> Size:
        if self.form == "assembled":
            return Size.of_rows(self.n**3, self._box.nnz, constant_diagonal=True)
        return Size(self.n**3, 0, constant_diagonal=True)

    @property
    def grid(self) -> tuple[int, ...]:
        return (self.n,) * 3

    def assemble(self, seed: int = 0) -> LinearSystem:
        self.check_memory()
        operator, b = self._box, constant(1, self.n**3, np.float64)
        assembled = self.form == "assembled"
        return LinearSystem(Matrix(operator.to_csr()) if assembled else operator, b, grid=operator.grid)

    def rows(self, slab: Slab, seed: int = 0) -> LinearSystem:
        if self.form != "assembled":
            raise InputError(
                f"{self.name} matrix-free does not run on ranks; use form=assembled",
                changes={"problem.form": "assembled"},
            )
        # Rows of the planes next to the slab are made as well, and cut off.
        near = slab.within(self.reach)
        box = dataclasses.replace(self._box, grid=near.taller).to_csr()
        rows = MatrixRows.of(sparse.csr_array(box[near.inner]), slab, near.planes.start * slab.plane)
        return LinearSystem(rows, constant(1, slab.size, np.float64), grid=slab.grid, slab=slab)

    @property
    def hint(self) -> str:
        return "use a smaller n, or form=matrix-free" if self.form == "assembled" else "use a smaller n"

    @property
    def _box(self) -> BoxStencil:
        cells = (2 * self.reach + 1) ** 3
        return BoxStencil((self.n,) * 3, self.reach, float(cells - 1), -1.0)


@register
@dataclasses.dataclass(frozen=True)
class Poisson27(_BoxProblem):
    """The 27-point operator on an n x n x n grid: diagonal 26, -1 per neighbour; b = 1, x0 = 0.

    N = n^3, nnz = (3n - 2)^3. Neighbours outside the box are dropped, so A is weakly diagonally dominant, strictly so
    in the rows at the boundary, and positive definite.

    Cost: assembled, 12 nnz + 4 N bytes, all read by a product; matrix-free, no storage, and a product moves 2 N words.
    Raises InputError for insufficient memory, and assembled for n > 430, beyond which 32-bit indices overflow.
    Source: the matrix of the HPCG benchmark, Dongarra, Heroux, Luszczek (2016).
    """

    name: ClassVar[str] = "poisson27"
    title: ClassVar[str] = "27-point operator (3D)"
    reach: ClassVar[int] = 1


@register
@dataclasses.dataclass(frozen=True)
class Poisson125(_BoxProblem):
    """The 125-point operator on an n x n x n grid: diagonal 124, -1 per neighbour; b = 1, x0 = 0.

    N = n^3, nnz = (5n - 6)^3. Neighbours outside the box are dropped, so A is weakly diagonally dominant, strictly so
    in the rows at the boundary, and positive definite. n = 165 is the paper's 4.5M.

    Cost: assembled, 12 nnz + 4 N bytes, all read by a product; matrix-free, no storage, and a product moves 2 N words.
    Raises InputError for insufficient memory, and assembled for n > 259, beyond which 32-bit indices overflow.
    Source: Tiwari, Vadhiyar 2022, Table 1: sizes and nnz agree; the paper does not print the
    values.
    """

    name: ClassVar[str] = "poisson125"
    title: ClassVar[str] = "125-point operator (3D)"
    reach: ClassVar[int] = 2

    n: int = parameter(24, "unknowns per side", low=2, high=LARGEST_CUBE)


def _stencil_system(problem: Poisson5 | Poisson7, slab: Slab | None = None) -> LinearSystem:
    grid = problem.known_size.grid
    assert grid is not None
    if slab is None:
        problem.check_memory()
        operator = assemble_diffusion(np.ones(grid), "dirichlet", dirichlet_distance=1.0)
    else:
        operator = diffusion_rows(np.ones(slab.taller), "dirichlet", slab, dirichlet_distance=1.0)
    return LinearSystem(operator, constant(1, operator.shape[0], np.float64), grid=grid, slab=slab)
