"""Matrix-vector products (stencils, CSR, coordinates), terms of Neumann series, block solves and a step of a Chebyshev
iteration.

Each stores partial sums, one per group, of the dot products (left, y), (y, y) and (left, left) of a vector `left` and
the result.

What a CSR kernel may have or not is a tuple: `base` and `scale` have one vector each, as in y = (base - A x)*scale, and
`sums` has `left` and the partial sums.

Products by tiles: a group multiplies the entries of some rows, then adds those of each row. Entries are read in storage
order for any lengths of rows, and products are kept in local memory. Source: Greathouse, Daga 2014, CSR-stream and, for
rows longer than a tile, CSR-vector.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.compiler.kinds import Array
from workbench.compiler.words import (
    barrier,
    conj,
    group,
    groups,
    items,
    member,
    members,
    quotient,
    shared_array,
    strips,
    unrolled,
)
from workbench.devices.kernels.frames import store_sums, sum_of_sharers
from workbench.devices.kernels.kernel_text import dots, fill
from workbench.devices.kernels.parameters import Sums, Vector
from workbench.jit.dot_sums import with_row

ALONG = 4
"""Rows in the direction of the farthest band that a GPU work-item computes."""


def stencil_columns(
    x: Vector, y: Vector, diagonal: Vector, lower, steps, partial: Sums, n: int, *, bands: int, constant: bool
) -> None:
    """y = A x for a diagonal and lower bands at distances steps[0] < steps[1] < ..; a constant diagonal is one number.

    For GPUs: a work-item computes several rows in the direction of the farthest band, and keeps the entries
    of x and of the band in registers. Otherwise the second-level cache, from which a row reads twice as much as from
    memory, would be the limit.
    """
    dtype = x.dtype.type
    room, sums = shared_array(partial.dtype.type, (members() + strips()) * 3), (partial.dtype.type(0),) * 3
    farthest, far_band = steps[bands - 1], lower[bands - 1]
    across = min(farthest, n)
    count = across * ((quotient(n + across - 1, across) + ALONG - 1) // ALONG)
    for item in items(count, 0, count):
        piece = quotient(item, across)
        i = item - piece * across + piece * ALONG * across
        before = x[i - farthest] if i >= farthest and i < n else dtype(0)
        here = x[i] if i < n else dtype(0)
        coupled = far_band[i] if i >= farthest and i < n else dtype(0)
        step = 0
        while step < ALONG and i < n:
            inside = i + farthest < n
            after = x[i + farthest] if inside else dtype(0)
            coupling = far_band[i + farthest] if inside else dtype(0)
            v = diagonal[0 if constant else i] * here + coupled * before + conj(coupling) * after
            for k in unrolled(bands - 1):
                if i >= steps[k]:
                    v += lower[k][i] * x[i - steps[k]]
            for k in unrolled(bands - 1):
                if i + steps[k] < n:
                    v += conj(lower[k][i + steps[k]]) * x[i + steps[k]]
            y[i] = v
            sums = with_row(sums, here, v, dtype=partial.dtype.type)
            before, here, coupled = here, after, coupling
            i += farthest
            step += 1
    store_sums(room, partial, sums, group(), groups())


def csr(
    data: Vector, indices, starts, part, x: Vector, y: Vector, base, scale, sums, rows: int, *, items_per_row: int
) -> None:
    """y = A x, or y = (base - A x)*scale, for a CSR matrix: work-items that share a row add their parts in a tree.

    items_per_row: a power of two, at most the work-items of a group. part: if not empty, where rows end in `data`, and
    the number that columns are counted from; y = A x, or y = base + A x.
    """
    dtype = y.dtype.type
    parts = shared_array(dtype, members())
    room = shared_array(sums[1].dtype.type, (members() + strips()) * 3) if len(sums) > 0 else ()
    found = (sums[1].dtype.type(0),) * 3 if len(sums) > 0 else ()
    place, at_once = member() % items_per_row, members() // items_per_row
    for top in range(group() * at_once, rows, max(1, groups() * at_once)):
        row, total = top + member() // items_per_row, dtype(0)
        if row < rows:
            end, first = (part[0][row], part[1]) if len(part) > 0 else (starts[row + 1], 0)
            for j in range(starts[row] + place, end, items_per_row):
                total += data[j] * x[indices[j] - first]
        total = sum_of_sharers(parts, total, sharing=items_per_row)
        if place == 0 and row < rows:
            found = with_result(found, row, total, y, base, scale, sums, added=len(part) > 0)
    if len(sums) > 0:
        store_sums(room, sums[1], found, group(), groups())


def with_result(found, row, total, y, base, scale, sums, *, added):
    """Store the result of a row; the sums with its terms. added: base + total, else base - total."""
    value = total
    if len(base) > 0:
        value = base[0][row] + total if added else base[0][row] - total
    if len(scale) > 0:
        value *= scale[0][row]
    y[row] = value
    return with_row(found, sums[0][row], value, dtype=sums[1].dtype.type) if len(sums) > 0 else ()


def csr_annotations(
    index: np.dtype, names: Sequence[str], *, based: bool, scaled: bool, summed: bool, part: bool = False
) -> dict[str, object]:
    """Annotations of the parameters of a CSR kernel that have none. names: of its arrays of integers, which have the
    dtype `index`."""
    places = Array(index, 1)
    return {
        **dict.fromkeys(names, places),
        "part": (places, int) if part else (),
        "base": (Vector,) if based else (),
        "scale": (Vector,) if scaled else (),
        "sums": (Vector, Sums) if summed else (),
    }


LEVELS = fill("levels", **dots("r[i]"))
"""u = scale M^-1 r for M = (E + L) E^-1 (E + L^H), one group for each of the blocks, which have no couplings.

Level by level: rows depend on rows of earlier levels, in L^H of later levels.
"""


PER_ITEM = 4
"""Entries of a tile for every work-item of the group."""


def csr_tiles(data: Vector, columns, starts, bounds, x: Vector, y: Vector, base, scale, sums, tiles: int) -> None:
    """y = A x, or y = (base - A x)*scale, for a CSR matrix whose tile t is the rows bounds[t] to bounds[t + 1].

    A tile has at most PER_ITEM entries for each work-item of a group, or is one row. base, scale, sums: tuples, empty
    where absent, as in `products`.
    """
    dtype = y.dtype.type
    products = shared_array(dtype, PER_ITEM * members())
    room = shared_array(sums[1].dtype.type, (members() + strips()) * 3) if len(sums) > 0 else ()
    found = (sums[1].dtype.type(0),) * 3 if len(sums) > 0 else ()
    for tile in range(group(), tiles, max(1, groups())):
        top, end = bounds[tile], bounds[tile + 1]
        first, last = starts[top], starts[end]
        whole = last - first <= PER_ITEM * members()
        _multiply(products, data, columns, x, first, last, whole)
        for row in range(top + member(), end, members()):
            low = starts[row] - first if whole else 0
            high = starts[row + 1] - first if whole else members()
            total = dtype(0)
            for j in range(low, high):
                total += products[j]
            found = with_result(found, row, total, y, base, scale, sums, added=False)
        barrier()
    if len(sums) > 0:
        store_sums(room, sums[1], found, group(), groups())


def coo_tiles(data: Vector, rows, columns, bounds, firsts, x: Vector, y: Vector, sums, tiles: int) -> None:
    """y = A x for coordinates sorted by row, whose tile t is the rows firsts[t] to firsts[t + 1] with the entries
    bounds[t] to bounds[t + 1]; a work-item finds its row among them by bisection. Tiles as those of `csr_tiles`."""
    dtype = y.dtype.type
    products = shared_array(dtype, PER_ITEM * members())
    room = shared_array(sums[1].dtype.type, (members() + strips()) * 3) if len(sums) > 0 else ()
    found = (sums[1].dtype.type(0),) * 3 if len(sums) > 0 else ()
    for tile in range(group(), tiles, max(1, groups())):
        first, last = bounds[tile], bounds[tile + 1]
        whole = last - first <= PER_ITEM * members()
        _multiply(products, data, columns, x, first, last, whole)
        for row in range(firsts[tile] + member(), firsts[tile + 1], members()):
            total = dtype(0)
            if whole:
                j = _first_of(row, rows, first, last)
                while j < last and rows[j] == row:
                    total += products[j - first]
                    j += 1
            else:
                for k in range(members()):
                    total += products[k]
            found = with_result(found, row, total, y, (), (), sums, added=False)
        barrier()
    if len(sums) > 0:
        store_sums(room, sums[1], found, group(), groups())


def _multiply(products, data, columns, x, first, last, whole):
    """The products of the entries of a tile; of a longer row, parts of its sum."""
    if whole:
        for k in unrolled(PER_ITEM):
            j = first + k * members() + member()
            if j < last:
                products[j - first] = data[j] * x[columns[j]]
    else:
        part = products.dtype.type(0)
        for j in range(first + member(), last, members()):
            part += data[j] * x[columns[j]]
        products[member()] = part
    barrier()


def _first_of(row, rows, first, last):
    """The place of the first entry of the row, or of a later one."""
    while first < last:
        middle = first + (last - first) // 2
        if rows[middle] < row:
            first = middle + 1
        else:
            last = middle
    return first
