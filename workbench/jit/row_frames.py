"""Kernels of the cores that compute all rows of a kernel of rows, which is among their constants (see `rows`).

A chunk has the rows from begins[chunk] to before begins[chunk + 1].
"""

from __future__ import annotations

from workbench.compiler.words import shared, threads, unrolled
from workbench.jit.compiled import REORDERED, kernel
from workbench.jit.dot_sums import total
from workbench.jit.rows import rows_between, sums_between


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
