"""Incomplete factorization by magnitude: M = (E + L) E^-1 (E + L^H), the pattern of L found while it is computed.

A row of E + L^H is that of exact elimination with the rows before it, less its small entries. They are dropped twice
(dual dropping): entries below a threshold times the 2-norm of that row of A, and of the others all but the largest.
Rows depend on those before, so that one core computes them, in double precision for any precision of A.

Source: Saad 1994 (thresholds), Lin and Moré 1999 (largest entries, in addition to as many as A has), Jones and
Plassmann 1995 (lists of the rows that change the next one).
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np

from workbench.devices.host.factorization import checked_pivot
from workbench.errors import InputError
from workbench.jit.compiled import kernel
from workbench.jit.threads import launch
from workbench.lazy import sparse

COPIES = 4
"""An entry is stored as often while a preconditioner is made: in the rows found, in their transpose, and in both
triangles of the device."""
GROWTH = 1.6
"""The factor of the room for entries where it was too small."""
WORK = 10**8
"""Entries that one launch changes at most: other kernels and an interruption wait for its end, 0.08 s of a
core where it was measured."""


@dataclasses.dataclass(frozen=True)
class Dropping:
    """Entries of a row that stay: those of at least `threshold` times the 2-norm of the row of A, and of them the
    largest, `extra` more than A has right of its diagonal. Of equal ones those further left stay.

    colours: fill between two unknowns of a colour is dropped too, int64 of shape (N,); empty for none.
    """

    threshold: float
    extra: int
    colours: np.ndarray


class Upper(NamedTuple):
    """The strict upper triangle L^H in CSR form with sorted rows, and E.

    replaced: last pivots of singular matrices that are diagonal entries. failed: the row that broke down, or -1.
    """

    data: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray
    pivots: np.ndarray
    replaced: int
    failed: int


def threshold_factor(matrix: sparse.csr_array, dropping: Dropping, shift: float, room: int) -> Upper:
    """The factor of a Hermitian matrix with sorted rows and a whole diagonal, taken (1 + shift) times.

    room: bytes that its entries may take, `COPIES` times; raises InputError where they need more. Cost: for each entry
    (j, k) of L^H the entries right of it in row j, and sorting each row.
    """
    size = matrix.shape[0]
    wide = np.complex128 if matrix.dtype.kind == "c" else np.float64
    data, own = matrix.data.astype(wide), (matrix.nnz - size) // 2
    values, columns = (np.empty(2 * own + size, kind) for kind in (wide, np.int64))
    starts, pivots = np.zeros(size + 1, np.int64), np.empty(size)
    lists, entry_bytes = np.full((5, size), -1, np.int64), COPIES * (values.itemsize + columns.itemsize)
    work, state = np.empty(size, wide), np.array([0, 0, -1, 0], np.int64)
    fixed = data, matrix.indices, matrix.indptr, dropping.colours, dropping.threshold, dropping.extra, shift
    while True:
        launch(0, _rows, *fixed, values, columns, starts, pivots, lists, work, state)
        done, replaced, failed, needed = map(int, state)
        if done == size or failed >= 0:
            break
        if needed <= values.size:
            continue
        more = max(needed, min(int(GROWTH * values.size), room // entry_bytes))
        if entry_bytes * more > room:
            raise InputError(
                f"the factor of ict may need more than the {room / 1e6:.4g} MB that are free, from row {done} of "
                f"{size} on; take a larger threshold, or fewer entries"
            )
        values, columns = _longer(values, more), _longer(columns, more)
    count = starts[done]
    return Upper(values[:count], columns[:count].astype(matrix.indices.dtype), starts, pivots, replaced, failed)


def _longer(values: np.ndarray, size: int) -> np.ndarray:
    """The values, with room for more behind them."""
    made = np.empty(size, values.dtype)
    made[: values.size] = values
    return made


@kernel()
def _rows(
    taken,
    data,
    indices,
    indptr,
    colours,
    threshold,
    extra,
    shift,
    values,
    columns,
    starts,
    pivots,
    lists,
    work,
    state,
):  # pragma: no cover
    size = pivots.size
    # The rows j whose next entry is in column k are head[k], following[head[k]], ..; that entry is at cursor[j].
    head, following, cursor, marks, found = lists[0], lists[1], lists[2], lists[3], lists[4]
    changes = 0
    for k in range(state[0], size):
        entry, largest, count = 0.0, 0.0, 0
        for j in range(indptr[k], indptr[k + 1]):
            column = indices[j]
            largest = max(largest, abs(data[j]))
            if column == k:
                entry = data[j].real * (1 + shift)
            elif column > k:
                work[column] = data[j]
                marks[column] = k
                found[count] = column
                count += 1
        most, first = count + extra, starts[k]
        state[0], state[3] = k, first + min(most, size - 1 - k)
        if state[3] > values.size or changes > WORK:
            break
        squares = 0.0
        for j in range(indptr[k], indptr[k + 1]):
            # The square of an entry itself might leave the range of numbers.
            ratio = abs(data[j]) / largest if largest > 0 else 0.0
            squares += ratio * ratio
        pivot, row = entry, head[k]
        while row >= 0:
            after, place, end = following[row], cursor[row], starts[row + 1]
            factor = np.conj(values[place]) / pivots[row]
            pivot -= (factor * values[place]).real
            changes += end - place
            for m in range(place + 1, end):
                column = columns[m]
                if marks[column] != k:
                    if colours.size > 0 and colours[column] == colours[k]:
                        continue
                    marks[column] = k
                    work[column] = 0
                    found[count] = column
                    count += 1
                work[column] -= factor * values[m]
            if place + 1 < end:
                column = columns[place + 1]
                cursor[row] = place + 1
                following[row] = head[column]
                head[column] = row
            row = after
        pivots[k], changed, usable = checked_pivot(pivot, entry, count == 0)
        state[1] += changed
        if not usable:
            state[2] = k
            break
        kept, least = 0, threshold * largest * np.sqrt(squares)
        for m in range(count):
            if abs(work[found[m]]) >= least:
                found[kept] = found[m]
                kept += 1
        if kept > most:
            _sort(found, kept, work, True)
            kept = most
        _sort(found, kept, work, False)
        for m in range(kept):
            columns[first + m], values[first + m] = found[m], work[found[m]]
        starts[k + 1] = first + kept
        if kept > 0:
            cursor[k], column = first, found[0]
            following[k] = head[column]
            head[column] = k
        state[0] = k + 1


def _precedes(one, other, work, by_size):  # pragma: no cover
    """True if column `one` comes before the other: the larger entry first where by_size, else in ascending order."""
    first, second = abs(work[one]), abs(work[other])
    if by_size and first != second:
        return first > second
    return one < other


def _sort(order, count, work, by_size):  # pragma: no cover
    """Sort order[:count] in place, by a heap: no recursion, and no memory."""
    root, end = count // 2, count
    while end > 1:
        if root > 0:
            root -= 1
        else:
            end -= 1
            order[0], order[end] = order[end], order[0]
        place = root
        child = 2 * place + 1
        while child < end:
            if child + 1 < end and _precedes(order[child], order[child + 1], work, by_size):
                child += 1
            if _precedes(order[place], order[child], work, by_size):
                order[place], order[child] = order[child], order[place]
                place = child
                child = 2 * place + 1
            else:
                child = end
