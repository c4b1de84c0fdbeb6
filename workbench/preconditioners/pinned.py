"""Multigrid for a singular (all-Neumann) matrix: pin an unknown in the setup, project out the constants on application.

A maps the constants to zero, so its coarsest matrix is singular too, and a direct solve there divides by rounding
errors. Let e_i be the unit vector of one unknown i. A + a_ii e_i e_i^T is positive definite, and where A x = b has a
solution, the pinned system has it too: the sum of the rows of A x + a_ii x_i e_i = b with sum(b) = 0 gives x_i = 0.

An unknown without couplings is no part of that: it keeps its diagonal entry, and 1 is 0 there in what follows.

Let M^-1 be a cycle for the pinned matrix and P = I - 1 1^T / (1, 1). P M^-1 P then preconditions A: it is symmetric and
positive definite on the vectors of zero mean, and as close to the pseudo-inverse of A as M^-1 is to the inverse of the
pinned matrix (the spectral bounds carry over). P also removes the rounding errors along the constants.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.sparse import csgraph

from workbench.lazy import sparse
from workbench.operators.null_space import excess


class Pinned(NamedTuple):
    """matrix: positive definite. pins: their number. null: 1 for the unknowns with couplings and 0 for others, shape
    (N,), where the matrix before maps that to zero, else None."""

    matrix: sparse.csr_array
    pins: int
    null: np.ndarray | None


def pin_unknowns(matrix: sparse.csr_array, eps: float | None = None) -> Pinned:
    """Pin one unknown in each connected component of a matrix whose null space holds the constants.

    A matrix that does not map the constants to zero is returned unchanged. Within a component the unknown with the
    largest diagonal entry is pinned. eps: the unit roundoff of the entries as they were given, by default that of their
    dtype.

    Cost: an application of A; for a singular A also a graph search and a copy.
    """
    null = coupled_constants(matrix, eps)
    if null is None:
        return Pinned(matrix, 0, None)
    diagonal = np.real(matrix.diagonal())
    count, component = csgraph.connected_components(matrix, directed=False)
    # Repeated indices keep the last assignment: in ascending order of the diagonal, the largest of each component.
    order = np.argsort(diagonal, kind="stable")
    chosen = np.empty(count, np.int64)
    chosen[component[order]] = order
    chosen = chosen[null[chosen] != 0]
    pins = sparse.coo_array((diagonal[chosen], (chosen, chosen)), shape=matrix.shape)
    return Pinned(sparse.csr_array(matrix + pins), chosen.size, null)


def coupled_constants(matrix: sparse.csr_array, eps: float | None = None) -> np.ndarray | None:
    """1 for each unknown with couplings and 0 for others, shape (N,); None unless A maps that to zero, and has some.

    eps: as in `pin_unknowns`.
    """
    coupled = abs(matrix).sum(axis=1) > np.abs(matrix.diagonal())
    null = coupled.astype(matrix.dtype)
    return null if coupled.any() and excess(matrix, null, eps) is None else None


def project_out(apply: Callable[[np.ndarray], np.ndarray], null: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """P M^-1 P for a function M^-1 of host vectors, with P = I - v v^T / (v, v) for a v of 1 and 0."""
    count = np.count_nonzero(null)

    def projected(r: np.ndarray) -> np.ndarray:
        u = apply(r - null * (null @ r / count))
        return u - null * (null @ u / count)

    return projected
