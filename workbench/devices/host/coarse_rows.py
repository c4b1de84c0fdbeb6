"""Row by row, for piecewise constant Z: AZ of a stencil, the runs of rows of AZ with equal columns, entries of E."""

from __future__ import annotations

import numpy as np

from workbench.compiler.words import shared, threads
from workbench.devices.host.aggregation import put_together
from workbench.jit.compiled import kernel
from workbench.jit.threads import chunks_of, cores, launch

ROUNDING = 8
"""Entries below this many units of rounding of the diagonal count as zero."""


def stencil_az(
    main: np.ndarray, lower: tuple[np.ndarray, ...], strides: tuple[int, ...], labels: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """AZ as the CSR arrays (data, indices, indptr) of shape (N, d), rows sorted, without entries that are zero to
    rounding. Reads the stencil and the labels twice."""
    size, distances = main.size, np.array(strides)
    indptr = np.zeros(size + 1, np.int64)
    chunks = chunks_of(size)
    eps = ROUNDING * float(np.finfo(main.dtype).eps)
    nothing = np.empty(0, np.int32), np.empty(0, main.dtype)
    shape = cores(), 2 * len(lower) + 1
    room = np.empty(shape, np.int64), np.empty(shape, main.dtype)
    launch(size, _stencil_rows, main, lower, distances, labels, eps, chunks, room, False, indptr, *nothing)
    np.cumsum(indptr, out=indptr)
    indices, data = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], main.dtype)
    launch(size, _stencil_rows, main, lower, distances, labels, eps, chunks, room, True, indptr, indices, data)
    return data, indices, indptr


def matrix_az(
    data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, labels: np.ndarray, count: int, diagonal: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """As `stencil_az`, of a matrix in CSR form, with rows that are not sorted. labels: of all columns, in 0..count-1.
    Reads the matrix once."""
    size = indptr.size - 1
    chunks = chunks_of(size)
    firsts, ends = size * np.arange(chunks + 1) // chunks, np.zeros(size + 1, np.int64)
    begins, eps = indptr[firsts].astype(np.int64), ROUNDING * float(np.finfo(data.dtype).eps)
    room, owned = (np.empty_like(data), np.empty(data.size, np.int32)), np.full((cores(), 2, count), -1)
    launch(
        data.size,
        _matrix_rows,
        data,
        indices,
        indptr,
        labels,
        np.abs(diagonal),
        eps,
        firsts,
        begins,
        owned,
        *room,
        ends,
    )
    np.cumsum(ends, out=ends)
    made = np.empty(ends[-1], data.dtype), np.empty(ends[-1], np.int32), ends
    launch(data.size, put_together, *room, firsts, begins, *made)
    return made


def alike(indptr: np.ndarray, indices: np.ndarray, longest: int) -> tuple[np.ndarray, np.ndarray]:
    """First row and number of rows of every run of consecutive non-empty rows with the same columns; runs end at
    multiples of `longest`."""
    starts, lengths = np.empty(indptr.size, np.int64), np.empty(indptr.size, np.int64)
    counted = np.empty(1, np.int64)
    launch(0, _alike, indptr, indices, longest, starts, lengths, counted)
    return starts[: counted[0]].copy(), lengths[: counted[0]].copy()


def by_column(
    indptr: np.ndarray, data: np.ndarray, starts: np.ndarray, lengths: np.ndarray, offsets: np.ndarray
) -> np.ndarray:
    """The entries of AZ run by run, within a run column by column; offsets: where each run begins in the result."""
    turned = np.empty_like(data)
    launch(data.size, _by_column, indptr, data, starts, lengths, offsets, turned)
    return turned


def label_sums(
    indptr: np.ndarray, indices: np.ndarray, data: np.ndarray, labels: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Label, column and sum of the entries of every run of rows with one label and the same columns: the entries of
    E = Z^T AZ as triplets, of which those with the same place are to be summed."""
    rows, columns, sums = np.empty(data.size, np.int64), np.empty(data.size, np.int64), np.empty_like(data)
    counted = np.empty(1, np.int64)
    launch(0, _label_sums, indptr, indices, data, labels, rows, columns, sums, counted)
    count = counted[0]
    return rows[:count].copy(), columns[:count].copy(), sums[:count].copy()


@kernel()
def _stencil_rows(
    taken, main, lower, strides, labels, eps, chunks, room, fill, indptr, indices, data
):  # pragma: no cover
    """Count the entries of each row of AZ, indptr[i + 1]; or, with `fill`, store their columns and values.

    room: of each thread, the columns and values of one row, ascending by column. eps: entries below it, relative to the
    diagonal, are left out.
    """
    size = main.size
    for thread in threads(taken):
        columns, values = room[0][thread], room[1][thread]
        for chunk in shared(taken, thread, chunks):
            for i in range(size * chunk // chunks, size * (chunk + 1) // chunks):
                columns[0], values[0] = labels[i], main[i]
                count = 1
                for k in range(2 * len(lower)):
                    low, stride, above = lower[k // 2], strides[k // 2], k % 2
                    if (above and i + stride >= size) or (not above and i < stride):
                        continue
                    column = labels[i + stride] if above else labels[i - stride]
                    value = np.conj(low[i + stride]) if above else low[i]
                    if value == 0:
                        continue
                    place = 0
                    while place < count and columns[place] < column:
                        place += 1
                    if place < count and columns[place] == column:
                        values[place] += value
                        continue
                    for later in range(count, place, -1):
                        columns[later], values[later] = columns[later - 1], values[later - 1]
                    columns[place], values[place] = column, value
                    count += 1
                kept = 0
                for place in range(count):
                    if np.abs(values[place]) > eps * np.abs(main[i]):
                        if fill:
                            indices[indptr[i] + kept], data[indptr[i] + kept] = columns[place], values[place]
                        kept += 1
                if not fill:
                    indptr[i + 1] = kept


@kernel()
def _matrix_rows(
    taken, data, indices, indptr, labels, diagonal, eps, firsts, begins, owned, sums, names, ends
):  # pragma: no cover
    for thread in threads(taken):
        # Where the last row that has this label has its sum, and which row that is.
        places, owners = owned[thread, 0], owned[thread, 1]
        for chunk in shared(taken, thread, firsts.size - 1):
            at = begins[chunk]
            for i in range(firsts[chunk], firsts[chunk + 1]):
                first = at
                for j in range(indptr[i], indptr[i + 1]):
                    label = labels[indices[j]]
                    if owners[label] != i:
                        owners[label], places[label] = i, at
                        sums[at], names[at] = 0, label
                        at += 1
                    sums[places[label]] += data[j]
                last, at = at, first
                for k in range(first, last):
                    if abs(sums[k]) > eps * diagonal[i]:
                        sums[at], names[at] = sums[k], names[k]
                        at += 1
                ends[i + 1] = at - first


def _same_columns(indptr, indices, i):  # pragma: no cover
    count = indptr[i + 1] - indptr[i]
    if count != indptr[i] - indptr[i - 1]:
        return False
    different = 0
    for k in range(indptr[i], indptr[i + 1]):
        different += indices[k] != indices[k - count]
    return different == 0


@kernel()
def _alike(taken, indptr, indices, longest, starts, lengths, counted):  # pragma: no cover
    count, open_run = 0, False
    for i in range(indptr.size - 1):
        if indptr[i + 1] == indptr[i]:
            open_run = False
        elif open_run and i % longest and _same_columns(indptr, indices, i):
            lengths[count - 1] += 1
        else:
            starts[count], lengths[count] = i, 1
            count += 1
            open_run = True
    counted[0] = count


@kernel()
def _by_column(taken, indptr, data, starts, lengths, offsets, turned):  # pragma: no cover
    for thread in threads(taken):
        for run in shared(taken, thread, starts.size):
            first, count = starts[run], lengths[run]
            width = indptr[first + 1] - indptr[first]
            for k in range(width):
                for i in range(count):
                    turned[offsets[run] + k * count + i] = data[indptr[first] + i * width + k]


@kernel()
def _label_sums(taken, indptr, indices, data, labels, rows, columns, sums, counted):  # pragma: no cover
    count, begun = 0, 0
    for i in range(indptr.size - 1):
        width = indptr[i + 1] - indptr[i]
        if width == 0:
            continue
        same_run = i > 0 and count > 0 and labels[i] == labels[i - 1] and _same_columns(indptr, indices, i)
        if not same_run:
            begun = count
            count += width
            for k in range(width):
                rows[begun + k], columns[begun + k] = labels[i], indices[indptr[i] + k]
                sums[begun + k] = 0
        for k in range(width):
            sums[begun + k] += data[indptr[i] + k]
    counted[0] = count
