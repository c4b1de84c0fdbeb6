"""Null vectors of A in the span of Z, which are null vectors of E: the constants, also without empty rows of A."""

from __future__ import annotations

import numpy as np

from workbench.deflation.subspace import Subspace
from workbench.devices.protocol import Device
from workbench.lazy import sparse
from workbench.operators.null_space import NullSpace

MOST_OF_CONSTANTS = 1e-10
"""E counts as singular if |E 1| is at most this times the largest row sum of |E|."""


def holds_constants(matrix: sparse.csr_array) -> bool:
    """True if E, shape (d, d), maps the constants to zero, up to rounding."""
    from workbench.devices.host.aggregation import row_sums

    sums, absolute = row_sums(matrix.data, matrix.indptr)
    return sums <= MOST_OF_CONSTANTS * absolute


def definite_count(space: Subspace, count: int, null_space: NullSpace, device: Device) -> int:
    """Of `count` vectors, the first ones with which E is definite, for a null vector that is constant but for the empty
    rows of A.

    It is the sum of the indicator vectors of all subdomains that have other rows, unless one has both kinds. The last
    of these is dropped, with those of empty rows alone that follow: neither b nor x has anything there.

    Cost: nothing without empty rows, else a pass over the labels.
    """
    labels, empty = space.labels, null_space.empty
    if labels is None or empty is None or not null_space.is_constant_elsewhere(device):
        return count
    sizes, of_empty = (device.total(np.bincount(found, minlength=count)) for found in (labels, labels[empty]))
    if np.any((of_empty > 0) & (of_empty < sizes)):
        return count
    return int(np.flatnonzero(of_empty < sizes).max())
