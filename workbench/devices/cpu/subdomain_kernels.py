"""Kernels that restrict to and prolong from piecewise constant subdomains, chunk by chunk.

A chunk of a vector is cut into pieces of one subdomain each: runs of equal labels, or, for boxes of a grid that all
have the same number of cells along x, rows of a box, whose length is a constant. The arrays `pieces` are

- of runs (width = 0): first unknowns, and N; labels; the first run of each chunk, and their number. No run is in two
  chunks.
- of rows of `width` cells: labels, -1 - k for the k-th row that is split; the labels of the cells of those rows. Chunks
  begin at rows.
"""

from __future__ import annotations

from workbench.compiler.words import shared, threads, unrolled
from workbench.jit.compiled import REORDERED, kernel
from workbench.jit.dot_sums import total, with_row


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
