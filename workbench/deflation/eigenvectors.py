"""Exact eigenvectors of the smallest eigenvalues, for reference."""

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
SHIFT = 1e-9
"""The shift -SHIFT times the largest diagonal entry makes a singular A nonsingular."""


@register
@dataclasses.dataclass(frozen=True)
class Eigenvectors(Deflation):
    """The eigenvectors of the smallest eigenvalues of A, or of D^-1 A with D = diag(A): the ideal deflation vectors.

    These are the error components that CG reduces most slowly with preconditioner `none` (or `jacobi`).

    Cost of the setup: a sparse factorization and a shift-and-invert Lanczos process (ARPACK); memory 2 count vectors.

    Raises InputError for more than 70,000 unknowns, and for a count above N - 2.
    """

    name: ClassVar[str] = "eigenvectors"
    title: ClassVar[str] = "exact smallest eigenvectors"

    count: int = parameter(8, "eigenvectors", low=1, high=512, unit="vectors")
    of: str = parameter("D^-1 A", "the matrix whose eigenvectors they are", choices=("A", "D^-1 A"))

    def fewest(self, size: int, grid: tuple[int, ...] | None, *, closed: bool) -> int:
        return self.count

    def check(self, sides: tuple[int, ...]) -> None:
        size = math.prod(sides)
        if size > MAX_UNKNOWNS:
            raise InputError(
                f"eigenvectors: at most {MAX_UNKNOWNS} unknowns, got {size}; use deflation ritz",
                changes={"deflation": "ritz"},
            )
        if self.count > size - 2:
            raise InputError(
                f"eigenvectors: {self.count} vectors of {size} unknowns leave nothing to CG; use at most {size - 2}",
                changes={"deflation.count": max(1, size - 2)},
            )

    def space(self, context: DeflationContext) -> DenseSubspace:
        size = context.operator.shape[0]
        self.check((size,))
        double = np.result_type(context.operator.dtype, np.float64)
        matrix = sparse.csc_matrix(context.operator.to_csr(), dtype=double)
        diagonal = np.real(context.operator.diagonal()).astype(float)
        mass = sparse.csc_matrix(sparse.diags_array(diagonal), dtype=double) if self.of != "A" else None
        scale = 1.0 if mass is not None else float(diagonal.max())
        start = np.random.default_rng(context.seed).random(size).astype(double)
        try:
            _, vectors = linalg.eigsh(matrix, self.count, M=mass, sigma=-SHIFT * scale, v0=start)
        except (RuntimeError, linalg.ArpackError) as error:
            raise InputError(f"eigenvectors could not be computed: {error}; use deflation ritz") from None
        return DenseSubspace(vectors)
