"""Dense coarse solvers, the two of the paper: the inverse of E, or of a singular E, and its Cholesky factor."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np

from workbench.deflation import lapack
from workbench.deflation.coarse import CoarseSolver, Factor, not_definite
from workbench.deflation.parts import Parts
from workbench.devices.coarse import Dense, Triangle
from workbench.errors import InputError
from workbench.lazy import sparse
from workbench.process import limits
from workbench.registry import parameter, register
from workbench.settings import AUTO

MOST_INVERSE = 1e13
"""Entries of the inverse of a matrix with a diagonal of ones; beyond it the matrix is singular to rounding."""
NULL_TOLERANCE = 1e-10
"""A matrix with unit diagonal counts as singular if its product with the null vector of E is at most this."""


def inverse_on_range(matrix: np.ndarray) -> np.ndarray:
    """The inverse of a dense positive definite matrix, or, for a semidefinite one, its inverse on the complement of its
    null space. Raises InputError for any other."""
    diagonal = np.real(np.diagonal(matrix))
    if matrix.shape == (1, 1) and diagonal[0] == 0:
        return np.zeros_like(matrix)
    if not np.all(diagonal > 0):
        raise not_definite(f"its diagonal entry {int(np.argmin(diagonal))} is {diagonal.min():.3g}")
    scale = 1 / np.sqrt(diagonal)
    scaled = scale[:, None] * matrix * scale
    null = np.sqrt(diagonal) / np.linalg.norm(np.sqrt(diagonal))
    try:
        if np.abs(scaled @ null).max() > NULL_TOLERANCE:
            inverse = lapack.inverse(scaled.copy())
        else:
            inverse = lapack.inverse(scaled + np.outer(null, null)) - np.outer(null, null)
    except np.linalg.LinAlgError:
        inverse = pseudo_inverse(scaled)
    if np.abs(inverse).max() > MOST_INVERSE:
        # Another null vector, such as that of the coupled unknowns next to empty rows, passed for rounding.
        inverse = pseudo_inverse(scaled)
    return scale[:, None] * inverse * scale


def pseudo_inverse(matrix: np.ndarray, least: float = 1e-12) -> np.ndarray:
    """The Moore-Penrose inverse of a dense positive semidefinite matrix. Raises InputError for an indefinite one.

    least: eigenvalues that count as zero, over the largest.
    """
    # NumPy's eigh releases the GIL; SciPy's holds it and would block every other thread.
    values, vectors = np.linalg.eigh(matrix)
    cutoff = values[-1] * max(1e-12, least, values.size * np.finfo(matrix.dtype).eps)
    if values[0] < -cutoff:
        raise not_definite(f"its smallest eigenvalue is {values[0]:.3g}")
    kept = values > cutoff
    return (vectors[:, kept] / values[kept]) @ vectors[:, kept].conj().T


FITS = 1 << 20
"""Bytes up to which a machine is not asked for its memory, which takes 0.4 ms."""


@dataclasses.dataclass(frozen=True)
class _DenseSolver(CoarseSolver):
    """A coarse solver with dense matrices of d^2 entries. called: its name in a refusal."""

    called: ClassVar[str]

    largest: int = parameter(8192, "maximum number of deflation vectors", low=1, high=65536, unit="vectors")

    def needed_bytes(self, count: int, width: int, dimensions: int, *, gpu: bool) -> tuple[int, int]:
        # A dense copy of E and its inverse.
        return 16 * count**2, 8 * count**2

    def check_count(self, count: int) -> None:
        needed = self.needed_bytes(count, 0, 0, gpu=False)[0]
        takes = f"the {self.called} of {count} deflation vectors takes {1e-9 * needed:.3g} GB"
        if count > self.largest:
            refusal = f"{takes} and is limited to {self.largest} vectors"
        elif needed > FITS and needed > (available := limits.memory()[1]):
            refusal = f"{takes}, and {1e-9 * available:.3g} GB are free"
        else:
            return
        raise InputError(f"{refusal}; use coarse solver auto", changes={"coarse": AUTO})

    def factor(self, matrix: sparse.csr_array, parts: Parts | None = None) -> Factor:
        self.check_count(matrix.shape[0])
        try:
            return self._made(matrix.toarray())
        except np.linalg.LinAlgError as error:
            raise not_definite(str(error)) from None

    def _made(self, matrix: np.ndarray) -> Factor:
        """The factor of a dense E, which may be overwritten."""
        raise TypeError


@register
@dataclasses.dataclass(frozen=True)
class Inverse(_DenseSolver):
    """The explicit inverse E^-1, the paper's choice for the GPU: a solve is one dense product.

    Cost: setup 2 d^3 flops, memory 8 d^2 bytes, 2 d^2 flops per solve. The rounding errors grow with cond(E) and can
    delay convergence.
    """

    name: ClassVar[str] = "inverse"
    title: ClassVar[str] = "explicit inverse (dense product)"
    called: ClassVar[str] = "explicit inverse"
    advice: ClassVar[str] = (
        "rounding in the explicit inverse of E may be the cause; try coarse solver cholesky or variant a-def2"
    )

    def _made(self, matrix: np.ndarray) -> Factor:
        return DenseFactor(lapack.inverse(matrix))


@register
@dataclasses.dataclass(frozen=True)
class DenseCholesky(_DenseSolver):
    """E = L L^T with a dense L, as the paper's second method: a solve is two dense triangular solves.

    `cholesky` has the same L as a band and costs less; this one is for comparisons with the paper. On the cores
    LAPACK's potrf factors, and BLAS substitutes (trsv twice, the operations of potrs, three times as fast for one
    vector). On CUDA cuSOLVER's potrs solves. On OpenCL, which has no library for it, a solve is two dense products
    with L^-1 and its transpose: more operations, and none of the waiting of a substitution.

    Cost: setup d^3/3 flops, memory 8 d^2 bytes, 2 d^2 flops per solve; on OpenCL d^3/3 flops more, twice the memory
    and 4 d^2 flops.

    Source: Gupta, van Gijzen, Vuik 2013, section 5.1, method 2 (dpotrf and dpotrs).
    """

    name: ClassVar[str] = "dense-cholesky"
    title: ClassVar[str] = "dense Cholesky factorization (dense triangular solves)"
    called: ClassVar[str] = "dense Cholesky factor"

    def needed_bytes(self, count: int, width: int, dimensions: int, *, gpu: bool) -> tuple[int, int]:
        return 8 * count**2, (16 if gpu else 8) * count**2

    def _made(self, matrix: np.ndarray) -> Factor:
        # Restrictions of vectors in single precision are accumulated in double precision.
        return _Triangular(lapack.cholesky(matrix.astype(np.result_type(matrix.dtype, np.float64), copy=False)))


class DenseFactor(Factor):
    """E^-1, or for a singular E an inverse on its range, as a dense matrix."""

    def __init__(self, inverse: np.ndarray) -> None:
        self._inverse = inverse
        self.form = Dense(inverse)

    def solve(self, right: np.ndarray) -> np.ndarray:
        return self._inverse @ right

    solve_columns = solve

    @property
    def traffic(self) -> int:
        return self._inverse.nbytes


class _Triangular(Factor):
    """E^-1 by two substitutions with a dense factor, in double precision."""

    def __init__(self, factor: np.ndarray) -> None:
        from scipy.linalg import blas

        self._factor = factor
        self._substitute: Any = blas.get_blas_funcs("trsv", (factor,))
        self.form = Triangle(factor)

    def solve(self, right: np.ndarray) -> np.ndarray:
        half = self._substitute(self._factor, right, lower=1)
        solution = self._substitute(self._factor, half, lower=1, trans=2, overwrite_x=1)
        return solution.astype(right.dtype, copy=False)

    def solve_columns(self, right: np.ndarray) -> np.ndarray:
        from scipy.linalg import cho_solve

        return cho_solve((self._factor, True), right, check_finite=False)

    @property
    def traffic(self) -> int:
        # Each of the two substitutions reads one half of the matrix.
        return self._factor.nbytes
