"""Kernels of the cores for passes of paper lines, whose functions are among the constants."""

from __future__ import annotations

from workbench.compiler.words import add_products, columns, put, shared, take, threads, unrolled, zeros
from workbench.jit.compiled import REORDERED, kernel
from workbench.jit.dot_sums import total


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
