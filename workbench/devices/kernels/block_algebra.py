"""Kernels of N x s block vectors with small matrices. A work-item computes a square tile of the result."""

from __future__ import annotations

import dataclasses

from workbench.devices.kernels.source import fill

SIDE = 4
"""Rows and columns of a tile."""
GRAM_GROUP = 256
"""Work-items of a group, which holds every tile of a Gram matrix of 64 x 64."""
COMBINE_GROUP = 128
LOCAL_ELEMENTS = 2048
"""Elements of a block vector that a group keeps in local memory: 32 KiB in complex double precision."""
MOST_COLUMNS = 64

SUM_WIDTH = 16
"""Entries that a group of `SUM` adds up."""
SUM = fill("block_sum", width=SUM_WIDTH, phases=GRAM_GROUP // SUM_WIDTH)
"""total[e] = the sum of partial[k, e] over the parts k; groups of `GRAM_GROUP` work-items."""


def gram(s: int, t: int, *, transposed: bool) -> str:
    """partial[group] = X^H Y, or X^T Y, over a run of rows, shape (s, t).

    `phases` work-items share a tile; each takes every so many rows.
    """
    down, across = -(-s // SIDE), -(-t // SIDE)
    tiles = down * across
    return fill(
        "block_gram",
        s=s,
        t=t,
        side=SIDE,
        tiles=tiles,
        across=across,
        phases=GRAM_GROUP // tiles,
        **_conjugate(transposed),
    )


def dots(s: int, *, transposed: bool) -> str:
    """partial[group] = x_j^H y_j, or x_j^T y_j, over a run of rows, shape (s,)."""
    return fill("block_dots", s=s, phases=GRAM_GROUP // s, **_conjugate(transposed))


def _conjugate(transposed: bool) -> dict[str, str]:
    """The function applied to entries of X."""
    return {"conjugate": "" if transposed else "W_CONJ"}


def scale(s: int, *, based: bool) -> str:
    """target = base + factor times a number per column."""
    return fill("block_scale", s=s, start="base[e]" if based else "T_OF(0)")


@dataclasses.dataclass(frozen=True)
class Combine:
    """target = base + factor @ small, small (s, t). rows: those that a group takes at once."""

    s: int
    t: int
    based: bool

    @property
    def rows(self) -> int:
        across = -(-self.t // SIDE)
        return max(SIDE, min(SIDE * (COMBINE_GROUP // across), LOCAL_ELEMENTS // self.s // SIDE * SIDE))

    @property
    def text(self) -> str:
        start = f"base[row*{self.t} + (c + q < {self.t} ? c + q : {self.t} - 1)]" if self.based else "T_OF(0)"
        across = -(-self.t // SIDE)
        return fill("block_combine", s=self.s, t=self.t, side=SIDE, rows=self.rows, across=across, start=start)
