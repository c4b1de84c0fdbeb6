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

from workbench.lazy import sparse
from workbench.operators.cuts import components
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
    chosen = _one_of_each(matrix, components(matrix)[1], null)
    return Pinned(_with_pins(matrix, chosen), chosen.size, null)


class Components:
    """The connected components of a matrix that maps the constants to zero, for blocks that hold some of them whole.

    Such a block is singular, and no other is. Without that null vector nothing is pinned. eps: as in `pin_unknowns`.
    Cost: an application of A; for a singular A also a graph search.
    """

    def __init__(self, matrix: sparse.csr_array, eps: float | None = None) -> None:
        self._null = coupled_constants(matrix, eps)
        if self._null is not None:
            self._of_unknown = components(matrix)[1]
            self._sizes = np.bincount(self._of_unknown)

    def pinned(self, block: sparse.csr_array, unknowns: np.ndarray) -> sparse.csr_array:
        """The block of these unknowns, shape (n,), with an unknown pinned in each component that it holds whole."""
        if self._null is None:
            return block
        found, component, sizes = np.unique(self._of_unknown[unknowns], return_inverse=True, return_counts=True)
        whole = (sizes == self._sizes[found])[component]
        chosen = _one_of_each(block, component, np.where(whole, self._null[unknowns], 0))
        return _with_pins(block, chosen) if chosen.size else block


def _one_of_each(matrix: sparse.csr_array, component: np.ndarray, null: np.ndarray) -> np.ndarray:
    """The unknown with the largest diagonal entry in each component where `null` is not zero."""
    # Repeated indices keep the last assignment: in ascending order of the diagonal, the largest of each component.
    order = np.argsort(np.real(matrix.diagonal()), kind="stable")
    chosen = np.empty(component.max() + 1, np.int64)
    chosen[component[order]] = order
    return chosen[null[chosen] != 0]


def _with_pins(matrix: sparse.csr_array, chosen: np.ndarray) -> sparse.csr_array:
    """The matrix with twice the diagonal entry of these unknowns."""
    entries = np.real(matrix.diagonal())[chosen]
    pins = sparse.coo_array((entries, (chosen, chosen)), shape=matrix.shape)
    return sparse.csr_array(matrix + pins)


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
