"""Multigrid for a singular (all-Neumann) matrix: pin an unknown in the setup, project out the constants on application.

A maps the constants to zero, so its coarsest matrix is singular too, and a direct solve there divides by rounding
errors. Let e_i be the unit vector of one unknown i. A + a_ii e_i e_i^T is positive definite, and where A x = b has a
solution, the pinned system has it too: the sum of the rows of A x + a_ii x_i e_i = b with sum(b) = 0 gives x_i = 0.

Let M^-1 be a cycle for the pinned matrix and P = I - 1 1^T / N. P M^-1 P then preconditions A: it is symmetric and
positive definite on the vectors of zero mean, and as close to the pseudo-inverse of A as M^-1 is to the inverse of the
pinned matrix (the spectral bounds carry over). P also removes the rounding errors along the constants.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse import csgraph

from workbench.lazy import sparse
from workbench.operators.null_space import excess


def pin_unknowns(matrix: sparse.csr_array, eps: float | None = None) -> tuple[sparse.csr_array, int]:
    """Pin one unknown in each connected component of a matrix whose null space holds the constants.

    Returns the pinned matrix and the number of pins. A matrix that does not map the constants to zero is returned
    unchanged, with 0. Within a component the unknown with the largest diagonal entry is pinned. eps: the unit roundoff
    of the entries as they were given, by default that of their dtype.

    Cost: an application of A; for a singular A also a graph search and a copy.
    """
    if excess(matrix, np.ones(matrix.shape[0], matrix.dtype), eps) is not None:
        return matrix, 0
    diagonal = np.real(matrix.diagonal())
    count, component = csgraph.connected_components(matrix, directed=False)
    # Repeated indices keep the last assignment: in ascending order of the diagonal, the largest of each component.
    order = np.argsort(diagonal, kind="stable")
    chosen = np.empty(count, np.int64)
    chosen[component[order]] = order
    pins = sparse.coo_array((diagonal[chosen], (chosen, chosen)), shape=matrix.shape)
    return sparse.csr_array(matrix + pins), count


def project_out_mean(apply: Callable[[np.ndarray], np.ndarray]) -> Callable[[np.ndarray], np.ndarray]:
    """P M^-1 P for a function M^-1 of host vectors, with P = I - 1 1^T / N."""

    def projected(r: np.ndarray) -> np.ndarray:
        u = apply(r - r.mean())
        return u - u.mean()

    return projected
