"""Indices for kernels."""

from __future__ import annotations

import numpy as np


def as_unsigned(index: np.ndarray) -> np.ndarray:
    """Indices as unsigned numbers, which need no test for negative ones."""
    return index.view(np.uint32 if index.dtype.itemsize == 4 else np.uint64)
