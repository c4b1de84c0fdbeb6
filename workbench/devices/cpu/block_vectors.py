"""Block vectors on the cores: some columns as vectors and back, and passes of lines that act on every column alone,
with rows in tiles.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from workbench.compiler.words import shared, threads, unrolled
from workbench.jit.compiled import REORDERED, kernel
from workbench.jit.frames import block_pass
from workbench.jit.threads import CHUNK, launch, prepare
from workbench.jit.tiles import widths
from workbench.kernel_language.lines_text import function_of_rows
from workbench.lines.block_passes import BlockPass
from workbench.lines.types import accumulator


def take(block: np.ndarray, first: int, targets: Sequence[np.ndarray]) -> None:
    """targets[k] = column first + k."""
    launch(len(targets) * targets[0].size, _read, block, first, tuple(targets))


def put(sources: Sequence[np.ndarray], block: np.ndarray, first: int) -> None:
    """Column first + k = sources[k]."""
    launch(len(sources) * sources[0].size, _write, block, first, tuple(sources))


def prepare_both(block: np.ndarray, vectors: Sequence[np.ndarray]) -> None:
    """Compile both copies for that number of vectors."""
    for each in (_read, _write):
        prepare(each, block, 0, tuple(vectors))


@kernel(*REORDERED)
def _copy(taken, block, first, vectors, *, read):  # pragma: no cover
    """Columns of the block vector into vectors (`read`), or vectors into its columns."""
    n, chunks = block.shape[0], 1 + block.shape[0] // CHUNK
    for thread in threads(taken):
        for chunk in shared(taken, thread, chunks):
            for i in range(n * chunk // chunks, n * (chunk + 1) // chunks):
                for k in unrolled(len(vectors)):
                    if read:
                        vectors[k][i] = block[i, first + k]
                    else:
                        block[i, first + k] = vectors[k][i]


_read, _write = _copy.of(read=True), _copy.of(read=False)


FEWEST = 8
"""Columns from which on a pass is worth its narrow tiles; below, passes of one line take several rows at once."""
MOST_SUMS = 64
"""Most partial sums of a dot product."""


def fuses(columns: int) -> bool:
    """True if lines on that number of columns are one pass."""
    return columns >= FEWEST


def compiled(
    work: BlockPass, arrays: Mapping[str, np.ndarray], factors: Mapping[str, np.ndarray]
) -> Callable[[Mapping[str, np.ndarray]], dict[str, np.ndarray]] | None:
    """A function of the small matrices of one row that runs the pass and returns the dot products, each of shape (s,).

    arrays: the block vectors (N, s); factors: the vectors (N,). None where separate lines are faster.
    """
    first = arrays[work.arrays[0]]
    size, s = first.shape
    if not fuses(s):
        return None
    wide = accumulator(first.dtype)
    count, rows = len(work.products), np.zeros((max(1, len(work.rows)), s), first.dtype)
    tiles = tuple((k, *tile) for k, tile in enumerate(widths(s, wide)))
    row = function_of_rows(work, first.dtype, wide)
    kernel = block_pass.of(row=row, tiles=tiles, count=count, rows=len(work.rows), all_columns=s)
    chunks = max(1, min(MOST_SUMS, first.size // CHUNK))
    begins, sums = size * np.arange(chunks + 1, dtype=np.int64) // chunks, np.zeros((count, s), wide)
    given = tuple(arrays[name] for name in work.arrays), tuple(factors[name] for name in work.factors), rows, begins
    arguments = *given, *((np.zeros((chunks, sums.size), wide), sums.reshape(-1)) if count else ((), ()))
    prepare(kernel, *arguments)

    def run(small: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        for k, name in enumerate(work.rows):
            rows[k] = small[name].reshape(-1)
        launch(size * s, kernel, *arguments)
        return {product.target: sums[k].copy() for k, product in enumerate(work.products)}

    return run
