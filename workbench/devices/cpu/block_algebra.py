"""Products of N x s block vectors with small matrices: Gram matrices X^H Y, and Z = B + X C.

Rows are contiguous, and are taken in tiles. Gram matrices are summed in double precision; B + X C is computed in the
precision of the block vectors.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator

import numpy as np

from workbench.devices.cpu import block_passes
from workbench.jit import generated
from workbench.jit.compiled import Kernel
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
CHUNKS = f"1 + target.size//{CHUNK}"
"""Chunks of rows of a result, as text of a kernel."""


def held(dtype: np.dtype, columns: int, clock: object) -> None:
    """Small matrices are in host memory."""


def gram(x: np.ndarray, y: np.ndarray, *, transposed: bool = False) -> Callable[[], np.ndarray]:
    """Computes X^H Y, or X^T Y, for X (N, s) and Y (N, t), shape (s, t). Reads (s + t) N words."""
    sums = _partial_sums(x, x.shape[1], y.shape[1])
    gram_of = _gram(x.shape[1], y.shape[1], sums.dtype, x.dtype.kind == "c" and not transposed)
    prepare(gram_of, x, y, sums)

    def run() -> np.ndarray:
        sums.fill(0)
        launch(x.size + y.size, gram_of, x, y, sums)
        return sums.sum(axis=0)

    return run


def column_dots(x: np.ndarray, y: np.ndarray, *, transposed: bool = False) -> Callable[[], np.ndarray]:
    """Computes x_j^H y_j, or x_j^T y_j, of corresponding columns, shape (s,). Reads 2 s N words."""
    s = x.shape[1]
    sums = _partial_sums(x, _at_once(s), s)
    dots = _dots(s, sums.dtype, x.dtype.kind == "c" and not transposed)
    prepare(dots, x, y, sums)

    def run() -> np.ndarray:
        sums.fill(0)
        launch(x.size, dots, x, y, sums)
        return sums.sum(axis=(0, 1))

    return run


def combine(
    target: np.ndarray, base: np.ndarray | None, factor: np.ndarray, shape: tuple[int, ...]
) -> Callable[[np.ndarray], None]:
    """Computes target = base + factor @ small for a small matrix of that shape, (s, t), or (s,) for a diagonal one.

    Without base for None. target may be base or factor. Each block vector is read or written once.
    """
    addend = target if base is None else base
    product = (_combined if len(shape) == 2 else _scaled)(*shape, factor.dtype, base is not None)
    if len(shape) == 1:
        # A number per column is a matrix of one row, here for each of the rows that are taken at once.
        shape = (_at_once(*shape), *shape)
    matrix = np.empty(shape, factor.dtype)
    prepare(product, target, addend, factor, matrix)

    def run(small: np.ndarray) -> None:
        matrix[:] = small
        launch(target.size, product, target, addend, factor, matrix)

    return run


fused, fuses = block_passes.compiled, block_passes.fuses


def _partial_sums(x: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """A zero matrix for each chunk of rows. Their number depends on the sizes alone, so that sums do too."""
    chunks = max(1, min(MOST_SUMS, x.size // CHUNK))
    return np.zeros((chunks, rows, columns), accumulator(x.dtype))


@functools.cache
def _gram(s: int, t: int, dtype: np.dtype, conjugate: bool) -> Kernel:
    """A few rows of the Gram matrix at a time, summed in registers over rows of X and Y that stay in the cache.

    Parts of one shape are a loop: written out, their number grows with s t, and with 64 columns LLVM took 40 s.
    """
    body = ["n, chunks, total = x.shape[0], sums.shape[0], sums[chunk]"]
    body += [f"for first in range(n*chunk//chunks, n*(chunk + 1)//chunks, {ROWS}):"]
    body += [f"    end = min(first + {ROWS}, n*(chunk + 1)//chunks)"]
    for columns, width in _alike(widths(t, dtype)):
        for rows, height in _evenly(s, max(1, NUMBERS // width)):
            body += [f"    for q in {columns}:", f"        for p in {rows}:"]
            body += [f"            {line}" for line in _some_of_gram(height, width, conjugate)]
    text = ["def kernel(taken, x, y, sums):", *(f"    {line}" for line in generated.over("sums.shape[0]", body))]
    return generated.kernel("\n".join(text) + "\n")


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


def _some_of_gram(rows: int, width: int, conjugate: bool) -> list[str]:
    """A part of the Gram matrix: `rows` rows from row p on, of columns q, .., q + width - 1.

    Few sums are split, which hides the latency of additions.
    """
    split = max(1, FEWEST // (rows * width))
    names = [(r, k, f"t{r}_{k}_{width}") for r in range(rows) for k in range(split)]
    lines = [f"{name} = zeros(total, {width})" for _, _, name in names]

    def of_row(k: int) -> list[str]:
        entry = f"x[i + {k}, p + {{}}]"
        entry = f"np.conj({entry})" if conjugate else entry
        added = [f"{name} = add_scaled({name}, {entry.format(r)}, row_{width})" for r, of, name in names if of == k]
        return [f"    row_{width} = widened(take(y, i + {k}, q, {width}))", *(f"    {line}" for line in added)]

    lines += [f"even = first + (end - first)//{split}*{split}", f"for i in range(first, even, {split}):"]
    lines += [line for k in range(split) for line in of_row(k)]
    lines += ["for i in range(even, end):", *of_row(0)] if split > 1 else []
    return lines + [
        f"put(total, p + {r}, q, add_scaled(take(total, p + {r}, q, {width}), 1, {name}))" for r, _, name in names
    ]


@functools.cache
def _combined(s: int, t: int, dtype: np.dtype, based: bool) -> Kernel:
    """Some rows of the result at a time; target may be factor, so their sums stay in registers to the end."""
    tiles = widths(t, dtype)
    most = max(1, NUMBERS // t)
    body = [f"n, chunks = target.shape[0], {CHUNKS}", "first, end = n*chunk//chunks, n*(chunk + 1)//chunks"]
    body += [f"even = first + (end - first)//{most}*{most}"]
    for over, rows in ((f"for i in range(first, even, {most}):", most), ("for i in range(even, end):", 1)):
        sums = [(r, q, width, f"t{r}_{q}") for r in range(rows) for q, width in tiles]
        body += [over]
        for r, q, width, name in sums:
            body += [f"    {name} = " + (f"take(base, i + {r}, {q}, {width})" if based else f"zeros(target, {width})")]
        body += [f"    for k in range({s}):"]
        body += [f"        s{q} = take(small, k, {q}, {width})" for q, width in tiles]
        body += [f"        {name} = add_scaled({name}, factor[i + {r}, k], s{q})" for r, q, _, name in sums]
        body += [f"    put(target, i + {r}, {q}, {name})" for r, q, _, name in sums]
    text = ["def kernel(taken, target, base, factor, small):"]
    text += [f"    {line}" for line in generated.over(CHUNKS, body)]
    return generated.kernel("\n".join(text) + "\n")


def _at_once(columns: int) -> int:
    """Rows of block vectors with few columns that are taken at once, as one long row: they lie one after another."""
    return max(1, FEWEST // columns)


@functools.cache
def _dots(s: int, dtype: np.dtype, conjugate: bool) -> Kernel:
    """Sums of the products of each column; sums[chunk] has a row for each row that is taken at once."""
    rows = _at_once(s)
    tiles = widths(rows * s, dtype)
    body = ["n, chunks, total = x.shape[0], sums.shape[0], sums[chunk]"]
    body += ["first, end = n*chunk//chunks, n*(chunk + 1)//chunks", f"even = first + (end - first)//{rows}*{rows}"]
    body += [f"total_{q} = zeros(total, {width})" for q, width in tiles]
    body += [f"for i in range(first, even, {rows}):"]
    body += [f"    total_{q} = {_products(q, width, conjugate, f'total_{q}')}" for q, width in tiles]
    body += [f"put(total, 0, {q}, total_{q})" for q, _ in tiles]
    if rows > 1:
        added = [(q, _products(q, width, conjugate, f"take(total, 0, {q}, {width})")) for q, width in widths(s, dtype)]
        body += ["for i in range(even, end):", *(f"    put(total, 0, {q}, {products})" for q, products in added)]
    text = ["def kernel(taken, x, y, sums):", *(f"    {line}" for line in generated.over("sums.shape[0]", body))]
    return generated.kernel("\n".join(text) + "\n")


def _products(q: int, width: int, conjugate: bool, total: str) -> str:
    """total plus the products of the entries of X and Y, of a tile in row i."""
    left, right = (f"widened(take({name}, i, {q}, {width}))" for name in "xy")
    return f"add_products({total}, {f'conjugated({left})' if conjugate else left}, {right})"


@functools.cache
def _scaled(s: int, dtype: np.dtype, based: bool) -> Kernel:
    """base + factor times a number per column. row: the numbers, for each of the rows that are taken at once."""
    rows = _at_once(s)
    tiles = widths(rows * s, dtype)
    body = [f"n, chunks = target.shape[0], {CHUNKS}", "first, end = n*chunk//chunks, n*(chunk + 1)//chunks"]
    body += [f"even = first + (end - first)//{rows}*{rows}"]
    body += [f"s{q} = take(row, 0, {q}, {width})" for q, width in tiles]

    def stored(q: int, width: int, numbers: str) -> str:
        start = f"take(base, i, {q}, {width})" if based else f"zeros(target, {width})"
        return f"    put(target, i, {q}, add_products({start}, take(factor, i, {q}, {width}), {numbers}))"

    body += [f"for i in range(first, even, {rows}):", *(stored(q, width, f"s{q}") for q, width in tiles)]
    if rows > 1:
        alone = [stored(q, width, f"take(row, 0, {q}, {width})") for q, width in widths(s, dtype)]
        body += ["for i in range(even, end):", *alone]
    text = ["def kernel(taken, target, base, factor, row):", *(f"    {line}" for line in generated.over(CHUNKS, body))]
    return generated.kernel("\n".join(text) + "\n")
