"""Parts of the graph of a sparse matrix, grown along its strong couplings.

A coupling of i and j is strong where a_ij < 0 and a_ij^2 >= threshold^2 m_i m_j, m_i being the largest -a_ij of a row.
"""

from __future__ import annotations

import dataclasses
import time

import numpy as np

from workbench.compiler.words import shared, threads
from workbench.devices.host.aggregation import Csr
from workbench.jit import compile_time
from workbench.jit.compiled import kernel
from workbench.jit.threads import launch
from workbench.words.numbers import count as number_of
from workbench.words.numbers import duration, extent

STRONG = 0.1
"""Share of the strongest couplings from which a coupling is strong, by default."""
LEAST = 3
"""Parts below the size divided by this join a neighbour."""
MOST = 2
"""Times the size that a part has at most after it was joined."""
ROWS_PER_CHUNK = 4096


@dataclasses.dataclass(frozen=True, eq=False)
class Growth:
    """Parts of a matrix. labels: the part of each unknown, int32 of shape (N,). sizes: unknowns of each part. seconds:
    of the growth, without the compilation of kernels."""

    labels: np.ndarray
    sizes: np.ndarray
    seconds: float

    @classmethod
    def of(cls, matrix: Csr, size: int, threshold: float = STRONG) -> Growth:
        """Parts of about `size` unknowns each, as `grown_parts` has them."""
        begun = time.perf_counter() - compile_time.spent()
        labels, _ = grown_parts(matrix, size, threshold)
        seconds = time.perf_counter() - compile_time.spent() - begun
        return cls(labels, np.bincount(labels), seconds)

    @property
    def members(self) -> list[np.ndarray]:
        """The unknowns of each part, ascending."""
        return np.split(np.argsort(self.labels, kind="stable"), np.cumsum(self.sizes)[:-1])

    @property
    def in_words(self) -> str:
        """Number and sizes of the parts, and the seconds of their growth, as a clause."""
        one, low, high = self.sizes.size == 1, int(self.sizes.min()), int(self.sizes.max())
        return (
            f"{number_of(self.sizes.size)} part{'' if one else 's'} of {extent(low, high, number_of)} unknowns, "
            f"grown along strong couplings in {duration(self.seconds)}"
        )


def grown_parts(matrix: Csr, size: int, threshold: float) -> tuple[np.ndarray, int]:
    """The part 0, 1, .. of each row of a symmetric matrix, int32 of shape (N,), and their number.

    A part begins at the oldest row at the border of earlier ones, or at the first that has no part yet, and takes
    rows along strong couplings, breadth first, up to `size`. Parts below a third of the size then join the neighbour to
    which their strong couplings add up to most. A single row that is left joins by any coupling, a neighbour with
    room if there is one, and rows without couplings are put together in the order of their numbers. Consecutive parts
    are mostly neighbours. A complex entry counts with its absolute value, as negative where its real part is.

    The result depends on the numbering of the rows, and not on the number of threads. Cost: three reads of the matrix,
    in one thread but for the strongest couplings; 30 bytes a row.

    Source: greedy growth of parts, Farhat 1988, along the couplings of algebraic multigrid.
    """
    data, indices, indptr = in_real_numbers(matrix[0]), *matrix[1:]
    rows, strongest = indptr.size - 1, strongest_couplings((data, indices, indptr))
    labels, queue, waiting = np.full(rows, -1, np.int32), np.empty(rows, np.int32), np.empty(rows, np.int32)
    met, listed = np.full(rows, -1, np.int32), np.zeros(rows, bool)
    sizes, count = np.zeros(rows, np.int32), np.zeros(1, np.int64)
    couplings = (data, indices, indptr, strongest, threshold)
    launch(0, _grow, *couplings, size, labels, queue, waiting, met, listed, sizes, count)
    parts = int(count[0])
    order = np.argsort(labels, kind="stable").astype(np.int32)
    starts = np.zeros(parts + 1, np.int64)
    np.cumsum(sizes[:parts], out=starts[1:])
    parents = np.arange(parts, dtype=np.int32)
    sums, found = np.zeros(parts), np.empty(parts, np.int32)
    for weak in (False, True):
        launch(0, _join, *couplings, size, weak, labels, order, starts, parents, sizes[:parts], sums, found)
    while np.any(parents != parents[parents]):
        parents = parents[parents]
    _join_uncoupled(parents, sizes[:parts], size)
    kept, numbers = np.unique(parents, return_inverse=True)
    return numbers.astype(np.int32)[labels], kept.size


def in_real_numbers(entries: np.ndarray) -> np.ndarray:
    """Entries by which parts grow: of complex ones the absolute values, negative where their real parts are."""
    return np.copysign(np.abs(entries), np.real(entries)) if entries.dtype.kind == "c" else entries


def strongest_couplings(matrix: Csr) -> np.ndarray:
    """The root of the largest -a_ij of each row of a real matrix, 0 without one, shape (N,)."""
    data, indices, indptr = matrix
    rows = indptr.size - 1
    strongest = np.empty(rows, data.dtype)
    launch(data.size, _strongest, data, indices, indptr, max(1, rows // ROWS_PER_CHUNK), strongest)
    return np.sqrt(strongest, out=strongest)


def components_of(matrix: Csr) -> tuple[int, np.ndarray]:
    """The number of connected components of the graph of a matrix, in which an entry that is not 0 couples its row and
    its column, and the component of each row, int32 of shape (N,), in the order of their first rows.

    Cost: a read of the matrix on one core, row by row as they are met.
    """
    rows = matrix[2].size - 1
    labels, queue, parents = np.full(rows, -1, np.int32), np.empty(rows, np.int32), np.arange(rows, dtype=np.int32)
    count = np.zeros(1, np.int64)
    launch(0, _search, *matrix, labels, queue, parents, count)
    parents = parents[: int(count[0])]
    if np.all(parents == np.arange(parents.size)):
        return parents.size, labels
    # An entry without a partner joined two of them.
    while np.any(parents != parents[parents]):
        parents = parents[parents]
    kept, numbers = np.unique(parents, return_inverse=True)
    return kept.size, numbers.astype(np.int32)[labels]


def _join_uncoupled(parents: np.ndarray, sizes: np.ndarray, size: int) -> None:
    """Put together parts of single rows that have no coupling, in their order, up to `size`."""
    alone = np.flatnonzero((parents == np.arange(parents.size)) & (sizes == 1))
    if alone.size > 1:
        parents[alone] = alone[np.arange(alone.size) // size * size]


def is_strong(entry, one, other, least):  # pragma: no cover
    """True for a coupling of two rows with these roots of their strongest couplings. least: the threshold."""
    # Not the squares, which underflow where entries are below 1e-160.
    return entry < 0 and -entry >= least * one * other


@kernel()
def _strongest(taken, data, indices, indptr, chunks, strongest):  # pragma: no cover
    rows = strongest.size
    for thread in threads(taken):
        for chunk in shared(taken, thread, chunks):
            for i in range(rows * chunk // chunks, rows * (chunk + 1) // chunks):
                most = data.dtype.type(0)
                for j in range(indptr[i], indptr[i + 1]):
                    if indices[j] != i and -data[j] > most:
                        most = -data[j]
                strongest[i] = most


@kernel()
def _search(taken, data, indices, indptr, labels, queue, parents, count):  # pragma: no cover
    found = 0
    for start in range(labels.size):
        if labels[start] < 0:
            head, tail = 0, 1
            queue[0], labels[start] = start, found
            while head < tail:
                i = queue[head]
                head += 1
                for j in range(indptr[i], indptr[i + 1]):
                    k = indices[j]
                    if labels[k] < 0 and data[j] != 0:
                        labels[k], queue[tail] = found, k
                        tail += 1
                    elif labels[k] != found and data[j] != 0:
                        root, other = np.int64(found), np.int64(labels[k])
                        while parents[root] != root:
                            root = np.int64(parents[root])
                        while parents[other] != other:
                            other = np.int64(parents[other])
                        parents[max(root, other)] = min(root, other)
            found += 1
    count[0] = found


@kernel()
def _grow(
    taken, data, indices, indptr, strongest, least, size, labels, queue, waiting, met, listed, sizes, count
):  # pragma: no cover
    rows = labels.size
    part, first, last, lowest = 0, 0, 0, 0
    left = rows
    while left > 0:
        # The oldest row at the border of earlier parts, else the first without a part.
        seed = -1
        while seed < 0 and first < last:
            if labels[waiting[first]] < 0:
                seed = np.int64(waiting[first])
            first += 1
        if seed < 0:
            while labels[lowest] >= 0:
                lowest += 1
            seed = lowest
        head, tail = 0, 1
        queue[0], met[seed] = seed, part
        while head < tail and head < size:
            i = queue[head]
            labels[i] = part
            head += 1
            for j in range(indptr[i], indptr[i + 1]):
                k = indices[j]
                if labels[k] < 0 and met[k] != part and is_strong(data[j], strongest[i], strongest[k], least):
                    met[k], queue[tail] = part, k
                    tail += 1
        for at in range(head, tail):
            k = queue[at]
            if not listed[k]:
                listed[k], waiting[last] = True, k
                last += 1
        sizes[part] = head
        left -= head
        part += 1
    count[0] = part


@kernel()
def _join(
    taken, data, indices, indptr, strongest, least, size, weak, labels, order, starts, parents, sizes, sums, found
):  # pragma: no cover
    for part in range(sizes.size):
        small = sizes[part] == 1 if weak else LEAST * sizes[part] < size
        if parents[part] != part or not small:
            continue
        count = 0
        for at in range(starts[part], starts[part + 1]):
            i = order[at]
            for j in range(indptr[i], indptr[i + 1]):
                k = indices[j]
                # A stored zero couples nothing, and would leave the sum as if its part had not been met.
                joins = data[j] != 0 if weak else is_strong(data[j], strongest[i], strongest[k], least)
                if not joins:
                    continue
                root = parents[labels[k]]
                while parents[root] != root:
                    root = parents[root]
                if root != part:
                    if sums[root] == 0:
                        found[count] = root
                        count += 1
                    sums[root] += abs(data[j])
        best, most = -1, 0.0
        full, most_of_full = -1, 0.0
        for at in range(count):
            root = found[at]
            if sizes[root] < MOST * size:
                if sums[root] > most:
                    best, most = np.int64(root), sums[root]
            elif sums[root] > most_of_full:
                full, most_of_full = np.int64(root), sums[root]
            sums[root] = 0
        if best < 0 and weak:
            best = full
        if best >= 0:
            parents[part] = best
            sizes[best] += sizes[part]
