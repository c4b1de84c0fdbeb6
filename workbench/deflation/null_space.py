"""Null vectors of E that come from null vectors of A in the span of Z: the constants, also without empty rows of A."""

from __future__ import annotations

import numpy as np

from workbench.deflation.subspace import Subspace
from workbench.devices.protocol import Device
from workbench.lazy import sparse
from workbench.operators.null_space import NullSpace

MOST_OF_CONSTANTS = 1e-10
"""E counts as singular if the largest entry of |E 1| is at most this times the largest row sum of |E|."""


def holds_constants(matrix: sparse.csr_array) -> bool:
    """True if E, shape (d, d), maps the constants to zero, up to rounding. Cost: O(nnz)."""
    from workbench.devices.host.aggregation import row_sums

    sums, absolute = row_sums(matrix.data, matrix.indptr)
    return sums <= MOST_OF_CONSTANTS * absolute


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
