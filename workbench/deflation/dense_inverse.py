"""Dense inverses of coarse matrices, also of singular ones."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from workbench.deflation import lapack
from workbench.deflation.coarse import not_definite

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
    except linalg.LinAlgError:
        inverse = pseudo_inverse(scaled)
    return scale[:, None] * inverse * scale


def pseudo_inverse(matrix: np.ndarray) -> np.ndarray:
    """The Moore-Penrose inverse of a dense positive semidefinite matrix. Raises InputError for an indefinite one."""
    # NumPy's eigh releases the GIL; SciPy's holds it and would block every other thread.
    values, vectors = np.linalg.eigh(matrix)
    cutoff = values[-1] * max(1e-12, values.size * np.finfo(matrix.dtype).eps)
    if values[0] < -cutoff:
        raise not_definite(f"its smallest eigenvalue is {values[0]:.3g}")
    kept = values > cutoff
    return (vectors[:, kept] / values[kept]) @ vectors[:, kept].conj().T
