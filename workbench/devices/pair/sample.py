"""A sample of the rows of a matrix that does not fit a device, for measuring products."""

from __future__ import annotations

import numpy as np

from workbench.lazy import sparse

RUN = 64
"""Consecutive rows that are taken together: neighbours gather from the same places, which rows picked singly do not."""


def sampled_rows(indptr: np.ndarray, entries: int) -> np.ndarray:
    """Rows with at most `entries` entries in all, sorted, whose lengths are distributed like those of the matrix.

    Runs of RUN rows are put in order of their entries, and every k-th is taken: from each stratum of lengths the same
    fraction. Tiwari and Vadhiyar (2021), section VI-B, ask for such a choice and leave it open. indptr: shape (N + 1,).
    Cost: a sort of N/RUN numbers. The result is empty where a single run has more.
    """
    size = indptr.size - 1
    tops = np.arange(0, size, RUN)
    lengths = indptr[np.minimum(tops + RUN, size)] - indptr[tops]
    order = np.argsort(lengths, kind="stable")
    total = int(indptr[-1])
    step = max(1, -(-total // max(1, entries)))
    while step <= order.size:
        # From the middle of each stratum, so that neither short nor long rows are preferred.
        chosen = order[(step - 1) // 2 :: step]
        if int(lengths[chosen].sum()) <= entries:
            rows = (tops[np.sort(chosen)][:, None] + np.arange(RUN)).ravel()
            return rows[rows < size]
        step += 1
    return np.empty(0, np.int64)


def rows_of(matrix: sparse.csr_array, rows: np.ndarray) -> sparse.csr_array:
    """These rows as a matrix of their own, with all columns."""
    return sparse.csr_array(matrix[rows])
