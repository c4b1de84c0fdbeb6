"""Dot products of a kernel: the terms of a row, and at the end the sum over all chunks."""

from __future__ import annotations

import numpy as np

from workbench.compiler.source import helper


@helper()
def total(partial, dots):  # pragma: no cover
    """dots = the sum over partial, shape (chunks, dots), in the order of the chunks."""
    for k in range(dots.size):
        dots[k] = 0
    for chunk in range(partial.shape[0]):
        for k in range(dots.size):
            dots[k] += partial[chunk, k]


def with_row(dots, x, y, *, dtype):  # pragma: no cover
    """(x, y), (y, y) and (x, x) with the terms of one more row, in this precision."""
    left, right = dtype(x), dtype(y)
    return dots[0] + np.conj(left) * right, dots[1] + np.conj(right) * right, dots[2] + np.conj(left) * left
