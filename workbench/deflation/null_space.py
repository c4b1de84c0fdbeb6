"""Whether the constants are in the null space of E."""

from __future__ import annotations

import numpy as np
from scipy import sparse

NULL_TOLERANCE = 1e-10
"""E counts as singular if |E 1| is at most this times the largest row sum of |E|."""


def holds_constants(matrix: sparse.csr_array) -> bool:
    """Whether E, shape (d, d), maps the constants to zero, up to rounding."""
    sums = np.abs(matrix @ np.ones(matrix.shape[0], matrix.dtype))
    absolute = sparse.csr_array((np.abs(matrix.data), matrix.indices, matrix.indptr), shape=matrix.shape)
    return bool(np.all(sums <= NULL_TOLERANCE * (absolute @ np.ones(matrix.shape[0])).max()))
