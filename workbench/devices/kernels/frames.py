"""Kernels of accelerators around functions of rows: loops over rows shared by work-items, and sums of groups.

They are in the grammar of kernels (see `workbench.compiler.words`). `arguments` are those of the function behind the
row, with () for what it does not use; functions and what decides about loops are constants.
"""

from __future__ import annotations

from workbench.compiler.words import (
    barrier,
    column,
    conj,
    group,
    groups,
    items,
    member,
    members,
    narrow,
    real,
    shared_array,
    strips,
    unrolled,
)
from workbench.devices.kernels.prelude import STOP
from workbench.jit.frames import in_tiles, with_products, with_terms


def each_row(arguments, count, *, inner, edge, reach, halo, tiles):
    """Compute all rows. tiles: first column and width of those that cover the rows of block vectors; else empty."""
    if halo:
        first = min(reach(0, *arguments), count)
        end = max(first, count - first)
        for row in items(count, first, end):
            in_tiles(row, arguments, (), of=inner, tiles=tiles)
        for row in items(count, 0, first):
            in_tiles(row, arguments, (count,), of=edge, tiles=tiles)
        for row in items(count, end, count):
            in_tiles(row, arguments, (count,), of=edge, tiles=tiles)
    else:
        for row in items(count, 0, count):
            in_tiles(row, arguments, (count,), of=edge, tiles=tiles)


def summed_rows(arguments, partial, count, *, inner, edge, reach, halo, dots, dtype, sums):
    """Compute all rows, and the sums of what they return, or the dot products; partial: shape (sums, groups)."""
    room = shared_array(dtype, (members() + strips()) * sums)
    found = (dtype(0),) * sums
    if halo:
        first = min(reach(0, *arguments), count)
        end = max(first, count - first)
        for row in items(count, first, end):
            found = with_terms(found, inner(row, *arguments), dots=dots, dtype=dtype)
        for row in items(count, 0, first):
            found = with_terms(found, edge(row, *arguments, count), dots=dots, dtype=dtype)
        for row in items(count, end, count):
            found = with_terms(found, edge(row, *arguments, count), dots=dots, dtype=dtype)
    else:
        for row in items(count, 0, count):
            found = with_terms(found, edge(row, *arguments, count), dots=dots, dtype=dtype)
    store_sums(room, partial, found, group(), groups())


def each_column(arguments, count, *, edge, width):
    """Compute all rows of block vectors, a work-item one column of a row."""
    phases, place, phase = members() // width, member() % width, member() // width
    if phase < phases:
        for row in range(group() * phases + phase, count, max(1, groups() * phases)):
            edge(row, *column(arguments, place, width), count)


def summed_columns(arguments, partial, count, *, edge, width, dtype):
    """Compute all rows as `each_column`, and dot products of corresponding columns; partial: shape (groups, width)."""
    room, total = shared_array(dtype, members()), dtype(0)
    phases, place, phase = members() // width, member() % width, member() // width
    if phase < phases:
        for row in range(group() * phases + phase, count, max(1, groups() * phases)):
            left, right = edge(row, *column(arguments, place, width), count)
            total += conj(dtype(left)) * dtype(right)
    store_column_sums(room, partial, (total,), group(), width=width)


def body(arrays, scalars, partial, count, *, numbers, row, dtype, sums):
    """A pass of paper lines. Where the run has stopped it changes nothing; partial: shape (sums, groups)."""
    room = shared_array(dtype, (members() + strips()) * sums) if sums > 0 else ()
    given, found = numbers(scalars, ()), (dtype(0),) * sums
    rows = count if real(scalars[STOP]) == 0 else 0
    for i in items(rows, 0, rows):
        found = with_products(found, row(i, arrays, given))
    if sums > 0:
        store_sums(room, partial, found, group(), groups())


def block_pass(arrays, factors, matrices, stopped, partial, count, *, row, width, dtype, sums):
    """A pass of lines on block vectors. matrices: of one row; partial: shape (groups, sums, width)."""
    room = shared_array(dtype, members()) if sums > 0 else ()
    phases, place, phase = members() // width, member() % width, member() // width
    rows, numbers, found = count if stopped[0] == 0 else 0, (), (dtype(0),) * sums
    for matrix in matrices:
        numbers += (narrow(matrix[place]),)
    if phase < phases:
        for i in range(group() * phases + phase, rows, max(1, groups() * phases)):
            found = with_pairs(found, row(i, column(arrays, place, width), factors, numbers))
    if sums > 0:
        store_column_sums(room, partial, found, group(), width=width)


def finish(scalars, partial, count, *, lines, rows, slots, dtype):
    """One group: add partial sums, those of a row of `partial` into a slot of the scalars, then evaluate lines."""
    room = shared_array(dtype, members() * len(rows)) if len(rows) > 0 else ()
    if len(rows) > 0:
        add_rows(room, partial, count, rows=rows)
    if member() == 0 and real(scalars[STOP]) == 0:
        for k in unrolled(len(rows)):
            scalars[slots[k]] = room[k * members()]
        lines(scalars, ())


def with_pairs(sums, factors):
    """The sums and the products of both factors of each."""
    more = ()
    for k in unrolled(len(sums)):
        more += (sums[k] + factors[2 * k] * factors[2 * k + 1],)
    return more


def store_sums(room, partial, sums, place, count):
    """partial[k, group] = sum k over the work-items of the group `place` of `count`."""
    size, lanes = members(), strips()
    for k in unrolled(len(sums)):
        room[k * size + member()] = sums[k]
    barrier()
    strip = len(sums) * size
    for j in range(member(), len(sums) * lanes, members()):
        total = room.dtype.type(0)
        for m in range(j // lanes * size + j % lanes, (j // lanes + 1) * size, strips()):
            total += room[m]
        room[strip + j] = total
    barrier()
    for k in range(member(), len(sums), members()):
        total = room.dtype.type(0)
        for m in range(lanes):
            total += room[strip + k * lanes + m]
        partial[k * count + place] = total


def store_column_sums(room, partial, sums, place, *, width):
    """partial[group, k, column] = sum k of the column over the work-items of the group `place` that have it."""
    own = member() % width
    for k in unrolled(len(sums)):
        if k > 0:
            barrier()
        room[member()] = sums[k]
        barrier()
        if member() < width:
            total = sums[k]
            for m in range(1, members() // width):
                total += room[m * width + own]
            partial[(place * len(sums) + k) * width + own] = total


def add_together(room, sums):
    """room[k*members] = sum k over all work-items of the group."""
    size = members()
    for k in unrolled(len(sums)):
        room[k * size + member()] = sums[k]
    barrier()
    reach = size // 2
    while reach > 0:
        if member() < reach:
            for k in unrolled(len(sums)):
                room[k * size + member()] += room[k * size + member() + reach]
        barrier()
        reach = reach // 2


def add_rows(room, partial, count, *, rows):
    """Add the `count` partial sums in each of some rows; room[k*members] gets the sum of the k-th of them."""
    found = ()
    for row in rows:
        total = room.dtype.type(0)
        for i in range(member(), count, members()):
            total += partial[row * count + i]
        found += (total,)
    add_together(room, found)


def store_sum(room, total, into, place):
    """into[place] = the sum over all work-items of the group."""
    add_together(room, (total,))
    if member() == 0:
        into[place] = room[0]


def sum_of_sharers(room, total, *, sharing):
    """The sum over `sharing` neighbouring work-items, a power of two, which the first of them gets."""
    place, reach = member() % sharing, sharing // 2
    room[member()] = total
    barrier()
    while reach > 0:
        if place < reach:
            room[member()] += room[member() + reach]
        barrier()
        reach = reach // 2
    found = room[member()]
    barrier()
    return found
