"""One pass of lines that act on every column of block vectors alone, as a numba kernel; rows are taken in tiles."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from workbench.jit import generated
from workbench.jit.threads import CHUNK, launch, prepare
from workbench.jit.tiles import widths
from workbench.lines.block_passes import BlockPass, Products, Scaling, Update
from workbench.lines.types import accumulator

FEWEST = 8
"""Columns from which on a pass is worth its narrow tiles; below, passes of one line take several rows at once."""
MOST_SUMS = 64
"""Most partial sums of a dot product."""


def compiled(
    work: BlockPass, arrays: Mapping[str, np.ndarray], factors: Mapping[str, np.ndarray]
) -> Callable[[Mapping[str, np.ndarray]], dict[str, np.ndarray]] | None:
    """A function of the small matrices of one row that runs the pass and returns the dot products, each of shape (s,).

    arrays: the block vectors (N, s); factors: the vectors (N,). None where separate lines are faster.
    """
    first = arrays[work.arrays[0]]
    size, s = first.shape
    if s < FEWEST:
        return None
    chunks = max(1, min(MOST_SUMS, first.size // CHUNK))
    sums = np.zeros((chunks, len(work.products), s), accumulator(first.dtype))
    rows = np.zeros((max(1, len(work.rows)), s), first.dtype)
    kernel = generated.kernel(text(work, s, first.dtype))
    arguments = (*(arrays[name] for name in work.arrays), *(factors[name] for name in work.factors), rows, sums)
    prepare(kernel, *arguments)

    def run(small: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        for k, name in enumerate(work.rows):
            rows[k] = small[name].reshape(-1)
        sums.fill(0)
        launch(size * s, kernel, *arguments)
        return {product.target: sums[:, k].sum(axis=0) for k, product in enumerate(work.products)}

    return run


def text(work: BlockPass, s: int, dtype: np.dtype) -> str:
    """The kernel. a_ a block vector, v_ its tile, f_ a vector; of the tile at column q, rq_ numbers per column, tq_
    sums."""
    first = f"a_{work.arrays[0]}"
    body = [f"n, chunks, total = {first}.shape[0], sums.shape[0], sums[chunk]"]
    tiles = widths(s, accumulator(dtype))
    numbers = [(k, name, q, width) for q, width in tiles for k, name in enumerate(work.rows)]
    sums = [(k, q, width) for q, width in tiles for k in range(len(work.products))]
    body += [f"r{q}_{name} = take(rows, {k}, {q}, {width})" for k, name, q, width in numbers]
    body += [f"t{q}_{k} = zeros(total, {width})" for k, q, width in sums]
    body += ["for i in range(n*chunk//chunks, n*(chunk + 1)//chunks):"]
    for q, width in tiles:
        body += [f"    v_{name} = take(a_{name}, i, {q}, {width})" for name in work.loads]
        body += [f"    {line}" for line in _row(work, q, width, dtype)]
        body += [f"    put(a_{name}, i, {q}, v_{name})" for name in work.stores]
    body += [f"put(total, {k}, {q}, t{q}_{k})" for k, q, _ in sums]
    arguments = [*(f"a_{name}" for name in work.arrays), *(f"f_{name}" for name in work.factors), "rows", "sums"]
    lines = [f"def kernel(taken, {', '.join(arguments)}):"]
    lines += [f"    {line}" for line in generated.over("sums.shape[0]", body)]
    return "\n".join(lines) + "\n"


def _row(work: BlockPass, q: int, width: int, dtype: np.dtype) -> list[str]:
    """The statements on the tiles of row i from column q on."""
    lines, count = [], 0
    zero = f"zeros(a_{work.arrays[0]}, {width})"
    for statement in work.statements:
        match statement:
            case Update(target=target, terms=terms):
                total = zero
                for term in terms:
                    value = f"v_{term.factor}"
                    # A number per column times -1 is subtracted as its negative.
                    if term.small is None:
                        total = f"add_scaled({total}, {term.sign}, {value})"
                    elif term.sign > 0:
                        total = f"add_products({total}, r{q}_{term.small}, {value})"
                    else:
                        total = f"add_products({total}, add_scaled({zero}, -1, r{q}_{term.small}), {value})"
                lines.append(f"v_{target} = {total}")
            case Scaling(target=target, argument=argument, factor=factor):
                number = "1" if factor is None else f"f_{factor}[i]" if isinstance(factor, str) else repr(factor)
                lines.append(f"v_{target} = add_scaled({zero}, {number}, v_{argument})")
            case Products(left=left, right=right, transposed=transposed):
                first = f"widened(v_{left})"
                first = f"conjugated({first})" if dtype.kind == "c" and not transposed else first
                lines.append(f"t{q}_{count} = add_products(t{q}_{count}, {first}, widened(v_{right}))")
                count += 1
    return lines
