"""The largest deviation of a CSR matrix from its conjugate transpose, without forming the transpose."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.compiler.words import shared, threads
from workbench.jit.compiled import kernel
from workbench.jit.threads import chunks_of, launch


class Asymmetry(NamedTuple):
    """Maxima: largest of |a_ij|, hermitian of |a_ij - conj(a_ji)|, which is at row, column, and plain of |a_ij - a_ji|.

    One of a pair that is not stored counts as zero. diagonal: of the matrix, shape (N,).
    """

    largest: float
    hermitian: float
    plain: float
    row: int
    column: int
    diagonal: np.ndarray


def asymmetry(data: np.ndarray, indices: np.ndarray, indptr: np.ndarray) -> Asymmetry:
    """Compare every entry of a square CSR matrix, sorted and without duplicates, with its partner.

    Reads the matrix once, in parallel, and a second time in one thread where entries have no partner. Extra memory: the
    diagonal, and then one index per row.
    """
    rows = indptr.size - 1
    chunks = chunks_of(data.size)
    maxima, places, missing = np.empty((chunks, 3)), np.empty((chunks, 2), np.int64), np.empty(chunks, np.int64)
    diagonal = np.zeros(rows, data.dtype)
    launch(data.size, _compare_pairs, data, indices, indptr, diagonal, maxima, places, missing)
    if missing.sum():
        maxima, places = np.empty((1, 3)), np.empty((1, 2), np.int64)
        launch(0, _compare_all, data, indices, indptr, np.empty_like(indptr[1:]), maxima[0], places[0])
    largest, hermitian, plain = (float(most) for most in maxima.max(axis=0))
    row, column = places[np.argmax(maxima[:, 1])]
    return Asymmetry(largest, hermitian, plain, int(row), int(column), diagonal)


@kernel()
def _compare_pairs(taken, data, indices, indptr, diagonal, maxima, places, missing):  # pragma: no cover
    """Compare entries left of the diagonal with their partners. missing: entries without one, summed over chunks."""
    rows, chunks = diagonal.size, missing.size
    for thread in threads(taken):
        for chunk in shared(taken, thread, chunks):
            largest = hermitian = plain = 0.0
            row = column = alone = 0
            for i in range(rows * chunk // chunks, rows * (chunk + 1) // chunks):
                for j in range(indptr[i], indptr[i + 1]):
                    c, value = indices[j], data[j]
                    largest = max(largest, abs(value))
                    if c > i:
                        alone += 1
                    elif c == i:
                        diagonal[i] = value
                        difference = abs(value - np.conj(value))
                        if difference > hermitian:
                            hermitian, row, column = difference, i, i
                    else:
                        low, high = indptr[c], indptr[c + 1]
                        while low < high:
                            middle = (low + high) // 2
                            if indices[middle] < i:
                                low = middle + 1
                            else:
                                high = middle
                        if low < indptr[c + 1] and indices[low] == i:
                            alone -= 1
                            plain = max(plain, abs(data[low] - value))
                            difference = abs(data[low] - np.conj(value))
                            if difference > hermitian:
                                hermitian, row, column = difference, c, i
                        else:
                            alone += 1
            maxima[chunk, 0], maxima[chunk, 1], maxima[chunk, 2] = largest, hermitian, plain
            places[chunk, 0], places[chunk, 1] = row, column
            missing[chunk] = alone


@kernel()
def _compare_all(taken, data, indices, indptr, cursors, found, place):  # pragma: no cover
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
