"""Some columns of a block vector as vectors, and back, in one pass."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from workbench.jit import generated
from workbench.jit.compiled import Kernel
from workbench.jit.threads import CHUNK, launch, prepare

CHUNKS = f"1 + v0.size//{CHUNK}"


def take(block: np.ndarray, first: int, targets: Sequence[np.ndarray]) -> None:
    """targets[k] = column first + k."""
    launch(len(targets) * targets[0].size, _kernel(len(targets), True), block, first, *targets)


def put(sources: Sequence[np.ndarray], block: np.ndarray, first: int) -> None:
    """Column first + k = sources[k]."""
    launch(len(sources) * sources[0].size, _kernel(len(sources), False), block, first, *sources)


def prepare_both(block: np.ndarray, vectors: Sequence[np.ndarray]) -> None:
    """Compile both for so many vectors."""
    for taken in (True, False):
        prepare(_kernel(len(vectors), taken), block, 0, *vectors)


@functools.cache
def _kernel(count: int, taken: bool) -> Kernel:
    body = [f"n, chunks = v0.size, {CHUNKS}", "for i in range(n*chunk//chunks, n*(chunk + 1)//chunks):"]
    for k in range(count):
        sides = [f"v{k}[i]", f"block[i, first + {k}]"]
        body += ["    " + " = ".join(sides if taken else sides[::-1])]
    arguments = ", ".join(f"v{k}" for k in range(count))
    text = [f"def kernel(taken, block, first, {arguments}):", *(f"    {line}" for line in generated.over(CHUNKS, body))]
    return generated.kernel("\n".join(text) + "\n")
