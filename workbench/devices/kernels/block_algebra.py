"""Kernels of N x s block vectors with small matrices, which are in the precision of sums. A work-item computes a square
tile of the result. Nothing is computed where the number `stopped` is not 0.
"""

from __future__ import annotations

import dataclasses

from workbench.devices.kernels.source import fill

SIDE = 4
"""Rows and columns of a tile."""
GRAM_GROUP = 256
"""Work-items of a group, which holds every tile of a Gram matrix of 64 x 64."""
GRAM_ELEMENTS = 1024
"""Elements of each block vector that a group multiplies at once; more where a row for each phase needs them."""
COMBINE_GROUP = 128
LOCAL_ELEMENTS = 2048
"""Elements of a block vector that a group keeps in local memory: 32 KiB in complex double precision."""
MATRIX_ELEMENTS = 1024
"""Elements of a small matrix that a group keeps in local memory; it reads larger ones where they are."""
MOST_COLUMNS = 64

SUM_WIDTH = 4
"""Entries that a group of `sums` adds up."""


def sums(count: int) -> str:
    """total_p[e] = the sum of partial[k, p, e] over the parts k, for `count` p; groups of `GRAM_GROUP` work-items."""
    return fill(
        "block_sum",
        width=SUM_WIDTH,
        phases=GRAM_GROUP // SUM_WIDTH,
        count=count,
        totals=", ".join(f"GLOBAL W* RESTRICT total_{p}" for p in range(count)),
        store="\n".join(f"if (e/one == {p}) total_{p}[e - {p}*one] = room[LOCAL_ID];" for p in range(count)),
    )


def gram(s: int, t: int, *, transposed: bool) -> str:
    """partial[group] = X^H Y, or X^T Y, over some rows, shape (s, t).

    `phases` work-items share a tile; each takes every so many rows.
    """
    down, across = -(-s // SIDE), -(-t // SIDE)
    tiles = down * across
    phases = GRAM_GROUP // tiles
    rows = phases * max(1, GRAM_ELEMENTS // (phases * max(s, t)))
    return fill(
        "block_gram",
        s=s,
        t=t,
        side=SIDE,
        tiles=tiles,
        across=across,
        phases=phases,
        rows=rows,
        loads_x=-(-rows * s // GRAM_GROUP),
        loads_y=-(-rows * t // GRAM_GROUP),
        within_x=f"e < {rows * s} && " if rows * s % GRAM_GROUP else "",
        within_y=f"e < {rows * t} && " if rows * t % GRAM_GROUP else "",
        **_conjugate(transposed),
    )


def dots(s: int, *, transposed: bool) -> str:
    """partial[group] = x_j^H y_j, or x_j^T y_j, over a run of rows, shape (s,)."""
    return fill("block_dots", s=s, phases=GRAM_GROUP // s, **_conjugate(transposed))


def _conjugate(transposed: bool) -> dict[str, str]:
    """The function applied to entries of X."""
    return {"conjugate": "" if transposed else "W_CONJ"}


def scale(s: int, *, based: bool, sign: int = 1) -> str:
    """target = base + factor times a number per column; sign -1: base - ..."""
    return fill("block_scale", s=s, start="base[e]" if based else "T_OF(0)", add=_ADD[sign])


_ADD = {1: "T_ADD", -1: "T_SUB"}


@dataclasses.dataclass(frozen=True)
class Combine:
    """target = base + sign*factor @ small, small (s, t). rows: those that a group takes at once."""

    s: int
    t: int
    based: bool
    sign: int = 1

    @property
    def rows(self) -> int:
        across = -(-self.t // SIDE)
        return max(SIDE, min(SIDE * (COMBINE_GROUP // across), LOCAL_ELEMENTS // self.s // SIDE * SIDE))

    @property
    def text(self) -> str:
        start = f"base[row*{self.t} + (c + q < {self.t} ? c + q : {self.t} - 1)]" if self.based else "T_OF(0)"
        across = -(-self.t // SIDE)
        kept = self.s * self.t if self.s * self.t <= MATRIX_ELEMENTS else 0
        return fill(
            "block_combine",
            s=self.s,
            t=self.t,
            side=SIDE,
            rows=self.rows,
            across=across,
            start=start,
            kept=kept or 1,
            entry="matrix[e]" if kept else "T_OF_W(small[e])",
            add=_ADD[self.sign],
        )
