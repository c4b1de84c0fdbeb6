"""Some columns of a block vector as vectors, and back, in one pass."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.compiler.words import shared, threads, unrolled
from workbench.jit.compiled import REORDERED, kernel
from workbench.jit.threads import CHUNK, launch, prepare


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
