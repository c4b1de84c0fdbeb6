"""Constant vectors: one number on the host, filled on the device."""

from __future__ import annotations

import numpy as np


def constant(value: complex, size: int, dtype: np.dtype | type) -> np.ndarray:
    """A read-only vector of shape (size,) whose entries are all `value`, kept as one number."""
    return np.broadcast_to(np.asarray(value, dtype), (size,))


def constant_of(values: object) -> np.generic | None:
    """The entry of a vector made by `constant`, else None; no other vector is recognized, whatever its entries, and a
    part of one entry is: ranks that have parts of one vector must see the same in them."""
    if isinstance(values, np.ndarray) and values.ndim == 1 and values.size and values.strides == (0,):
        return values[0]
    return None


def entries(values: np.ndarray) -> np.ndarray:
    """The entries of a vector, those of a constant one only once."""
    return values[:1] if constant_of(values) is not None else values


def largest(values: np.ndarray) -> float:
    """The largest |entry|. Cost: two reads of a real vector, none of a constant one."""
    seen = entries(values)
    if seen.dtype.kind == "c":
        return float(np.abs(seen).max())
    # Two reads are faster than an array of absolute values.
    return max(float(seen.max()), -float(seen.min()))
