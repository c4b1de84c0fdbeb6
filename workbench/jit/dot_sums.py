"""The sum of the dot products of all chunks, at the end of a kernel."""

from __future__ import annotations

from workbench.compiler.source import helper


@helper()
def total(partial, dots):  # pragma: no cover
    """dots = the sum over partial, shape (chunks, dots), in the order of the chunks."""
    for k in range(dots.size):
        dots[k] = 0
    for chunk in range(partial.shape[0]):
        for k in range(dots.size):
            dots[k] += partial[chunk, k]
