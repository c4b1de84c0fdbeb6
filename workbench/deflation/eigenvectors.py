"""Exact eigenvectors of the smallest or the largest eigenvalues, for reference."""

from __future__ import annotations

import dataclasses
import math
from typing import ClassVar

import numpy as np
from scipy.sparse import linalg

from workbench.deflation.base import Deflation, DeflationContext
from workbench.deflation.subspace import DenseSubspace
from workbench.errors import InputError
from workbench.lazy import sparse
from workbench.registry import parameter, register

MAX_UNKNOWNS = 70_000
SMALL, MOST_DENSE, FULL = 500, 4096, 0.05
"""A dense eigensolver is taken up to the first number of unknowns, and up to the second for a matrix that is full to
this part or more, whose factorization is dense too, and where ARPACK fails. Eight vectors of a 5-point Laplacian took
ARPACK 18, 32 and 57 ms for 289, 961 and 1936 unknowns, and the dense solver 9, 130 and 1338 ms, on one core; where the
smallest eigenvalues are clustered, as those of a kernel plus a small diagonal, ARPACK takes seconds or fails."""
SMALLEST, LARGEST = "smallest", "largest"
SHIFT = 1e-9
"""The shift -SHIFT times the largest diagonal entry makes a singular A nonsingular."""


@register
@dataclasses.dataclass(frozen=True)
class Eigenvectors(Deflation):
    """The eigenvectors of the smallest eigenvalues of A, or of D^-1 A with D = diag(A): the ideal deflation vectors.

    These are the error components that CG reduces most slowly with preconditioner `none` (or `jacobi`). Where the
    smallest eigenvalues are many and close together, and few are large, as of a kernel matrix plus a small diagonal,
    the largest ones are the better choice.

    Cost of the setup: a sparse factorization and shift-and-invert Lanczos (ARPACK), or a dense eigensolver, 2 N^3
    flops; memory 2 count vectors. ARPACK finds the largest without a factorization.

    Raises InputError for more than 70,000 unknowns, for a count above N - 2, and where ARPACK does not converge.
    """

    name: ClassVar[str] = "eigenvectors"
    title: ClassVar[str] = "exact eigenvectors"

    count: int = parameter(8, "eigenvectors", low=1, high=512, unit="vectors")
    of: str = parameter("D^-1 A", "the matrix whose eigenvectors they are", choices=("A", "D^-1 A"))
    end: str = parameter(SMALLEST, "the end of the spectrum whose eigenvectors they are", choices=(SMALLEST, LARGEST))

    def fewest(self, size: int, grid: tuple[int, ...] | None, *, closed: bool) -> int:
        return self.count

    def check(self, sides: tuple[int, ...]) -> None:
        size = math.prod(sides)
        if size > MAX_UNKNOWNS:
            raise InputError(
                f"eigenvectors: at most {MAX_UNKNOWNS} unknowns, got {size}; use deflation ritz",
                changes={"deflation": "ritz"},
            )
        most = size - 2
        if self.count > most:
            raise InputError(
                f"eigenvectors: {self.count} vectors of {size} unknowns leave nothing to CG; use "
                + (f"at most {most}" if most > 0 else "deflation none"),
                changes={"deflation.count": most} if most > 0 else {"deflation": "none"},
            )

    def space(self, context: DeflationContext) -> DenseSubspace:
        size = context.operator.shape[0]
        self.check((size,))
        double = np.result_type(context.operator.dtype, np.float64)
        matrix = sparse.csc_matrix(context.operator.to_csr(), dtype=double)
        weights = np.real(context.operator.diagonal()).astype(float) if self.of != "A" else np.ones(size)
        if size <= SMALL or (size <= MOST_DENSE and matrix.nnz >= FULL * size**2):
            return DenseSubspace(self._by_dense_solver(matrix, weights))
        start = np.random.default_rng(context.seed).random(size).astype(double)
        try:
            vectors = self._by_arpack(matrix, weights, start)
        except (RuntimeError, linalg.ArpackError):
            if size > MOST_DENSE:
                raise InputError(
                    f"eigenvectors: ARPACK finds no {self.count} {self.end} eigenvectors of these {size} unknowns, "
                    "which may have many eigenvalues close together, and a dense eigensolver takes at most "
                    f"{MOST_DENSE}; use deflation ritz",
                    changes={"deflation": "ritz"},
                ) from None
            vectors = self._by_dense_solver(matrix, weights)
        return DenseSubspace(vectors)

    def _by_arpack(self, matrix: sparse.csc_matrix, weights: np.ndarray, start: np.ndarray) -> np.ndarray:
        """Eigenvectors of W^-1 A with W = diag(weights), shape (N, count)."""
        if self.end == LARGEST:
            scale = sparse.diags_array(1 / np.sqrt(weights))
            return scale @ linalg.eigsh(scale @ matrix @ scale, self.count, which="LA", v0=start)[1]
        mass = sparse.csc_matrix(sparse.diags_array(weights), dtype=matrix.dtype) if self.of != "A" else None
        shift = -SHIFT * (1.0 if mass is not None else float(np.real(matrix.diagonal()).max()))
        return linalg.eigsh(matrix, self.count, M=mass, sigma=shift, v0=start)[1]

    def _by_dense_solver(self, matrix: sparse.csc_matrix, weights: np.ndarray) -> np.ndarray:
        """Eigenvectors of W^-1 A with W = diag(weights), shape (N, count)."""
        from scipy.linalg import eigh

        roots, size = np.sqrt(weights)[:, None], weights.size
        first = 0 if self.end == SMALLEST else size - self.count
        wanted = (first, first + self.count - 1)
        return eigh(matrix.toarray() / roots / roots.T, subset_by_index=wanted, overwrite_a=True)[1] / roots
