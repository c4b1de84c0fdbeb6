"""Null vectors of E that come from null vectors of A in the span of Z: the constants, also without empty rows of A, and
those of several components."""

from __future__ import annotations

import numpy as np

from workbench.deflation.subspace import Subspace
from workbench.devices.protocol import Device
from workbench.lazy import sparse
from workbench.operators.components import Components
from workbench.operators.null_space import NullSpace

MOST_OF_CONSTANTS = 1e-10
"""E counts as singular if the largest entry of |E 1| is at most this times the largest row sum of |E|."""


def holds_constants(matrix: sparse.csr_array) -> bool:
    """True if E, shape (d, d), maps the constants to zero, up to rounding. Cost: O(nnz)."""
    from workbench.devices.host.aggregation import row_sums

    sums, absolute = row_sums(matrix.data, matrix.indptr)
    return sums <= MOST_OF_CONSTANTS * absolute


def pinned(
    matrix: sparse.csr_array, space: Subspace, components: Components, device: Device
) -> tuple[sparse.csr_array, int]:
    """E with a larger diagonal entry in as many rows as it has null vectors, and their number; E itself and 0 for
    vectors that are not piecewise constant. components: of a singular A.

    Components of A and subdomains that share unknowns form clusters. The sum of the indicator vectors of the
    subdomains of a cluster without empty rows is a null vector, and there are no others: A maps no other vector to zero
    that is constant on subdomains. As in `preconditioners.pinned`, the larger entry changes no solution for a
    right-hand side in the range of E. device: of a rank, which has labels of its rows. Cost: a pass over the labels.
    """
    if (labels := space.labels) is None:
        return matrix, 0
    from scipy.sparse import csgraph

    size = matrix.shape[0]
    shape = 2 * (size + components.count + 1,)
    pairs = sparse.coo_array((np.ones(labels.size), (labels, size + components.labels)), shape=shape).tocsr()
    clusters = csgraph.connected_components(sum(device.gathered(pairs)), directed=False)[1]
    # Empty rows have the last number, and none of their clusters is singular.
    singular = np.flatnonzero(clusters[:size] != clusters[-1])
    _, first, subdomains = np.unique(clusters[singular], return_index=True, return_counts=True)
    pins, diagonal = singular[first], np.real(matrix.diagonal())
    # Of a single subdomain E has nothing but rounding.
    entries = np.where(subdomains > 1, diagonal[pins], diagonal.max() if (subdomains > 1).any() else 1)
    added = sparse.coo_array((entries, (pins, pins)), shape=matrix.shape)
    return sparse.csr_array(matrix + added, dtype=matrix.dtype), pins.size


def definite_count(space: Subspace, count: int, null_space: NullSpace, device: Device) -> int:
    """The number of deflation vectors, of `count`, that are kept so that E is definite: the first ones.

    A has a null vector that is 1 except in its empty rows, where it is 0. Unless a subdomain has rows of both kinds,
    this vector is the sum of the indicator vectors of the subdomains without empty rows, and E is singular. The last of
    these vectors is dropped, and with it all that follow: they have empty rows only, where b and x are zero.

    `count` is returned where nothing has to be dropped. Cost: nothing without empty rows, else a pass over the labels.
    """
    labels, empty = space.labels, null_space.empty
    if labels is None or empty is None or not null_space.is_constant_elsewhere(device):
        return count
    rows = device.total(np.bincount(labels, minlength=count))
    empty_rows = device.total(np.bincount(labels[empty], minlength=count))
    if np.any((empty_rows > 0) & (empty_rows < rows)):
        return count
    return int(np.flatnonzero(empty_rows < rows).max())
