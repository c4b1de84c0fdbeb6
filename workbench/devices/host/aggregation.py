"""Sparse matrices of a hierarchy: rows and columns in another order, Galerkin sums over groups of rows, and bounds."""

from __future__ import annotations

import numpy as np

from workbench.compiler.words import shared, threads
from workbench.jit.compiled import kernel
from workbench.jit.threads import cores, launch

Csr = tuple[np.ndarray, np.ndarray, np.ndarray]
"""data, indices and indptr."""
GROUPS_PER_CHUNK = 1024
NOTHING = 1e-13
"""The diagonal entry of a vector of a part over those of its children in sum, at most, where A maps it to zero, as in a
part that is a component of a singular matrix: nothing but rounding is left of it."""


def places(order: np.ndarray) -> np.ndarray:
    """The inverse of a permutation: where each number is in it."""
    found = np.empty(order.size, np.int32)
    found[order] = np.arange(order.size, dtype=np.int32)
    return found


def reordered(matrix: Csr, order: np.ndarray) -> tuple[Csr, np.ndarray]:
    """The matrix with row and column order[i] at place i, and its diagonal, zero where a row has no such entry.

    No entry occurs twice. Cost: reads and writes the matrix once.
    """
    data, indices, indptr = matrix
    place, ends = np.empty(order.size, np.int32), np.empty(order.size + 1, np.int64)
    launch(0, _place_rows, order, indptr, place, ends)
    chunks = max(1, order.size // GROUPS_PER_CHUNK)
    made, diagonal = (np.empty_like(data), np.empty(indices.size, np.int32), ends), np.zeros(order.size, data.dtype)
    launch(data.size, _reorder, data, indices, indptr, order, place, chunks, *made, diagonal)
    return made, diagonal


def summed(
    matrix: Csr, starts: np.ndarray, parents: np.ndarray, order: np.ndarray | None = None
) -> tuple[Csr, np.ndarray]:
    """P^T A P for groups of rows, and its diagonal: group g has the rows starts[g] to starts[g + 1], or those that
    `order` has there.

    parents: the group of each row. Rows are not sorted. Cost: reads the matrix once, and room for a copy of it.
    """
    data, indices, indptr = matrix
    groups = starts.size - 1
    order = np.arange(parents.size) if order is None else order
    chunks = max(1, groups // GROUPS_PER_CHUNK)
    firsts, ends = groups * np.arange(chunks + 1) // chunks, np.zeros(groups + 1, np.int64)
    # A chunk begins where its groups would if nothing was summed; a diagonal entry may come on top of each group.
    begins = np.concatenate([[0], np.cumsum(np.diff(indptr)[order])])[starts[firsts]] + firsts
    room, owned = (np.empty(begins[-1], data.dtype), np.empty(begins[-1], np.int32)), np.full((cores(), 2, groups), -1)
    launch(data.size, _sum_groups, data, indices, indptr, order, starts, parents, firsts, begins, owned, *room, ends)
    np.cumsum(ends, out=ends)
    made = np.empty(ends[-1], data.dtype), np.empty(ends[-1], np.int32), ends
    launch(data.size, put_together, *room, firsts, begins, *made)
    # The diagonal entry of a row comes first.
    return made, made[0][ends[:-1]]


def with_unit_diagonal(matrix: Csr, scale: np.ndarray, dtype: np.dtype) -> tuple[np.ndarray, float]:
    """The entries of S A S for a diagonal S, in another precision, and the largest row sum of |S^2 A|."""
    data, indices, indptr = matrix
    made, sums = np.empty(data.size, dtype), np.empty(scale.size)
    chunks = max(1, scale.size // GROUPS_PER_CHUNK)
    launch(data.size, _scale, data, indices, indptr, scale, chunks, made, sums)
    return made, float(sums.max())


def row_sums(data: np.ndarray, indptr: np.ndarray) -> tuple[float, float]:
    """The largest |sum of a row|, and the largest sum of the absolute values of a row. Cost: one read."""
    rows = indptr.size - 1
    sums, absolute = np.empty(rows), np.empty(rows)
    launch(data.size, _sum_rows, data, indptr, max(1, rows // GROUPS_PER_CHUNK), sums, absolute)
    return float(sums.max(initial=0)), float(absolute.max(initial=0))


def spectral_bound(
    data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, diagonal: np.ndarray, steps: int
) -> float:
    """A number that no eigenvalue of D^-1 A exceeds, at most its largest absolute row sum; D: positive.

    For every positive v the largest (D^-1 |A| v)_i / v_i bounds the spectral radius of D^-1 |A|, and that bounds the
    eigenvalues of D^-1 A. v begins as 1, for the row sums of D^-1 |A|, or as the roots of D^-1, for those of
    D^-1/2 |A| D^-1/2, whichever gives less; each step replaces v by D^-1 |A| v, which makes the bound smaller where few
    rows have large sums.

    Cost: steps + 2 reads of the matrix. Source: Collatz 1942.
    """
    rows = indptr.size - 1
    chunks = max(1, rows // GROUPS_PER_CHUNK)
    largest, diagonal = np.empty(chunks), np.ascontiguousarray(diagonal, np.float64)

    def step(v: np.ndarray) -> tuple[float, np.ndarray]:
        product = np.empty(rows)
        launch(data.size, _ratios, data, indices, indptr, diagonal, v, product, largest)
        bound = float(largest.max())
        # Nothing over- or underflows in a few steps, each of which multiplies by at most the bound.
        product /= bound
        return bound, product

    bound, v = min((step(start) for start in (np.ones(rows), 1 / np.sqrt(diagonal))), key=lambda made: made[0])
    for _ in range(steps):
        found, v = step(v)
        bound = min(bound, found)
    return bound


def grouped(parents: np.ndarray, order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The numbers 0, 1, .. such that their parents come in this order, those of one parent as they were; and the first
    place of the numbers of each parent, in this order as well.

    parents: shape (n,), in 0..count-1. order: a permutation of these. Cost: two reads.
    """
    starts = np.zeros(order.size + 1, np.int64)
    made = np.empty(parents.size, np.int64)
    launch(0, _group, parents, places(order), starts, made)
    return made, starts


@kernel()
def _group(taken, parents, place, starts, order):  # pragma: no cover
    for i in range(parents.size):
        starts[place[parents[i]] + 1] += 1
    for k in range(1, starts.size):
        starts[k] += starts[k - 1]
    for i in range(parents.size):
        at = place[parents[i]]
        order[starts[at]] = i
        starts[at] += 1
    for k in range(starts.size - 1, 0, -1):
        starts[k] = starts[k - 1]
    starts[0] = 0


@kernel()
def _sum_rows(taken, data, indptr, chunks, sums, absolute):  # pragma: no cover
    rows = sums.size
    for thread in threads(taken):
        for chunk in shared(taken, thread, chunks):
            for i in range(rows * chunk // chunks, rows * (chunk + 1) // chunks):
                total, size = data.dtype.type(0), 0.0
                for j in range(indptr[i], indptr[i + 1]):
                    total += data[j]
                    size += abs(data[j])
                sums[i], absolute[i] = abs(total), size


@kernel()
def _scale(taken, data, indices, indptr, scale, chunks, made, sums):  # pragma: no cover
    size = scale.size
    for thread in threads(taken):
        for chunk in shared(taken, thread, chunks):
            for i in range(size * chunk // chunks, size * (chunk + 1) // chunks):
                total = 0.0
                for j in range(indptr[i], indptr[i + 1]):
                    total += abs(data[j])
                    made[j] = data[j] * scale[i] * scale[indices[j]]
                sums[i] = total * scale[i] * scale[i]


@kernel()
def _place_rows(taken, order, indptr, place, ends):  # pragma: no cover
    ends[0] = 0
    for i in range(order.size):
        place[order[i]] = i
        ends[i + 1] = ends[i] + indptr[order[i] + 1] - indptr[order[i]]


@kernel()
def _reorder(
    taken, data, indices, indptr, order, place, chunks, data_made, indices_made, ends, diagonal
):  # pragma: no cover
    size = order.size
    for thread in threads(taken):
        for chunk in shared(taken, thread, chunks):
            for i in range(size * chunk // chunks, size * (chunk + 1) // chunks):
                at = ends[i]
                for j in range(indptr[order[i]], indptr[order[i] + 1]):
                    data_made[at], indices_made[at] = data[j], place[indices[j]]
                    at += 1
                    if indices[j] == order[i]:
                        diagonal[i] = data[j]


@kernel()
def _sum_groups(
    taken, data, indices, indptr, order, starts, parents, firsts, begins, owned, sums, names, ends
):  # pragma: no cover
    for thread in threads(taken):
        # Where the last group that has this column has its entry, and which group that is.
        places, owners = owned[thread, 0], owned[thread, 1]
        for chunk in shared(taken, thread, firsts.size - 1):
            at = begins[chunk]
            for group in range(firsts[chunk], firsts[chunk + 1]):
                first = at
                owners[group], places[group] = group, at
                sums[at], names[at] = 0, group
                at += 1
                for row in range(starts[group], starts[group + 1]):
                    i = order[row]
                    for j in range(indptr[i], indptr[i + 1]):
                        column = parents[indices[j]]
                        if owners[column] != group:
                            owners[column], places[column] = group, at
                            sums[at], names[at] = 0, column
                            at += 1
                        sums[places[column]] += data[j]
                ends[group + 1] = at - first


@kernel()
def put_together(taken, sums, names, firsts, begins, data, indices, ends):  # pragma: no cover
    """The rows of chunks, each of which has them from its own begin on, one behind the other."""
    for thread in threads(taken):
        for chunk in shared(taken, thread, firsts.size - 1):
            begin = begins[chunk] - ends[firsts[chunk]]
            for at in range(ends[firsts[chunk]], ends[firsts[chunk + 1]]):
                data[at], indices[at] = sums[begin + at], names[begin + at]


@kernel()
def _ratios(taken, data, indices, indptr, diagonal, v, product, largest):  # pragma: no cover
    rows, chunks = v.size, largest.size
    for thread in threads(taken):
        for chunk in shared(taken, thread, chunks):
            most = 0.0
            for i in range(rows * chunk // chunks, rows * (chunk + 1) // chunks):
                total = 0.0
                for j in range(indptr[i], indptr[i + 1]):
                    total += abs(data[j]) * v[indices[j]]
                product[i] = total / diagonal[i]
                if product[i] > most * v[i]:
                    most = product[i] / v[i]
            largest[chunk] = most
