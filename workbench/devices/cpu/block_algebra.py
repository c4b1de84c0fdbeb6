"""Products of N x s block vectors with small matrices: Gram matrices X^H Y, and Z = B + X C.

Innermost loops run along rows, which are contiguous. Gram matrices are summed in double precision; B + X C is computed
in the precision of the block vectors.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from workbench.devices.cpu import generated
from workbench.devices.cpu.compiled import Kernel
from workbench.devices.cpu.threads import CHUNK, cores, launch, prepare
from workbench.devices.cpu.work_stealing import APART
from workbench.lines.types import accumulator

TILE = 4
"""Products that are summed in registers before the sum is added to an entry in the cache."""
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
    dots = _dots(x.dtype.kind == "c" and not transposed)
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
    if len(shape) == 2:
        product, arrays = _combined(*shape, base is not None), [np.empty((cores(), shape[1] + APART), target.dtype)]
    else:
        product, arrays = _scaled(base is not None), []
    prepare(product, target, addend, factor, np.empty(shape, factor.dtype), *arrays)

    def run(small: np.ndarray) -> None:
        launch(target.size, product, target, addend, factor, np.ascontiguousarray(small, factor.dtype), *arrays)

    return run


def _partial_sums(x: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """A zero matrix for each chunk of rows. Their number depends on the sizes alone, so that sums do too."""
    chunks = max(1, min(MOST_SUMS, x.size // CHUNK))
    return np.zeros((chunks, rows, columns), accumulator(x.dtype))


@functools.cache
def _gram(s: int, t: int, conjugate: bool) -> Kernel:
    """Each row of the Gram matrix takes the products of four rows of X and Y at a time."""
    body = ["n, chunks, total = x.shape[0], sums.shape[0], sums[chunk]"]
    body += ["first, end = n*chunk//chunks, n*(chunk + 1)//chunks", "left, right = x[first:end], y[first:end]"]
    for over, rows in (
        (f"for i in range(0, left.shape[0] - {TILE - 1}, {TILE}):", TILE),
        (f"for i in range(left.shape[0]//{TILE}*{TILE}, left.shape[0]):", 1),
    ):
        entries = [f"left[i + {k}, p]" for k in range(rows)]
        entries = [f"np.conj({entry})" if conjugate else entry for entry in entries]
        products = " + ".join(f"x{k}*right[i + {k}, q]" for k in range(rows))
        body += [over, f"    for p in range({s}):"]
        body += [f"        x{k} = sums.dtype.type({entry})" for k, entry in enumerate(entries)]
        body += [f"        for q in range({t}):", f"            total[p, q] += {products}"]
    text = ["def kernel(taken, x, y, sums):", *(f"    {line}" for line in generated.over("sums.shape[0]", body))]
    return generated.kernel("\n".join(text) + "\n")


@functools.cache
def _combined(s: int, t: int, based: bool) -> Kernel:
    """Each row of the result takes four rows of the small matrix at a time, in `room`, because target may be factor."""
    body = [f"n, chunks, row = target.shape[0], {CHUNKS}, room[thread]"]
    body += ["for i in range(n*chunk//chunks, n*(chunk + 1)//chunks):", f"    for q in range({t}):"]
    body += ["        row[q] = base[i, q]" if based else "        row[q] = 0"]
    for first in range(0, s, TILE):
        terms = range(first, min(s, first + TILE))
        body += [f"    f{k} = factor[i, {k}]" for k in terms]
        body += [f"    for q in range({t}):"]
        body += ["        row[q] += " + " + ".join(f"f{k}*small[{k}, q]" for k in terms)]
    body += [f"    for q in range({t}):", "        target[i, q] = row[q]"]
    text = ["def kernel(taken, target, base, factor, small, room):"]
    text += [f"    {line}" for line in generated.over(CHUNKS, body)]
    return generated.kernel("\n".join(text) + "\n")


@functools.cache
def _dots(conjugate: bool) -> Kernel:
    left = "np.conj(x[i, k])" if conjugate else "x[i, k]"
    body = ["n, chunks = x.shape[0], sums.shape[0]", "for i in range(n*chunk//chunks, n*(chunk + 1)//chunks):"]
    body += ["    for k in range(x.shape[1]):", f"        sums[chunk, 0, k] += {left}*sums.dtype.type(y[i, k])"]
    text = ["def kernel(taken, x, y, sums):", *(f"    {line}" for line in generated.over("sums.shape[0]", body))]
    return generated.kernel("\n".join(text) + "\n")


@functools.cache
def _scaled(based: bool) -> Kernel:
    """base + factor times a number per column."""
    start = "base[i, k] + " if based else ""
    body = [f"n, chunks = target.shape[0], {CHUNKS}", "for i in range(n*chunk//chunks, n*(chunk + 1)//chunks):"]
    body += ["    for k in range(target.shape[1]):", f"        target[i, k] = {start}factor[i, k]*row[k]"]
    text = ["def kernel(taken, target, base, factor, row):", *(f"    {line}" for line in generated.over(CHUNKS, body))]
    return generated.kernel("\n".join(text) + "\n")
