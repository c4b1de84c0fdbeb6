"""Restriction to and prolongation from piecewise constant subdomains, in one pass each, without atomics.

A subdomain vector is a label per unknown. Labels are kept as pieces of equal ones: runs, since most labellings are a
few long runs, and a run is a plain sum or a plain fill that vectorizes; or rows of boxes, which are short.

Kernels go chunk by chunk. A chunk of a vector is cut into pieces of one subdomain each: runs of equal labels, or, for
boxes of a grid that all have the same number of cells along x, rows of a box, whose length is a constant. The arrays
`pieces` are

- of runs (width = 0): first unknowns, and N; labels; the first run of each chunk, and their number. No run is in two
  chunks.
- of rows of `width` cells: labels, -1 - k for the k-th row that is split; the labels of the cells of those rows. Chunks
  begin at rows.
"""

from __future__ import annotations

import numpy as np

from workbench.compiler.words import shared, threads, unrolled
from workbench.devices.host.boxes import Boxes
from workbench.devices.host.coarse_rows import alike, by_column
from workbench.devices.on_cores import as_unsigned
from workbench.jit.compiled import REORDERED, kernel
from workbench.jit.dot_sums import total, with_row
from workbench.jit.threads import CHUNK, chunks_of, launch, prepare
from workbench.lazy import sparse
from workbench.lines.types import accumulator


@kernel(*REORDERED)
def restriction(taken, w, pieces, groups, spans, sums, coarse, *, width):  # pragma: no cover
    """coarse = Z^T w, summed for each group of chunks apart. groups: their first chunks; spans: the labels in each."""
    chunks = groups[groups.size - 1]
    for thread in threads(taken):
        for group in shared(taken, thread, sums.shape[0]):
            mine = sums[group]
            mine[spans[group, 0] : spans[group, 1]] = 0
            for chunk in range(groups[group], groups[group + 1]):
                low, high = bounds(w.size, chunk, chunks, width=width)
                restrict(w, mine, low, high, chunk, pieces, width=width)
    add_groups(sums, spans, coarse)


@kernel(*REORDERED)
def prolongation(taken, x, pieces, groups, a, r, partial, dots, *, width, paired):  # pragma: no cover
    """x = x + Z a; paired: with the dot products (r, x), (x, x) and (r, r)."""
    chunks = groups[groups.size - 1]
    for thread in threads(taken):
        for chunk in shared(taken, thread, chunks):
            low, high = bounds(x.size, chunk, chunks, width=width)
            _prolong(x, a, low, high, chunk, pieces, width=width)
            if paired:
                found = (dots.dtype.type(0),) * 3
                for i in range(low, high):
                    found = with_row(found, r[i], x[i], dtype=dots.dtype)
                partial[chunk, 0], partial[chunk, 1], partial[chunk, 2] = found
    if paired:
        total(partial, dots)


def bounds(n, chunk, chunks, *, width):  # pragma: no cover
    """The first unknown of a chunk, and the one behind its last."""
    low, high = n * chunk // chunks, n * (chunk + 1) // chunks
    return (low // width * width, high // width * width) if width > 0 else (low, high)


def restrict(w, sums, low, high, chunk, pieces, *, width):  # pragma: no cover
    """Add a chunk of a vector to the sums of its subdomains."""
    if width > 0:
        labels, split = pieces
        for row in range(low // width, high // width):
            label, first = labels[row], row * width
            if label >= 0:
                value = sums.dtype.type(w[first])
                for k in unrolled(width - 1):
                    value += w[first + k + 1]
                sums[label] += value
            else:
                for k in unrolled(width):
                    sums[split[-1 - label, k]] += w[first + k]
    else:
        starts, labels, runs = pieces
        for run in range(runs[chunk], runs[chunk + 1]):
            value = sums.dtype.type(0)
            for i in range(starts[run], starts[run + 1]):
                value += w[i]
            sums[labels[run]] += value


def _prolong(x, a, low, high, chunk, pieces, *, width):  # pragma: no cover
    """Add a, at the label of each unknown, to a chunk of a vector."""
    if width > 0:
        labels, split = pieces
        for row in range(low // width, high // width):
            label, first = labels[row], row * width
            if label >= 0:
                value = a[label]
                for k in unrolled(width):
                    x[first + k] += value
            else:
                for k in unrolled(width):
                    x[first + k] += a[split[-1 - label, k]]
    else:
        starts, labels, runs = pieces
        for run in range(runs[chunk], runs[chunk + 1]):
            value = a[labels[run]]
            for i in range(starts[run], starts[run + 1]):
                x[i] += value


def add_groups(sums, spans, coarse):  # pragma: no cover
    """coarse = the sum over all groups."""
    coarse[:] = 0
    for group in range(sums.shape[0]):
        for k in range(spans[group, 0], spans[group, 1]):
            coarse[k] += sums[group, k]


LONGEST_SEGMENT = 2048
"""Rows of a segment: its part of w and x stays in a first-level cache while all columns are applied."""
MOST_GROUPS = 16
"""Each group of chunks has d separate sums; more groups would cost more memory than they gain in balance."""


class Subdomains:
    """Z for labels of shape (N,) in 0..d-1, never stored: `restrict` is Z^T w, `add` is x + Z a.

    boxes: what the labels number, None if they are not boxes of a grid. Pieces of one label do not cross chunks, so
    that chunks can run in parallel and products can restrict their results (see `stencil.py`).
    """

    def __init__(self, labels: np.ndarray, count: int, dtype: np.dtype, boxes: Boxes | None = None) -> None:
        self.size = labels.size
        chunks = chunks_of(self.size)
        groups = min(MOST_GROUPS, chunks)
        shares = chunks * np.arange(groups + 1) // groups
        self.width = width = boxes.row_width if boxes else 0
        """Cells of a row of a box, 0 where pieces are runs."""
        pieces = _rows(labels, width) if width else _runs(labels, chunks)
        spans = np.empty((groups, 2), np.int64)
        launch(self.size, _find_spans, labels, chunks, max(1, width), shares, spans)
        self._sums = np.zeros((groups, count), accumulator(dtype))
        self.coarse = np.zeros(count, accumulator(dtype))
        self.stored = (pieces, shares, spans, self._sums, self.coarse)
        """The arguments of a kernel that restricts a vector."""
        some = np.empty(0, dtype)
        self._restrict = restriction.of(width=width)
        self._add, self._add_paired = (prolongation.of(width=width, paired=paired) for paired in (False, True))
        self._partial, self._dots = (np.zeros(shape, self.coarse.dtype) for shape in ((chunks, 3), 3))
        self._given = pieces, shares
        prepare(self._restrict, some, *self.stored)
        prepare(self._add, some, *self._given, self.coarse, (), (), ())
        prepare(self._add_paired, some, *self._given, self.coarse, some, self._partial, self._dots)

    def restrict(self, w: np.ndarray) -> np.ndarray:
        """Z^T w, shape (d,), in double precision; the array is reused by the next call. Reads N words."""
        launch(w.size, self._restrict, w, *self.stored)
        return self.coarse

    def add(self, x: np.ndarray, coarse: np.ndarray) -> None:
        """x = x + Z a in place."""
        launch(x.size, self._add, x, *self._given, coarse, (), (), ())

    def add_paired(self, x: np.ndarray, coarse: np.ndarray, r: np.ndarray) -> np.ndarray:
        """x = x + Z a in place, with (r, x), (x, x) and (r, r) in the same pass."""
        launch(x.size, self._add_paired, x, *self._given, coarse, r, self._partial, self._dots)
        return self._dots

    def subtract(self, x: np.ndarray, coarse: np.ndarray) -> None:
        """x = x - Z a in place."""
        self.add(x, -coarse)

    @property
    def traffic(self) -> int:
        """Bytes of the labels; the vector comes on top."""
        return sum(array.nbytes for array in self._given[0][:2]) + 2 * self._sums.nbytes


class CompactColumns:
    """AZ in segments: runs of rows with the same columns, so that only values are stored per row.

    Rows without entries are left out. On a segment AZ a is a sum of a few value arrays with fixed weights, which
    vectorizes. Stripes in 2D have three columns per segment: 3 words per unknown, where the two-level paper stores 5.
    """

    def __init__(self, az: sparse.csr_array) -> None:
        starts, rows = alike(az.indptr, az.indices, LONGEST_SEGMENT)
        counts = np.diff(az.indptr)[starts]
        self._starts, self._rows = starts.astype(np.uint64), rows.astype(np.uint64)
        self._columns = as_unsigned(np.concatenate([[0], np.cumsum(counts)]).astype(np.int64))
        self._offsets = as_unsigned(np.concatenate([[0], np.cumsum(counts * rows)]).astype(np.int64))
        firsts = np.repeat(az.indptr[starts] - self._columns[:-1].astype(np.int64), counts)
        self._labels = as_unsigned(az.indices[firsts + np.arange(firsts.size)])
        self._data = by_column(az.indptr, az.data, starts, rows, self._offsets)
        self._stored = (self._starts, self._rows, self._columns, self._offsets, self._labels, self._data)
        touched = int(rows.sum())
        self._touched = touched
        chunks = max(1, min(starts.size, touched // CHUNK))
        cuts = np.searchsorted(np.cumsum(rows), np.arange(chunks) * touched // chunks)
        self._cuts = np.unique(np.append(cuts, starts.size)).astype(np.uint64)
        some = np.empty(0, az.dtype)
        prepare(_subtract, *self._stored, some, np.empty(0, accumulator(az.dtype)), self._cuts)

    def subtract(self, w: np.ndarray, coarse: np.ndarray) -> None:
        """w = w - AZ a in place, for a of shape (d,) in double precision."""
        launch(self._data.size, _subtract, *self._stored, w, coarse, self._cuts)

    @property
    def traffic(self) -> int:
        """Bytes of the stored arrays and of the part of w that is read and written."""
        return sum(part.nbytes for part in self._stored) + 2 * self._touched * self._data.itemsize

    @property
    def entries(self) -> int:
        return self._data.size


def _runs(labels: np.ndarray, chunks: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """First unknowns of the runs of equal labels, and N; their labels; and the first run of each chunk, and all."""
    cuts = np.zeros(chunks + 1, np.uint64)
    nothing = np.empty(0, np.uint64), np.empty(0, np.uint32)
    launch(labels.size, _find_runs, labels, chunks, False, cuts, *nothing)
    np.cumsum(cuts, out=cuts)
    bounds, owners = np.empty(int(cuts[-1]) + 1, np.uint64), np.empty(int(cuts[-1]), np.uint32)
    bounds[-1] = labels.size
    launch(labels.size, _find_runs, labels, chunks, True, cuts, bounds, owners)
    return bounds, owners, cuts


@kernel()
def _find_runs(taken, labels, chunks, fill, cuts, bounds, owners):  # pragma: no cover
    size = labels.size
    for thread in threads(taken):
        for chunk in shared(taken, thread, chunks):
            place = np.int64(chunk)
            first, last = size * place // chunks, size * (place + 1) // chunks
            if fill:
                run = np.int64(cuts[place])
                for i in range(first, last):
                    if i == first or labels[i] != labels[i - 1]:
                        bounds[run], owners[run] = i, labels[i]
                        run += 1
            else:
                count = 0
                for i in range(first, last):
                    count += i == first or labels[i] != labels[i - 1]
                cuts[place + 1] = count


def _rows(labels: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray]:
    """The label of each row, or -1 - k, and the labels of the k-th row that is split, shape (k, width)."""
    rows = labels.size // width
    chunks = chunks_of(labels.size)
    counts = np.zeros(chunks + 1, np.int64)
    of_row = np.empty(rows, np.int32)
    launch(labels.size, _find_rows, labels, width, False, counts, of_row, np.empty((0, width), np.int32))
    np.cumsum(counts, out=counts)
    split = np.empty((counts[-1], width), np.int32)
    launch(labels.size, _find_rows, labels, width, True, counts, of_row, split)
    return of_row, split


@kernel()
def _find_rows(taken, labels, width, fill, counts, of_row, split):  # pragma: no cover
    chunks, rows = counts.size - 1, of_row.size
    for thread in threads(taken):
        for chunk in shared(taken, thread, chunks):
            place = np.int64(chunk)
            # While rows are counted, counts[place] belongs to the previous chunk.
            at = counts[place] if fill else 0
            for row in range(rows * place // chunks, rows * (place + 1) // chunks):
                first, alike = labels[row * width], True
                for k in range(1, width):
                    alike = alike and labels[row * width + k] == first
                of_row[row] = first
                if alike:
                    continue
                if fill:
                    of_row[row] = -1 - at
                    for k in range(width):
                        split[at, k] = labels[row * width + k]
                at += 1
            if not fill:
                counts[place + 1] = at


@kernel()
def _find_spans(taken, labels, chunks, align, groups, spans):  # pragma: no cover
    size = labels.size
    for thread in threads(taken):
        for group in shared(taken, thread, spans.shape[0]):
            low, high = labels[0], labels[0]
            first = size * groups[group] // chunks // align * align
            last = size * groups[group + 1] // chunks // align * align
            if last > first:
                low, high = labels[first], labels[first]
            for i in range(first, last):
                low, high = min(low, labels[i]), max(high, labels[i])
            spans[group, 0], spans[group, 1] = low, high + 1


@kernel(*REORDERED)
def _subtract(taken, starts, rows, columns, offsets, labels, data, w, coarse, cuts):  # pragma: no cover
    for thread in threads(taken):
        for chunk in shared(taken, thread, cuts.size - 1):
            for segment in range(cuts[chunk], cuts[chunk + 1]):
                first, count = np.int64(starts[segment]), np.int64(rows[segment])
                target = w[first : first + count]
                offset, k, end = np.int64(offsets[segment]), np.int64(columns[segment]), np.int64(columns[segment + 1])
                # Three at once, as 2D stripes have, read and write the target once.
                while k + 2 < end:
                    one, two, three = coarse[labels[k]], coarse[labels[k + 1]], coarse[labels[k + 2]]
                    first_values = data[offset : offset + count]
                    second_values = data[offset + count : offset + 2 * count]
                    third_values = data[offset + 2 * count : offset + 3 * count]
                    for i in range(target.size):
                        target[i] -= one * first_values[i] + two * second_values[i] + three * third_values[i]
                    offset += 3 * count
                    k += 3
                while k < end:
                    weight, values = coarse[labels[k]], data[offset : offset + count]
                    for i in range(target.size):
                        target[i] -= weight * values[i]
                    offset += count
                    k += 1
