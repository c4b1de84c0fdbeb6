"""Kernels of ranks: dot products of ghosts, and the sums of a rank that are added up over all of them."""

from __future__ import annotations

from workbench.devices.kernels.source import dots, fill, read

GHOST_DOTS = fill("ghost_dots", **dots("x[row]"))
"""Partial sums of (x, y), (y, y) and (x, x) over the rows before and behind the `own` rows of a rank."""

SUMS = fill("rank_sums", tree_sum=read("tree_sum"))
"""sums[k] = row k of the partial sums less that of the ghosts, one group per k."""
