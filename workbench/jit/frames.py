"""Kernels of the cores around functions that are among their constants: loops over the rows of a kernel of rows, and
passes of paper lines.

`arguments` are those of the kernel behind the row, with () for what it does not use. Of the constants `edge` computes
any row and `inner` one that has all its neighbours; halo: whether `reach` says how many rows at either end have not. A
chunk has the rows from begins[chunk] to before begins[chunk + 1].
"""

from __future__ import annotations

from workbench.compiler.words import add_products, columns, put, shared, take, threads, unrolled, zeros
from workbench.jit.compiled import REORDERED, kernel
from workbench.jit.dot_sums import total, with_row


def rows_between(low, high, rows, arguments, *, inner, edge, reach, halo, tiles):
    """Compute some rows. tiles: first column and width of those that cover the rows of block vectors; else empty."""
    if halo:
        first = min(rows, reach(0, *arguments))
        end = max(first, rows - first)
        for row in range(max(low, first), min(high, end)):
            in_tiles(row, arguments, (), of=inner, tiles=tiles)
        # One text for both ends, which takes less time to compile than two.
        for side in range(2):
            start = low if side == 0 else max(low, end)
            for row in range(start, min(high, first) if side == 0 else high):
                in_tiles(row, arguments, (rows,), of=edge, tiles=tiles)
    else:
        for row in range(low, high):
            in_tiles(row, arguments, (rows,), of=edge, tiles=tiles)


def sums_between(low, high, rows, arguments, *, inner, edge, reach, halo, dots, dtype, count):
    """Compute some rows; the sums of what they return, or of two vectors three dot products."""
    sums = (dtype(0),) * count
    if halo:
        first = min(rows, reach(0, *arguments))
        end = max(first, rows - first)
        for row in range(max(low, first), min(high, end)):
            sums = with_terms(sums, inner(row, *arguments), dots=dots, dtype=dtype)
        for side in range(2):
            start = low if side == 0 else max(low, end)
            for row in range(start, min(high, first) if side == 0 else high):
                sums = with_terms(sums, edge(row, *arguments, rows), dots=dots, dtype=dtype)
    else:
        for row in range(low, high):
            sums = with_terms(sums, edge(row, *arguments, rows), dots=dots, dtype=dtype)
    return sums


def in_tiles(row, arguments, more, *, of, tiles):
    """Compute one row; of block vectors its tiles."""
    if len(tiles) > 0:
        for column, width in tiles:
            of(row, *columns(arguments, column, width), *more)
    else:
        of(row, *arguments, *more)


def with_terms(sums, terms, *, dots, dtype):
    """The sums and the terms of a row; of dot products their pairs."""
    if dots:
        return with_row(sums, terms[0], terms[1], dtype=dtype)
    more = ()
    for k in unrolled(len(sums)):
        more += (sums[k] + dtype(terms[k]),)
    return more


@kernel(*REORDERED)
def each_row(taken, arguments, begins, *, inner, edge, reach, halo, tiles):
    """Compute all rows. inner, edge, reach, halo, tiles: see `rows_between`."""
    for thread in threads(taken):
        for chunk in shared(taken, thread, begins.size - 1):
            low, high, rows = begins[chunk], begins[chunk + 1], begins[begins.size - 1]
            rows_between(low, high, rows, arguments, inner=inner, edge=edge, reach=reach, halo=halo, tiles=tiles)


@kernel(*REORDERED)
def summed_rows(taken, arguments, begins, partial, sums, *, inner, edge, reach, halo, dots, dtype, count):
    """Compute all rows, and the sums of what they return, or the dot products; partial: shape (chunks, sums).

    inner, edge, reach, halo, dots, dtype, count: see `sums_between`.
    """
    for thread in threads(taken):
        for chunk in shared(taken, thread, begins.size - 1):
            of = begins[chunk], begins[chunk + 1], begins[begins.size - 1], arguments
            found = sums_between(
                *of, inner=inner, edge=edge, reach=reach, halo=halo, dots=dots, dtype=dtype, count=count
            )
            for k in unrolled(count):
                partial[chunk, k] = found[k]
    total(partial, sums)


@kernel(*REORDERED)
def one_pass(taken, arrays, scalars, slots, begins, partial, sums, *, before, numbers, row, after, dtype, count):
    """Compute all rows of a pass and its dot products, `count` of them.

    before, after: evaluate the scalar lines around it. numbers: reads what a row needs of the scalars. row: computes a
    row and returns the factors of its products. begins: the first row of each chunk, and their number. partial: shape
    (chunks, count).
    """
    before(scalars, slots)
    for thread in threads(taken):
        for chunk in shared(taken, thread, begins.size - 1):
            given = numbers(scalars, slots)
            found = (dtype(0),) * count
            for i in range(begins[chunk], begins[chunk + 1]):
                found = with_products(found, row(i, arrays, given))
            for k in unrolled(count):
                partial[chunk, k] = found[k]
    if count > 0:
        total(partial, sums)
    after(scalars, slots, sums)


@kernel(*REORDERED)
def block_pass(taken, arrays, factors, numbers, begins, partial, sums, *, row, tiles, count, rows, all_columns):
    """Compute all rows of a pass of block vectors, which are in tiles, and the dot products of their columns.

    tiles: place among the tiles, first column and width of each. rows: of `numbers`, a small matrix of one row each.
    partial: shape (chunks, count*columns).
    """
    for thread in threads(taken):
        for chunk in shared(taken, thread, begins.size - 1):
            found, given = (), ()
            for _, column, width in tiles:
                if count > 0:
                    found += (zeros(partial, width),) * count
                for k in unrolled(rows):
                    given += (take(numbers, k, column, width),)
            for i in range(begins[chunk], begins[chunk + 1]):
                for place, column, width in tiles:
                    of = i, arrays, factors, given, found
                    found = _with_tile(*of, row=row, place=place, column=column, width=width, count=count, rows=rows)
            for place, column, _ in tiles:
                for k in unrolled(count):
                    put(partial, chunk, k * all_columns + column, found[place * count + k])
    if count > 0:
        total(partial, sums)


def with_products(found, terms):
    """The sums and the terms of a row."""
    more = ()
    for k in unrolled(len(found)):
        more += (found[k] + terms[k],)
    return more


def _with_tile(i, arrays, factors, given, found, *, row, place, column, width, count, rows):
    """The sums with the terms of one tile of a row."""
    numbers, sums = (), [*found]
    for k in unrolled(rows):
        numbers += (given[place * rows + k],)
    terms = row(i, columns(arrays, column, width), factors, numbers)
    for k in unrolled(count):
        sums[place * count + k] = add_products(sums[place * count + k], terms[2 * k], terms[2 * k + 1])
    return sums
