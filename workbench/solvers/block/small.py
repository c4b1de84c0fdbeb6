"""Factorizations of small Hermitian matrices, scaled to a unit diagonal so that columns of any size count alike."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import get_lapack_funcs, solve_triangular

from workbench.devices.kernels.small import RankBounds

ROUNDING, LOST = 1e-14, 16
"""An eigenvalue of a Gram matrix with a unit diagonal counts as zero below the first times the largest, and where the
column Y t is below the second in units of roundoff of each column of Y, so that rounding alone may have made it."""


class Factor(NamedTuple):
    """G = L L^H on the rows and columns `kept`, in the order of the pivots. pivot: the smallest over the largest."""

    kept: np.ndarray
    lower: np.ndarray
    pivot: float

    def inverse(self, size: int) -> np.ndarray:
        """L^-H at the place of its columns in a size x size matrix, zero elsewhere."""
        made = np.zeros((size, size), self.lower.dtype)
        made[np.ix_(self.kept, self.kept)] = inverse_of(self.lower).conj().T
        return made

    def adjoint(self, size: int) -> np.ndarray:
        """L^H at the place of its columns in a size x size matrix, zero elsewhere."""
        made = np.zeros((size, size), self.lower.dtype)
        made[np.ix_(self.kept, self.kept)] = self.lower.conj().T
        return made


def inverse_of(lower: np.ndarray) -> np.ndarray:
    """L^-1 of a lower triangular matrix."""
    return solve_triangular(lower, np.eye(lower.shape[0], dtype=lower.dtype), lower=True)


def pivoted(gram: np.ndarray, columns: np.ndarray, largest: float, bounds: RankBounds) -> Factor:
    """The Cholesky factor with pivots of a Gram matrix, among some of its columns.

    largest: the norm that counts as large. Columns whose norm, relative to it, is not above its bound, and those from
    the first pivot that is not on, are left out.
    """
    norms = np.sqrt(np.maximum(np.real(np.diag(gram)), 0))
    columns = columns[norms[columns] > bounds.zero * largest]
    if not columns.size:
        return Factor(columns, np.zeros((0, 0), gram.dtype), np.nan)
    d = norms[columns]
    scaled = gram[np.ix_(columns, columns)] / np.outer(d, d)
    (factorize,) = get_lapack_funcs(("pstrf",), (scaled,))
    found, order, rank, _ = factorize(scaled, tol=bounds.dependent, lower=1)
    order = order[:rank] - 1
    lower = np.tril(found[:rank, :rank])
    pivots = np.real(np.diag(lower)) ** 2
    return Factor(columns[order], d[order, None] * lower, float(pivots.min() / pivots.max()))


def cholesky(matrix: np.ndarray, columns: np.ndarray) -> Factor | None:
    """The Cholesky factor of a Hermitian matrix on some of its columns; None where it is not positive definite."""
    part = matrix[np.ix_(columns, columns)]
    if not columns.size:
        return Factor(columns, part, np.nan)
    diagonal = np.real(np.diag(part))
    if not (diagonal > 0).all():
        return None
    d = np.sqrt(diagonal)
    try:
        lower = np.linalg.cholesky(part / np.outer(d, d))
    except np.linalg.LinAlgError:
        return None
    pivots = np.real(np.diag(lower)) ** 2
    return Factor(columns, d[:, None] * lower, float(pivots.min() / pivots.max()))


def smallest_eigenvalue(matrix: np.ndarray, columns: np.ndarray) -> float:
    """The eigenvalue of a Hermitian matrix on these columns, scaled to a diagonal of 1 or -1; NaN if not finite."""
    part = matrix[np.ix_(columns, columns)]
    if not np.isfinite(part).all():
        return np.nan
    d = np.sqrt(np.abs(np.real(np.diag(part))))
    d[d == 0] = 1
    return float(np.linalg.eigvalsh(part / np.outer(d, d))[0])


def curvature_of(delta: np.ndarray, columns: np.ndarray, square: float) -> float:
    """The curvature, at most 0, where P^H A P has no Cholesky factor: its smallest eigenvalue, for a unit diagonal.

    For a method of one column it is (p, A p) itself. square: ||p||^2 of CG over that of this method's direction.
    """
    if delta.size == 1:
        return square * float(np.real(delta[0, 0]))
    smallest = smallest_eigenvalue(delta, columns)
    return smallest if np.isnan(smallest) else min(0.0, smallest)


def basis_of(gram: np.ndarray, dtype: np.dtype) -> tuple[np.ndarray, int]:
    """T with orthonormal columns of Y T for the Gram matrix of Y, in its first columns, and their number.

    By the eigenvectors of the Gram matrix scaled to a unit diagonal, without those of eigenvalues that are rounding.
    dtype: of Y.
    """
    d = np.sqrt(np.maximum(np.real(np.diag(gram)), 0))
    used = np.flatnonzero(d > 0)
    made = np.zeros(gram.shape, gram.dtype)
    if not used.size or not np.isfinite(gram).all():
        return made, 0
    values, vectors = np.linalg.eigh(gram[np.ix_(used, used)] / np.outer(d[used], d[used]))
    kept = values > max(ROUNDING, used.size * (LOST * float(np.finfo(dtype).eps)) ** 2) * values[-1]
    basis = vectors[:, kept] / np.sqrt(values[kept]) / d[used, None]
    made[np.ix_(used, np.arange(basis.shape[1]))] = basis
    return made, basis.shape[1]
