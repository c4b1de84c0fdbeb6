"""Kronecker sums with their eigenvectors, as plain data for every device."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Diagonalized(NamedTuple):
    """A = A_1 (x) I + I (x) A_2 + .. on a grid (n_1, .., n_d), slowest axis first, with A_k = V_k L_k V_k^T.

    vectors: V_k, shape (n_k, n_k), orthogonal. inverse: 1/(l_1 + .. + l_d) for all eigenvalues, the shape of the grid.
    A^-1 r = (V_1 (x) .. (x) V_d) inverse (V_1 (x) .. (x) V_d)^T r. Source: Lynch, Rice and Thomas 1964.
    """

    vectors: tuple[np.ndarray, ...]
    inverse: np.ndarray

    @property
    def grid(self) -> tuple[int, ...]:
        """Points per side, slowest axis first."""
        return self.inverse.shape

    @property
    def nbytes(self) -> int:
        """Bytes that a solve reads: every V_k twice."""
        return self.inverse.nbytes + 2 * sum(vectors.nbytes for vectors in self.vectors)

    @property
    def flops(self) -> int:
        """Real operations of a solve."""
        return 4 * self.inverse.size * sum(self.grid) + self.inverse.size
