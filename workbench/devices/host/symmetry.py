"""The largest deviation of a CSR matrix from its conjugate transpose, without forming the transpose."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.jit.compiled import kernel
from workbench.jit.threads import launch


class Asymmetry(NamedTuple):
    """Maxima: largest of |a_ij|, hermitian of |a_ij - conj(a_ji)|, which is at row, column, and plain of |a_ij - a_ji|.

    One of a pair that is not stored counts as zero.
    """

    largest: float
    hermitian: float
    plain: float
    row: int
    column: int


def asymmetry(data: np.ndarray, indices: np.ndarray, indptr: np.ndarray) -> Asymmetry:
    """Compare every entry of a square CSR matrix, sorted and without duplicates, with its partner.

    Reads the matrix once. Extra memory: one index per row.
    """
    largest, place = np.empty(3), np.empty(2, np.int64)
    launch(0, _compare, data, indices, indptr, np.empty_like(indptr[1:]), largest, place)
    return Asymmetry(float(largest[0]), float(largest[1]), float(largest[2]), int(place[0]), int(place[1]))


@kernel()
def _compare(taken, data, indices, indptr, cursors, found, place):  # pragma: no cover
    # Rows ascend, so the entries right of the diagonal of row c are needed from left to right: cursors[c] is the next.
    zero = data.dtype.type(0)
    largest = hermitian = plain = 0.0
    row = column = 0
    for i in range(cursors.size):
        j, end = indptr[i], indptr[i + 1]
        while j < end and indices[j] < i:
            c, below, above = indices[j], data[j], zero
            k = cursors[c]
            # Skipped entries have no partner, and neither has `below` where `above` stays zero.
            while k < indptr[c + 1] and indices[k] < i:
                size = abs(data[k])
                largest, plain = max(largest, size), max(plain, size)
                if size > hermitian:
                    hermitian, row, column = size, c, indices[k]
                k += 1
            if k < indptr[c + 1] and indices[k] == i:
                above = data[k]
                k += 1
            cursors[c] = k
            largest = max(largest, abs(below), abs(above))
            plain = max(plain, abs(above - below))
            difference = abs(above - np.conj(below))
            if difference > hermitian:
                hermitian, row, column = difference, c, i
            j += 1
        if j < end and indices[j] == i:
            largest = max(largest, abs(data[j]))
            difference = abs(data[j] - np.conj(data[j]))
            if difference > hermitian:
                hermitian, row, column = difference, i, i
            j += 1
        cursors[i] = j
    for c in range(cursors.size):
        for k in range(cursors[c], indptr[c + 1]):
            size = abs(data[k])
            largest, plain = max(largest, size), max(plain, size)
            if size > hermitian:
                hermitian, row, column = size, c, indices[k]
    found[0], found[1], found[2] = largest, hermitian, plain
    place[0], place[1] = row, column
