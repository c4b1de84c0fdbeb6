"""Kernels of the second level: restriction, prolongation, products with AZ, and solves with E. No atomics: every sum is
made in two stages, the second in a fixed order."""

from __future__ import annotations

from workbench.devices.kernels.source import fill, read

_TREE = read("tree_sum")

COMBINE = fill("combine", tree_sum=_TREE)
"""coarse[k] = the sum of the parts named by order[starts[k]:starts[k + 1]], one group a k."""

PROLONG = read("prolong")
"""x = x + sign Z a for a label per unknown."""

COMPACT = read("compact")
"""w = w - AZ a, on the rows of AZ that have entries."""

COLUMN_DOTS = fill("column_dots", tree_sum=_TREE)
"""parts[k*chunks + chunk] = a chunk's part of (z_k, w); neighbouring groups share the chunk of w."""

COLUMN_SUM = read("column_sum")
"""x = x + sign Z a for vectors stored one after the other."""

DENSE = fill("dense", tree_sum=_TREE)
"""solved = matrix a, one group a row; zero in the rows from `size` on."""

BAND = read("band")
"""One group solves with L L^H; factor[j*(width + 1) + k] = L[j + k, j], rows and columns in the given order."""

ENERGY = fill("energy", tree_sum=_TREE)
"""Subtracts (a, b) from the first dot product, in its first part. One group."""


def runs(lanes: int) -> str:
    """parts[run] = the sum of w over a run of equal labels; `lanes` items of a group share a run."""
    return read("runs_item") if lanes == 1 else fill("runs_lanes", lanes=lanes, half_lanes=lanes // 2)
