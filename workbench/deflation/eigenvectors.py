"""The exact smallest eigenvectors, for study."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np
from scipy import sparse
from scipy.sparse import linalg

from workbench.deflation.base import Deflation, DeflationContext
from workbench.deflation.subspace import SpannedBy
from workbench.errors import InputError
from workbench.registry import parameter, register

LARGEST = 70_000
SHIFT = 1e-9
"""Below zero by this much of the largest diagonal entry, so that a singular A can be factored."""


@register
@dataclasses.dataclass(frozen=True)
class Eigenvectors(Deflation):
    """The eigenvectors of the smallest eigenvalues of A, or of D^-1 A, D its diagonal: what deflation at best removes.

    They are what the first level `none` (or `jacobi`) leaves to CG, one by one. Setup: a sparse factorization and a
    shift-and-invert Lanczos process (ARPACK), for at most 70,000 unknowns; memory 2 count vectors. Raises InputError
    for more unknowns, and for a count that leaves no other eigenvector.
    """

    name: ClassVar[str] = "eigenvectors"
    title: ClassVar[str] = "exact smallest eigenvectors"

    count: int = parameter(8, "eigenvectors", low=1, high=512, unit="vectors")
    of: str = parameter("D^-1 A", "the matrix whose eigenvectors they are", choices=("A", "D^-1 A"))

    def space(self, given: DeflationContext) -> SpannedBy:
        size = given.operator.shape[0]
        if size > LARGEST:
            raise InputError(f"eigenvectors: offered for at most {LARGEST} unknowns, got {size}; use deflation ritz")
        if self.count > size - 2:
            raise InputError(
                f"eigenvectors: {self.count} vectors of {size} unknowns leave nothing to CG; use at most {size - 2}"
            )
        wide = np.result_type(given.operator.dtype, np.float64)
        matrix = sparse.csc_matrix(given.operator.to_csr(), dtype=wide)
        diagonal = np.real(given.operator.diagonal()).astype(float)
        mass = sparse.csc_matrix(sparse.diags_array(diagonal), dtype=wide) if self.of != "A" else None
        scale = 1.0 if mass is not None else float(diagonal.max())
        start = np.random.default_rng(given.seed).random(size).astype(wide)
        try:
            _, vectors = linalg.eigsh(matrix, self.count, M=mass, sigma=-SHIFT * scale, v0=start)
        except (RuntimeError, linalg.ArpackError) as error:
            raise InputError(f"eigenvectors could not be computed: {error}; use deflation ritz") from None
        return SpannedBy(vectors)
