"""Kernels of deflation: restriction, prolongation, products with AZ, and solves with E.

Sums use no atomics: each has two stages, the second in a fixed order, so that results can be repeated. `coarse` and `a`
are coarse vectors, shape (d,), in the precision of sums. Where Z is piecewise constant, labels[i] is the column of Z
that is 1 at unknown i. `n` is the number of unknowns.
"""

from __future__ import annotations

from workbench.compiler.words import (
    conj,
    group,
    groups,
    items,
    member,
    members,
    narrow,
    shared_array,
    strips,
    wide,
)
from workbench.devices.kernels.frames import add_together, store_sum, store_sums, sum_of_sharers
from workbench.devices.kernels.kernel_text import fill, read
from workbench.devices.kernels.parameters import Places, RealSum, Sums, Vector
from workbench.jit.dot_sums import with_row

BAND = read("band")
"""The text of a solve with a banded E = L L^H by one group; factor[j*(width + 1) + k] = L[j + k, j], with rows and
columns permuted by `order`."""


def box_sums(items_per_box: int) -> str:
    """The text of coarse[part] = the sum of w over a part of a box, for all parts.

    items_per_box: work-items that share a box, a power of two.
    """
    shared = items_per_box > 1
    return fill(
        "box_sums",
        items_per_box=items_per_box,
        room="SHARED(W, room, GROUP);" if shared else "",
        add_shared=fill("box_sums_together", half=items_per_box // 2) if shared else "",
    )


def add_parts(parts: Sums, order: Places, starts: Places, coarse: Sums) -> None:
    """coarse[k] = the sum of parts[order[j]] for j from starts[k] to before starts[k + 1]. A group computes one k."""
    dtype = coarse.dtype.type
    k, room, total = group(), shared_array(dtype, members()), dtype(0)
    for j in range(starts[k] + member(), starts[k + 1], members()):
        total += parts[order[j]]
    store_sum(room, total, coarse, k)


def prolong(x: Vector, labels: Places, coarse: Sums, sign: RealSum, n: int) -> None:
    """x = x + sign Z a, with a in `coarse`."""
    for i in items(n, 0, n):
        x[i] = narrow(wide(x[i]) + sign * coarse[labels[i]])


def prolong_dots(x: Vector, labels: Places, coarse: Sums, r: Vector, partial: Sums, n: int) -> None:
    """x = x + Z a, with a in `coarse`, and partial sums of (r, x), (x, x) and (r, r)."""
    dtype = partial.dtype.type
    room, sums = shared_array(dtype, (members() + strips()) * 3), (dtype(0),) * 3
    for i in items(n, 0, n):
        value = narrow(wide(x[i]) + coarse[labels[i]])
        x[i] = value
        sums = with_row(sums, r[i], value, dtype=dtype)
    store_sums(room, partial, sums, group(), groups())


def column_dots(vectors: Vector, w: Vector, parts: Sums, columns: int, n: int) -> None:
    """parts[k*chunks + chunk] = (z_k, w) over a chunk of unknowns. vectors: the columns of Z one after the other.

    A group computes one part; `columns` neighbouring groups read the same chunk of w.
    """
    dtype = parts.dtype.type
    room, total = shared_array(dtype, members()), dtype(0)
    chunks, chunk, k = groups() // columns, group() // columns, group() % columns
    low, high = n * chunk // chunks, n * (chunk + 1) // chunks
    for i in range(low + member(), high, members()):
        total += conj(wide(vectors[k * n + i])) * wide(w[i])
    store_sum(room, total, parts, k * chunks + chunk)


def column_sum(vectors: Vector, x: Vector, coarse: Sums, sign: RealSum, columns: int, n: int) -> None:
    """x = x + sign Z a, with a in `coarse`. vectors: the columns of Z one after the other."""
    for i in items(n, 0, n):
        total = coarse.dtype.type(0)
        for k in range(columns):
            total += coarse[k] * wide(vectors[k * n + i])
        x[i] = narrow(wide(x[i]) + sign * total)


def dense_product(matrix: Sums, a: Sums, solved: Sums, size: int) -> None:
    """solved = E^-1 a. matrix: E^-1, size x size. A group computes one row; rows from `size` on are zero."""
    dtype = solved.dtype.type
    row, room, total = group(), shared_array(dtype, members()), dtype(0)
    if row < size:
        for j in range(member(), size, members()):
            total += matrix[row * size + j] * a[j]
    store_sum(room, total, solved, row)


def coarse_dot(a: Sums, b: Sums, partial: Sums, first: int, size: int) -> None:
    """partial[first + group] = the partial sum of (a, b) of a group; a and b are coarse vectors of `size` entries."""
    dtype = partial.dtype.type
    room, total = shared_array(dtype, members() + strips()), dtype(0)
    for k in items(size, 0, size):
        total += conj(a[k]) * b[k]
    store_sums(room, partial, (total,), first + group(), groups())


def correct_curvature(a: Sums, b: Sums, partial: Sums, size: int) -> None:
    """Subtract (a, b) from the first partial sum of (p, A p), in one group; a and b are coarse vectors."""
    dtype = partial.dtype.type
    room, total = shared_array(dtype, members()), dtype(0)
    for k in range(member(), size, members()):
        total += conj(a[k]) * b[k]
    add_together(room, (total,))
    if member() == 0:
        partial[0] -= room[0]


def run_sums(w: Vector, bounds, parts: Sums, count: int, *, sharing: int) -> None:
    """parts[run] = the sum of w over each of `count` runs of equal labels, from bounds[run] to before bounds[run + 1].
    sharing: work-items that share a run, a power of two."""
    dtype = parts.dtype.type
    if sharing == 1:
        for run in items(count, 0, count):
            total = dtype(0)
            for i in range(bounds[run], bounds[run + 1]):
                total += wide(w[i])
            parts[run] = total
    else:
        room, place, at_once = shared_array(dtype, members()), member() % sharing, members() // sharing
        for first in range(group() * at_once, count, max(1, groups() * at_once)):
            run, total = first + member() // sharing, dtype(0)
            if run < count:
                for i in range(bounds[run] + place, bounds[run + 1], sharing):
                    total += wide(w[i])
            total = sum_of_sharers(room, total, sharing=sharing)
            if place == 0 and run < count:
                parts[run] = total


def subtract_rows(rows, starts, columns, data: Vector, w: Vector, coarse: Sums, count: int) -> None:
    """w = w - AZ a in place, with a in `coarse`, on the `count` rows of AZ that have entries.

    AZ is CSR without its empty rows: entries of row rows[k] of w are data[j] in column columns[j], for j from starts[k]
    to before starts[k + 1].
    """
    for k in items(count, 0, count):
        value = wide(w[rows[k]])
        for j in range(starts[k], starts[k + 1]):
            value -= wide(data[j]) * coarse[columns[j]]
        w[rows[k]] = narrow(value)
