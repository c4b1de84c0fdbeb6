"""Whether the constants are in the null space of E."""

from __future__ import annotations

from workbench.lazy import sparse

MOST_OF_CONSTANTS = 1e-10
"""E counts as singular if |E 1| is at most this times the largest row sum of |E|."""


def holds_constants(matrix: sparse.csr_array) -> bool:
    """Whether E, shape (d, d), maps the constants to zero, up to rounding."""
    from workbench.host.aggregation import row_sums

    sums, absolute = row_sums(matrix.data, matrix.indptr)
    return sums <= MOST_OF_CONSTANTS * absolute
