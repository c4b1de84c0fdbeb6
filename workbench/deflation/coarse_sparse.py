"""Sparse direct coarse solver, for many deflation vectors."""

from __future__ import annotations

import dataclasses
import math
from typing import ClassVar

import numpy as np
from scipy.sparse import linalg

from workbench.deflation.coarse import CoarseSolver, Factor, not_definite
from workbench.deflation.parts import Parts
from workbench.lazy import sparse
from workbench.registry import register

FILL_3D, FILL_2D = 7.7, 1.6
"""Entries of L over d^(4/3) in 3D and over d log2 d in 2D, counted for 37440 and 40000 vectors of boxes."""


@register
@dataclasses.dataclass(frozen=True)
class SparseFactor(CoarseSolver):
    """E = L D L^T in minimum-degree ordering without pivoting, by SuperLU in symmetric mode, in double precision.

    For thousands of vectors, as of many small blocks in 3D, where it has less fill than a band.

    Cost: memory and time depend on the fill; a solve reads both factors once.
    """

    name: ClassVar[str] = "sparse"
    title: ClassVar[str] = "sparse factorization (minimum degree)"

    def needed_bytes(self, count: int, width: int, dimensions: int, *, gpu: bool) -> tuple[int, int]:
        # Nested dissection of boxes has d^(4/3) entries in 3D, and d log d in 2D; L and U hold 12 bytes for each.
        entries = FILL_3D * count ** (4 / 3) if dimensions > 2 else FILL_2D * count * math.log2(max(2, count))
        return round(2 * 12 * entries), 0

    def factor(self, matrix: sparse.csr_array, parts: Parts | None = None) -> Factor:
        return _SuperLU(matrix)


class _SuperLU(Factor):
    def __init__(self, matrix: sparse.csr_array) -> None:
        # SuperLU solves in the dtype of its matrix, and restrictions of float32 vectors are accumulated in float64.
        self._double = np.result_type(matrix.dtype, np.float64)
        try:
            self._factor = linalg.splu(
                sparse.csc_matrix(matrix, dtype=self._double),
                permc_spec="MMD_AT_PLUS_A",
                diag_pivot_thresh=0.0,
                options={"SymmetricMode": True},
            )
        except RuntimeError as error:
            raise not_definite(str(error)) from None
        pivots = self._factor.U.diagonal()
        if not np.all(np.real(pivots) > 0):
            raise not_definite(f"pivot {int(np.argmin(np.real(pivots)))} is {np.real(pivots).min():.3g}")

    def solve(self, right: np.ndarray) -> np.ndarray:
        return self._factor.solve(right.astype(self._double, copy=False)).astype(right.dtype, copy=False)

    solve_columns = solve

    @property
    def traffic(self) -> int:
        return (4 + self._double.itemsize) * int(self._factor.nnz)
