"""Kernels on local vectors of pieces: copies, sums with weights, and inner products on runs of unknowns."""

from __future__ import annotations

from workbench.devices.kernels.source import fill, read
from workbench.devices.pieces import ROWS_AT_ONCE

GATHER = read("piece_gather")
"""local[i] = v[unknowns[i]]."""

COMBINE = fill("piece_combine", rows=ROWS_AT_ONCE)
"""target = the sum of the pieces of four local vectors, each with a weight of its own."""


def products(vectors: int, lanes: int) -> str:
    """parts[4 run + row] = (z_row, v) over a run, v being one of some vectors. lanes: work-items that share a run."""
    names = [f"v{k}" for k in range(vectors)]
    return fill(
        "piece_products",
        rows=ROWS_AT_ONCE,
        lanes=lanes,
        half=lanes // 2,
        panel=", ".join(f"GLOBAL const T* {name}" for name in names),
        choice="".join(f"source == {k} ? {name} : " for k, name in enumerate(names[:-1])) + names[-1],
    )
