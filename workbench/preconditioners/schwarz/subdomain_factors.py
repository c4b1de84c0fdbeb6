"""Boxes of a Schwarz method and their factors, for direct solves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh_tridiagonal
from scipy.sparse import linalg

from workbench.devices.fast_diagonalization import Diagonalized
from workbench.errors import InputError
from workbench.lazy import sparse
from workbench.operators import Matrix


class Subdomain(NamedTuple):
    """A box: its matrix, and its grid (.., ny, nx), None where the unknowns have none."""

    matrix: sparse.csr_array
    grid: tuple[int, ...] | None


def joined(boxes: Sequence[Subdomain]) -> Matrix:
    """The matrix of all boxes, one after the other."""
    return Matrix(sparse.csr_array(sparse.block_diag([box.matrix for box in boxes], format="csr")))


class Factor:
    """A factorized box. size: its unknowns; nbytes, flops: of one solve."""

    size: int
    nbytes: int
    flops: int

    def solve(self, r: np.ndarray) -> np.ndarray:
        raise TypeError


class Separable(Factor):
    """(A_1 (x) I + I (x) A_2 + ..)^-1 for tridiagonal A_k, by their eigenvectors."""

    def __init__(self, parts: Sequence[tuple[np.ndarray, np.ndarray]], precision: np.dtype) -> None:
        pairs = [eigh_tridiagonal(main, below) if main.size > 1 else (main, np.ones((1, 1))) for main, below in parts]
        # Axes in the order of the grid: the last part is the fastest.
        sums = np.zeros(())
        for values, _ in pairs:
            sums = np.add.outer(sums, values)
        if not sums.min() > 0:
            raise InputError(f"schwarz: a box is not positive definite: its smallest eigenvalue is {sums.min():.3g}")
        vectors = tuple(vectors.astype(precision) for _, vectors in pairs)
        self.diagonalized = Diagonalized(vectors, (1 / sums).astype(precision))
        self.size = sums.size
        self.nbytes, self.flops = self.diagonalized.nbytes, self.diagonalized.flops

    def solve(self, r: np.ndarray) -> np.ndarray:
        found = self._along(r.reshape(self.diagonalized.grid), transposed=True) * self.diagonalized.inverse
        return self._along(found, transposed=False).ravel()

    def _along(self, values: np.ndarray, *, transposed: bool) -> np.ndarray:
        """The matrices of eigenvectors, or their transposes, applied along every axis."""
        for axis, vectors in enumerate(self.diagonalized.vectors):
            matrix = vectors.T if transposed else vectors
            before, length = math.prod(values.shape[:axis]), values.shape[axis]
            if axis == values.ndim - 1:
                values = (values.reshape(-1, length) @ matrix.T).reshape(values.shape)
            else:
                values = (matrix @ values.reshape(before, length, -1)).reshape(values.shape)
        return values


class Sparse(Factor):
    """L D L^T in minimum-degree order, by SuperLU without pivoting."""

    def __init__(self, matrix: sparse.csr_array, precision: np.dtype) -> None:
        options = {"SymmetricMode": True}
        columns = sparse.csc_matrix(matrix, dtype=precision)
        try:
            self._lu = linalg.splu(columns, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)
        except RuntimeError as error:
            raise InputError(f"schwarz: a box cannot be factorized: {error}; A must be positive definite") from None
        pivot = float(np.real(self._lu.U.diagonal()).min())
        if not pivot > 0:
            raise InputError(f"schwarz: a box is not positive definite: a pivot of its factorization is {pivot:.3g}")
        self.size, entries = matrix.shape[0], int(self._lu.nnz)
        self.nbytes = entries * (4 + np.dtype(precision).itemsize)
        self.flops = 2 * entries

    def solve(self, r: np.ndarray) -> np.ndarray:
        return self._lu.solve(r)


def factor_of(box: Subdomain, precision: np.dtype, made: dict[bytes, Factor]) -> Factor:
    """The factor of a box, the same one for equal matrices."""
    matrix = box.matrix
    key = b"".join(part.tobytes() for part in (matrix.data, matrix.indices, matrix.indptr)) + repr(box.grid).encode()
    if key not in made:
        parts = _kronecker_sum(box)
        made[key] = Separable(parts, precision) if parts else Sparse(matrix, precision)
    return made[key]


def _kronecker_sum(box: Subdomain) -> list[tuple[np.ndarray, np.ndarray]] | None:
    """Diagonal and subdiagonal of each factor, slowest axis first, of a box that is a Kronecker sum of them exactly;
    else None."""
    matrix, grid = box.matrix, box.grid
    if grid is None or matrix.dtype.kind == "c":
        return None
    main = matrix.diagonal().reshape(grid)
    parts, sums, strides = [], np.zeros(()), np.cumprod([1, *grid[:0:-1]])[::-1]
    for axis, points in enumerate(grid):
        lower = np.zeros(main.size)
        stride = int(strides[axis])
        lower[stride:] = matrix.diagonal(-stride)
        lines = np.moveaxis(lower.reshape(grid), axis, 0).reshape(points, -1)
        along = np.moveaxis(main, axis, 0).reshape(points, -1)[:, 0]
        if (lines != lines[:, :1]).any():
            return None
        # The corner belongs to the first factor alone.
        parts.append((along - (main.flat[0] if axis else 0), lines[1:, 0]))
        sums = np.add.outer(sums, parts[-1][0])
    expected = main.size + 2 * sum((points - 1) * main.size // points for points in grid)
    return parts if (sums == main).all() and matrix.nnz <= expected else None
