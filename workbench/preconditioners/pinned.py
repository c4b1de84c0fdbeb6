"""Multigrid for a singular (all-Neumann) matrix: pin one unknown for the setup, project out the constants in use.

A maps the constants to zero, so its coarsest matrix is singular too, and a direct solve there divides by rounding. With
e_i the unit vector of one unknown i, A + a_ii e_i e_i^T is positive definite, and it has the same solution where a
solution exists: summing A x + a_ii x_i e_i = b, sum(b) = 0, leaves x_i = 0, so A x = b. A cycle M^-1 for the pinned
matrix then gives P M^-1 P for A, P = I - 1 1^T / N: symmetric, positive definite on the vectors of zero mean, and as
close to the pseudo-inverse of A as M^-1 is to the inverse of the pinned matrix (the bounds of one are bounds of the
other). What rounding adds along the constants, P removes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

NULL = 1e-12
"""A row sums to zero when its sum is at most this times the largest diagonal entry."""


def pinned(matrix: sparse.csr_array) -> tuple[sparse.csr_array, int]:
    """The matrix with an unknown pinned in every part that is singular by constants, and how many were pinned.

    A matrix that does not map the constants to zero comes back as it is, with 0. Where it falls into several parts that
    are not coupled, an unknown of each is pinned, the one of the largest diagonal entry. Cost: a product with A, and
    for a singular A a search of its graph and a copy.
    """
    sums = np.abs(matrix @ np.ones(matrix.shape[0], matrix.dtype))
    diagonal = np.real(matrix.diagonal())
    if not sums.max(initial=0) <= NULL * np.abs(diagonal).max(initial=0):
        return matrix, 0
    count, part = csgraph.connected_components(matrix, directed=False)
    # The last written of equal places stays: in rising order of the diagonal that is each part's largest.
    order = np.argsort(diagonal, kind="stable")
    chosen = np.empty(count, np.int64)
    chosen[part[order]] = order
    pins = sparse.coo_array((diagonal[chosen], (chosen, chosen)), shape=matrix.shape)
    return sparse.csr_array(matrix + pins), count


def projected(action: Callable[[np.ndarray], np.ndarray]) -> Callable[[np.ndarray], np.ndarray]:
    """P M^-1 P for a function M^-1 of host vectors, P taking the mean off."""

    def between(r: np.ndarray) -> np.ndarray:
        u = action(r - r.mean())
        return u - u.mean()

    return between
