"""Products by tiles, in CSR and coordinates: a group multiplies the entries of some rows, then adds those of each row.

Entries are read in storage order for any lengths of rows, and products are kept in local memory.
Source: Greathouse, Daga 2014, CSR-stream and, for rows longer than a tile, CSR-vector.
"""

from __future__ import annotations

from workbench.compiler.words import barrier, group, groups, member, members, shared_array, strips, unrolled
from workbench.devices.kernels.frames import store_sums
from workbench.devices.kernels.parameters import Vector
from workbench.devices.kernels.products import with_result

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
