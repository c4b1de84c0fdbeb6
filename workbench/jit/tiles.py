"""Tiles that cover the rows of block vectors: how many columns each holds in vector registers."""

from __future__ import annotations

import numpy as np
from llvmlite import binding


def _register_bytes() -> int:
    """Bytes of the widest vector register of this processor."""
    features = binding.get_host_cpu_features()
    return 64 if features.get("avx512f") else 32 if features.get("avx") else 16


REGISTER = _register_bytes()
MOST = 16
"""Columns of a tile, at most."""


def widths(columns: int, dtype: np.dtype) -> list[tuple[int, int]]:
    """First column and width of tiles that cover a row of numbers of a dtype, the widest in which they are summed.

    Tiles of more than one register have a power of two of columns: LLVM takes vectors of other lengths apart into
    single numbers at the borders of loops, which makes products up to three times slower.
    """
    one = REGISTER // np.dtype(dtype).itemsize
    made, first = [], 0
    while first < columns:
        left = columns - first
        width = left if left <= one else min(MOST, 1 << left.bit_length() - 1)
        made.append((first, width))
        first += width
    return made
