"""Products of N x s block vectors with small matrices: Gram matrices X^H Y, and Z = B + X C.

Rows are contiguous, and are taken in tiles. Gram matrices are summed in double precision; B + X C is computed in the
precision of the block vectors.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import numpy as np

from workbench.compiler.words import (
    add_products,
    add_scaled,
    conjugated,
    put,
    shared,
    take,
    threads,
    unrolled,
    widened,
    zeros,
)
from workbench.devices.cpu import block_vectors
from workbench.jit.compiled import REORDERED, Kernel, kernel
from workbench.jit.threads import CHUNK, launch, prepare
from workbench.jit.tiles import widths
from workbench.lines.types import accumulator

NUMBERS = 64
"""Numbers that are summed at once, in registers."""
FEWEST = 16
"""Numbers below which sums are split."""
ROWS = 128
"""Rows of block vectors that stay in the cache."""
MOST_SUMS = 64
"""Most partial Gram matrices."""
Tiles = tuple[tuple[int, int, int], ...]
"""Number, first column and width of the tiles that cover a row."""


def device_matrices(dtype: np.dtype, columns: int, clock: object) -> None:
    """Small matrices are in host memory."""


def gram(x: np.ndarray, y: np.ndarray, *, transposed: bool = False) -> Callable[[], np.ndarray]:
    """Computes X^H Y, or X^T Y, for X (N, s) and Y (N, t), shape (s, t). Reads (s + t) N words."""
    sums = _partial_sums(x, x.shape[1], y.shape[1])
    parts = tuple(_parts(x.shape[1], y.shape[1], sums.dtype))
    gram_of = _gram.of(parts=parts, conjugate=x.dtype.kind == "c" and not transposed)
    prepare(gram_of, x, y, sums)

    def run() -> np.ndarray:
        sums.fill(0)
        launch(x.size + y.size, gram_of, x, y, sums)
        return _added(sums, 0)

    return run


def column_dots(x: np.ndarray, y: np.ndarray, *, transposed: bool = False) -> Callable[[], np.ndarray]:
    """Computes x_j^H y_j, or x_j^T y_j, of corresponding columns, shape (s,). Reads 2 s N words."""
    s = x.shape[1]
    sums = _partial_sums(x, _at_once(s), s)
    dots = _dots.of(conjugate=x.dtype.kind == "c" and not transposed, **_rows_at_once(s, sums.dtype))
    prepare(dots, x, y, sums)

    def run() -> np.ndarray:
        sums.fill(0)
        launch(x.size, dots, x, y, sums)
        return _added(sums, (0, 1))

    return run


def combine(
    target: np.ndarray, base: np.ndarray | None, factor: np.ndarray, shape: tuple[int, ...]
) -> Callable[[np.ndarray], None]:
    """Computes target = base + factor @ small for a small matrix of that shape, (s, t), or (s,) for a diagonal one.

    Without base for None. target may be base or factor. Each block vector is read or written once.
    """
    addend = target if base is None else base
    product = _product(shape, factor.dtype, based=base is not None)
    if len(shape) == 1:
        # A number per column is a matrix of one row, here for each of the rows that are taken at once.
        shape = (_at_once(*shape), *shape)
    matrix = np.empty(shape, factor.dtype)
    prepare(product, target, addend, factor, matrix)

    def run(small: np.ndarray) -> None:
        matrix[:] = small
        launch(target.size, product, target, addend, factor, matrix)

    return run


fused, fuses = block_vectors.compiled, block_vectors.fuses


def _partial_sums(x: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """A zero matrix for each chunk of rows. Their number depends on the sizes alone, so that sums do too."""
    chunks = max(1, min(MOST_SUMS, x.size // CHUNK))
    return np.zeros((chunks, rows, columns), accumulator(x.dtype))


def _added(sums: np.ndarray, axes: int | tuple[int, int]) -> np.ndarray:
    """The sums of chunks added up; what overflows is infinite, which the host reads."""
    with np.errstate(over="ignore", invalid="ignore"):
        return sums.sum(axis=axes)


def _product(shape: tuple[int, ...], dtype: np.dtype, *, based: bool) -> Kernel:
    """The kernel of target = base + factor @ small for a small matrix of that shape."""
    if len(shape) == 1:
        return _scaled.of(based=based, **_rows_at_once(*shape, dtype))
    s, t = shape
    return _combined.of(based=based, columns=s, rows=max(1, NUMBERS // t), tiles=_tiles(t, dtype))


def _at_once(columns: int) -> int:
    """Rows of block vectors with few columns that are taken at once, as one long row: they lie one after another."""
    return max(1, FEWEST // columns)


def _rows_at_once(columns: int, dtype: np.dtype) -> dict[str, int | Tiles]:
    """Constants of a kernel that takes several rows at once: their number, their tiles, and the tiles of one row."""
    rows = _at_once(columns)
    return {"rows": rows, "tiles": _tiles(rows * columns, dtype), "of_row": _tiles(columns, dtype)}


def _tiles(columns: int, dtype: np.dtype) -> Tiles:
    return tuple((k, first, width) for k, (first, width) in enumerate(widths(columns, dtype)))


def _parts(s: int, t: int, dtype: np.dtype) -> Iterator[tuple[int, ...]]:
    """Parts of a Gram matrix: first and end of columns, their tiles' width, first and end of rows, their number, and
    the parts in which each sum is kept: they hide the latency of additions where these are few.

    Parts of one shape are a loop of the kernel: written out, their number grows with s t, and with 64 columns LLVM took
    40 s.
    """
    for columns, width in _alike(widths(t, dtype)):
        for rows, height in _evenly(s, max(1, NUMBERS // width)):
            yield columns.start, columns.stop, width, rows.start, rows.stop, height, max(1, FEWEST // (height * width))


def _alike(tiles: list[tuple[int, int]]) -> Iterator[tuple[range, int]]:
    """First columns of tiles of one width, and that width."""
    for width, group in itertools.groupby(tiles, key=lambda tile: tile[1]):
        firsts = [first for first, _ in group]
        yield range(firsts[0], firsts[-1] + width, width), width


def _evenly(count: int, most: int) -> Iterator[tuple[range, int]]:
    """First numbers of parts of 0 .. count - 1 of one length, and that length; two at most, nearly equal, none longer
    than `most`."""
    parts = -(-count // most)
    length, longer = divmod(count, parts)
    first = longer * (length + 1)
    if longer:
        yield range(0, first, length + 1), length + 1
    yield range(first, count, length), length


@kernel(*REORDERED)
def _gram(taken, x, y, sums, *, parts, conjugate):  # pragma: no cover
    """A few rows of the Gram matrix at a time, summed in registers over rows of X and Y that stay in the cache."""
    n, chunks = x.shape[0], sums.shape[0]
    for thread in threads(taken):
        for chunk in shared(taken, thread, chunks):
            last = n * (chunk + 1) // chunks
            for first in range(n * chunk // chunks, last, ROWS):
                end = min(first + ROWS, last)
                for column, columns, width, row, rows, height, split in parts:
                    for q in range(column, columns, width):
                        for p in range(row, rows, height):
                            _some_of_gram(
                                *(x, y, sums[chunk], first, end, p, q),
                                height=height,
                                width=width,
                                split=split,
                                conjugate=conjugate,
                            )


def _some_of_gram(x, y, total, first, end, p, q, *, height, width, split, conjugate):  # pragma: no cover
    """`height` rows from row p on, of columns q, .., q + width - 1, each of whose sums is split."""
    sums = [zeros(total, width)] * (height * split)
    even = first + (end - first) // split * split
    for i in range(first, even, split):
        for k in unrolled(split):
            tile = widened(take(y, i + k, q, width))
            for r in unrolled(height):
                factor = np.conj(x[i + k, p + r]) if conjugate else x[i + k, p + r]
                sums[r * split + k] = add_scaled(sums[r * split + k], factor, tile)
    if split > 1:
        for i in range(even, end):
            tile = widened(take(y, i, q, width))
            for r in unrolled(height):
                factor = np.conj(x[i, p + r]) if conjugate else x[i, p + r]
                sums[r * split] = add_scaled(sums[r * split], factor, tile)
    for r in unrolled(height):
        for k in unrolled(split):
            put(total, p + r, q, add_scaled(take(total, p + r, q, width), 1, sums[r * split + k]))


@kernel(*REORDERED)
def _combined(taken, target, base, factor, small, *, based, columns, rows, tiles):  # pragma: no cover
    n, chunks = target.shape[0], 1 + target.size // CHUNK
    for thread in threads(taken):
        for chunk in shared(taken, thread, chunks):
            first, end = n * chunk // chunks, n * (chunk + 1) // chunks
            even = first + (end - first) // rows * rows
            for i in range(first, even, rows):
                _some_rows(target, base, factor, small, i, based=based, columns=columns, rows=rows, tiles=tiles)
            for i in range(even, end):
                _some_rows(target, base, factor, small, i, based=based, columns=columns, rows=1, tiles=tiles)


def _some_rows(target, base, factor, small, i, *, based, columns, rows, tiles):  # pragma: no cover
    """Rows of the result. Target may be factor, so their sums stay in registers to the end."""
    sums = []
    for r in unrolled(rows):
        for _, q, width in tiles:
            sums += [take(base, i + r, q, width) if based else zeros(target, width)]
    for k in range(columns):
        for r in unrolled(rows):
            for m, q, width in tiles:
                sums[r * len(tiles) + m] = add_scaled(
                    sums[r * len(tiles) + m], factor[i + r, k], take(small, k, q, width)
                )
    for r in unrolled(rows):
        for m, q, _ in tiles:
            put(target, i + r, q, sums[r * len(tiles) + m])


@kernel(*REORDERED)
def _dots(taken, x, y, sums, *, rows, tiles, of_row, conjugate):  # pragma: no cover
    """Sums of the products of each column; sums[chunk] has a row for each row that is taken at once."""
    n, chunks = x.shape[0], sums.shape[0]
    for thread in threads(taken):
        for chunk in shared(taken, thread, chunks):
            total, first, end = sums[chunk], n * chunk // chunks, n * (chunk + 1) // chunks
            even = first + (end - first) // rows * rows
            parts = []
            for _, _, width in tiles:
                parts += [zeros(total, width)]
            for i in range(first, even, rows):
                for m, q, width in tiles:
                    parts[m] = _products(parts[m], x, y, i, q, width=width, conjugate=conjugate)
            for m, q, _ in tiles:
                put(total, 0, q, parts[m])
            if rows > 1:
                for i in range(even, end):
                    for _, q, width in of_row:
                        _add_products(total, x, y, i, q, width=width, conjugate=conjugate)


def _add_products(total, x, y, i, q, *, width, conjugate):  # pragma: no cover
    put(total, 0, q, _products(take(total, 0, q, width), x, y, i, q, width=width, conjugate=conjugate))


def _products(total, x, y, i, q, *, width, conjugate):  # pragma: no cover
    """total plus the products of the entries of X and Y, of a tile in row i."""
    left = widened(take(x, i, q, width))
    return add_products(total, conjugated(left) if conjugate else left, widened(take(y, i, q, width)))


@kernel(*REORDERED)
def _scaled(taken, target, base, factor, row, *, based, rows, tiles, of_row):  # pragma: no cover
    """base + factor times a number per column. row: the numbers, for each of the rows that are taken at once."""
    n, chunks = target.shape[0], 1 + target.size // CHUNK
    for thread in threads(taken):
        for chunk in shared(taken, thread, chunks):
            first, end = n * chunk // chunks, n * (chunk + 1) // chunks
            even = first + (end - first) // rows * rows
            numbers = []
            for _, q, width in tiles:
                numbers += [take(row, 0, q, width)]
            for i in range(first, even, rows):
                for m, q, width in tiles:
                    _scale(target, base, factor, numbers[m], i, q, based=based, width=width)
            if rows > 1:
                for i in range(even, end):
                    for _, q, width in of_row:
                        _scale(target, base, factor, take(row, 0, q, width), i, q, based=based, width=width)


def _scale(target, base, factor, numbers, i, q, *, based, width):  # pragma: no cover
    start = take(base, i, q, width) if based else zeros(target, width)
    put(target, i, q, add_products(start, take(factor, i, q, width), numbers))
