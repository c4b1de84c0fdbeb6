"""Loops over some rows of a kernel of rows: rows near both ends apart, sums of what rows return, tiles of columns.

`arguments` are those of the kernel behind the row, with () for what it does not use. Of the constants `edge` computes
any row and `inner` one that has all its neighbours; halo: whether `reach` says how many rows at either end have not.
"""

from __future__ import annotations

from workbench.compiler.words import columns, unrolled
from workbench.jit.dot_sums import with_row


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
