"""Products of N x s block vectors with small matrices: Gram matrices X^H Y, and Z = B + X C.

A strip of rows stays in a core's first caches, and is processed in tiles of the result that stay in registers. Gram
matrices are summed in double precision; B + X C is computed in the precision of the block vectors.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator

import numpy as np

from workbench.devices.cpu import generated
from workbench.devices.cpu.compiled import REORDERED, Kernel, kernel
from workbench.devices.cpu.threads import CHUNK, cores, launch, prepare
from workbench.devices.cpu.work_stealing import shared, threads
from workbench.lines.types import accumulator

STRIP = 64
"""Rows of a strip: of 64 columns in double precision, 32 KiB of each block vector."""
TILE = (4, 8)
"""Rows and columns of a tile: 32 sums, as many as the vector registers of today's processors hold."""
MOST_SUMS = 64
"""Most partial Gram matrices."""


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
    dots = _column_products if transposed else _column_dots
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
    given = target if base is None else base
    if len(shape) == 2:
        product, arrays = _combined(*shape, base is not None), [np.empty((cores(), STRIP, shape[1]), target.dtype)]
    else:
        product, arrays = _scaled if base is None else _added, []
    prepare(product, target, given, factor, np.empty(shape, factor.dtype), *arrays)

    def run(small: np.ndarray) -> None:
        launch(target.size, product, target, given, factor, np.ascontiguousarray(small, factor.dtype), *arrays)

    return run


def _partial_sums(x: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """A zero matrix for each chunk of rows. Their number depends on the sizes alone, so that sums do too."""
    chunks = max(1, min(MOST_SUMS, x.size // CHUNK))
    return np.zeros((chunks, rows, columns), accumulator(x.dtype))


@functools.cache
def _gram(s: int, t: int, conjugate: bool) -> Kernel:
    body = ["n, chunks = x.shape[0], sums.shape[0]"]
    body += [f"for low in range(n*chunk//chunks, n*(chunk + 1)//chunks, {STRIP}):"]
    body += [f"    high = min(low + {STRIP}, n*(chunk + 1)//chunks)"]
    for over_rows, rows in _spans("a", s, TILE[0]):
        for over_columns, columns in _spans("c", t, TILE[1]):
            body += [f"    {over_rows}", f"        {over_columns}"]
            body += [f"            {line}" for line in _gram_tile(rows, columns, conjugate)]
    text = ["def kernel(taken, x, y, sums):", *(f"    {line}" for line in generated.over("sums.shape[0]", body))]
    return generated.kernel("\n".join(text) + "\n")


def _gram_tile(rows: int, columns: int, conjugate: bool) -> Iterator[str]:
    """Add a strip to the tile of the Gram matrix at row a and column c."""
    tile = [(p, q) for p in range(rows) for q in range(columns)]
    for p, q in tile:
        yield f"g{p}_{q} = sums[chunk, a + {p}, c + {q}]"
    yield "for i in range(low, high):"
    for p in range(rows):
        yield f"    x{p} = " + (f"np.conj(x[i, a + {p}])" if conjugate else f"x[i, a + {p}]")
    for q in range(columns):
        yield f"    y{q} = sums.dtype.type(y[i, c + {q}])"
    for p, q in tile:
        yield f"    g{p}_{q} += x{p}*y{q}"
    for p, q in tile:
        yield f"sums[chunk, a + {p}, c + {q}] = g{p}_{q}"


@functools.cache
def _combined(s: int, t: int, based: bool) -> Kernel:
    """The strip is computed in `room` first, because target may be factor."""
    body = [f"low, high = chunk*{STRIP}, min(chunk*{STRIP} + {STRIP}, target.shape[0])"]
    for over_rows, rows in (
        ("for a in range(low, high - 3, 4):", 4),
        ("for a in range(high - (high - low)%4, high):", 1),
    ):
        for over_columns, columns in _spans("c", t, TILE[1]):
            body += [over_rows, f"    {over_columns}"]
            body += [f"        {line}" for line in _product_tile(rows, columns, s, based)]
    body += [
        "for i in range(low, high):",
        f"    for k in range({t}):",
        "        target[i, k] = room[thread, i - low, k]",
    ]
    strips = f"(target.shape[0] + {STRIP - 1})//{STRIP}"
    text = ["def kernel(taken, target, base, factor, small, room):"]
    text += [f"    {line}" for line in generated.over(strips, body)]
    return generated.kernel("\n".join(text) + "\n")


def _product_tile(rows: int, columns: int, s: int, based: bool) -> Iterator[str]:
    """The tile of base + factor @ small at row a and column c."""
    tile = [(p, q) for p in range(rows) for q in range(columns)]
    for p, q in tile:
        yield f"z{p}_{q} = " + (f"base[a + {p}, c + {q}]" if based else "small.dtype.type(0)")
    yield f"for k in range({s}):"
    for q in range(columns):
        yield f"    m{q} = small[k, c + {q}]"
    for p in range(rows):
        yield f"    f{p} = factor[a + {p}, k]"
    for p, q in tile:
        yield f"    z{p}_{q} += f{p}*m{q}"
    for p, q in tile:
        yield f"room[thread, a - low + {p}, c + {q}] = z{p}_{q}"


def _spans(name: str, extent: int, width: int) -> Iterator[tuple[str, int]]:
    """Loops that cover 0 to extent in steps of the width, and once with what is left: the loop's line, and the step."""
    rest = extent % width
    if extent > rest:
        yield f"for {name} in range(0, {extent - rest}, {width}):", width
    if rest:
        yield f"for {name} in range({extent - rest}, {extent}, {rest}):", rest


@kernel(fastmath=REORDERED)
def _column_dots(taken, x, y, sums):  # pragma: no cover
    chunks, n = sums.shape[0], x.shape[0]
    for thread in threads(taken):
        for chunk in shared(taken, thread, chunks):
            for i in range(n * chunk // chunks, n * (chunk + 1) // chunks):
                for k in range(x.shape[1]):
                    sums[chunk, 0, k] += np.conj(x[i, k]) * sums.dtype.type(y[i, k])


@kernel(fastmath=REORDERED)
def _column_products(taken, x, y, sums):  # pragma: no cover
    chunks, n = sums.shape[0], x.shape[0]
    for thread in threads(taken):
        for chunk in shared(taken, thread, chunks):
            for i in range(n * chunk // chunks, n * (chunk + 1) // chunks):
                for k in range(x.shape[1]):
                    sums[chunk, 0, k] += x[i, k] * sums.dtype.type(y[i, k])


@kernel(fastmath={"contract"})
def _added(taken, target, base, factor, row):  # pragma: no cover
    chunks = 1 + target.size // CHUNK
    for thread in threads(taken):
        for chunk in shared(taken, thread, chunks):
            for i in range(target.shape[0] * chunk // chunks, target.shape[0] * (chunk + 1) // chunks):
                for k in range(target.shape[1]):
                    target[i, k] = base[i, k] + factor[i, k] * row[k]


@kernel(fastmath={"contract"})
def _scaled(taken, target, base, factor, row):  # pragma: no cover
    chunks = 1 + target.size // CHUNK
    for thread in threads(taken):
        for chunk in shared(taken, thread, chunks):
            for i in range(target.shape[0] * chunk // chunks, target.shape[0] * (chunk + 1) // chunks):
                for k in range(target.shape[1]):
                    target[i, k] = factor[i, k] * row[k]
