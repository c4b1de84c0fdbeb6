"""Products of N x s block vectors with small matrices: Gram matrices X^H Y, and Z = B + X C.

Rows are contiguous, and are taken in tiles. Gram matrices are summed in double precision; B + X C is computed in the
precision of the block vectors.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from workbench.devices.cpu import generated
from workbench.devices.cpu.compiled import Kernel
from workbench.devices.cpu.threads import CHUNK, launch, prepare
from workbench.devices.cpu.tiles import widths
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


def gram(x: np.ndarray, y: np.ndarray, *, transposed: bool = False) -> Callable[[], np.ndarray]:
    """Computes X^H Y, or X^T Y, for X (N, s) and Y (N, t), shape (s, t). Reads (s + t) N words."""
    sums = _partial_sums(x, x.shape[1], y.shape[1])
    gram_of = _gram(x.shape[1], y.shape[1], x.dtype.kind == "c" and not transposed)
    prepare(gram_of, x, y, sums)

    def run() -> np.ndarray:
        sums.fill(0)
        launch(x.size + y.size, gram_of, x, y, sums)
        return sums.sum(axis=0)

    return run


def column_dots(x: np.ndarray, y: np.ndarray, *, transposed: bool = False) -> Callable[[], np.ndarray]:
    """Computes x_j^H y_j, or x_j^T y_j, of corresponding columns, shape (s,). Reads 2 s N words."""
    sums = _partial_sums(x, 1, x.shape[1])
    dots = _dots(x.shape[1], x.dtype.kind == "c" and not transposed)
    prepare(dots, x, y, sums)

    def run() -> np.ndarray:
        sums.fill(0)
        launch(x.size, dots, x, y, sums)
        return sums.sum(axis=0)[0]

    return run


def combine(
    target: np.ndarray, base: np.ndarray | None, factor: np.ndarray, shape: tuple[int, ...]
) -> Callable[[np.ndarray], None]:
    """Computes target = base + factor @ small for a small matrix of that shape, (s, t), or (s,) for a diagonal one.

    Without base for None. target may be base or factor. Each block vector is read or written once.
    """
    addend = target if base is None else base
    product = _combined(*shape, base is not None) if len(shape) == 2 else _scaled(*shape, base is not None)
    # A number per column is a matrix of one row.
    shape = shape if len(shape) == 2 else (1, *shape)
    prepare(product, target, addend, factor, np.empty(shape, factor.dtype))

    def run(small: np.ndarray) -> None:
        launch(target.size, product, target, addend, factor, np.ascontiguousarray(small, factor.dtype).reshape(shape))

    return run


def _partial_sums(x: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """A zero matrix for each chunk of rows. Their number depends on the sizes alone, so that sums do too."""
    chunks = max(1, min(MOST_SUMS, x.size // CHUNK))
    return np.zeros((chunks, rows, columns), accumulator(x.dtype))


@functools.cache
def _gram(s: int, t: int, conjugate: bool) -> Kernel:
    """A few rows of the Gram matrix at a time, summed in registers over rows of X and Y that stay in the cache."""
    body = ["n, chunks, total = x.shape[0], sums.shape[0], sums[chunk]"]
    body += [f"for first in range(n*chunk//chunks, n*(chunk + 1)//chunks, {ROWS}):"]
    body += [f"    end = min(first + {ROWS}, n*(chunk + 1)//chunks)"]
    for q, width in widths(t):
        for begin, count in widths(s, max(1, NUMBERS // width)):
            body += [f"    {line}" for line in _some_of_gram(range(begin, begin + count), q, width, conjugate)]
    text = ["def kernel(taken, x, y, sums):", *(f"    {line}" for line in generated.over("sums.shape[0]", body))]
    return generated.kernel("\n".join(text) + "\n")


def _some_of_gram(rows: range, q: int, width: int, conjugate: bool) -> list[str]:
    """Columns q, .., q + width - 1 of these rows. Few sums are split, which hides the latency of additions."""
    split = max(1, FEWEST // (len(rows) * width))
    names = [(p, k, f"t{p}_{k}") for p in rows for k in range(split)]
    lines = [f"{name} = zeros(total, {width})" for _, _, name in names]

    def of_row(k: int) -> list[str]:
        entry = f"x[i + {k}, {{}}]"
        entry = f"np.conj({entry})" if conjugate else entry
        added = [f"{name} = add_scaled({name}, {entry.format(p)}, row)" for p, of, name in names if of == k]
        return [f"    row = widened(take(y, i + {k}, {q}, {width}))", *(f"    {line}" for line in added)]

    lines += [f"even = first + (end - first)//{split}*{split}", f"for i in range(first, even, {split}):"]
    lines += [line for k in range(split) for line in of_row(k)]
    lines += ["for i in range(even, end):", *of_row(0)]
    return lines + [
        f"put(total, {p}, {q}, add_scaled(take(total, {p}, {q}, {width}), 1, {name}))" for p, _, name in names
    ]


@functools.cache
def _combined(s: int, t: int, based: bool) -> Kernel:
    """Some rows of the result at a time; target may be factor, so their sums stay in registers to the end."""
    tiles = widths(t)
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


@functools.cache
def _dots(s: int, conjugate: bool) -> Kernel:
    body = ["n, chunks, total = x.shape[0], sums.shape[0], sums[chunk]"]
    body += ["first, end = n*chunk//chunks, n*(chunk + 1)//chunks"]
    for q, width in widths(s):
        split = max(1, FEWEST // width)
        left = f"widened(take(x, i + {{0}}, {q}, {width}))"
        left = f"conjugated({left})" if conjugate else left
        added = f"t{{0}} = add_products(t{{0}}, {left}, widened(take(y, i + {{0}}, {q}, {width})))"
        body += [f"t{k} = zeros(total, {width})" for k in range(split)]
        body += [f"even = first + (end - first)//{split}*{split}", f"for i in range(first, even, {split}):"]
        body += [f"    {added.format(k)}" for k in range(split)]
        body += ["for i in range(even, end):", f"    {added.format(0)}"]
        body += [f"put(total, 0, {q}, add_scaled(take(total, 0, {q}, {width}), 1, t{k}))" for k in range(split)]
    text = ["def kernel(taken, x, y, sums):", *(f"    {line}" for line in generated.over("sums.shape[0]", body))]
    return generated.kernel("\n".join(text) + "\n")


@functools.cache
def _scaled(s: int, based: bool) -> Kernel:
    """base + factor times a number per column. row: shape (1, s)."""
    body = [f"n, chunks = target.shape[0], {CHUNKS}"]
    body += [f"s{q} = take(row, 0, {q}, {width})" for q, width in widths(s)]
    body += ["for i in range(n*chunk//chunks, n*(chunk + 1)//chunks):"]
    for q, width in widths(s):
        start = f"take(base, i, {q}, {width})" if based else f"zeros(target, {width})"
        body += [f"    put(target, i, {q}, add_products({start}, take(factor, i, {q}, {width}), s{q}))"]
    text = ["def kernel(taken, target, base, factor, row):", *(f"    {line}" for line in generated.over(CHUNKS, body))]
    return generated.kernel("\n".join(text) + "\n")
