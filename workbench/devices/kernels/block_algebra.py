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
GRAM_BYTES = 16 * 1024
"""Bytes of each block vector that a group multiplies at once, in the precision of sums; more where a row for each phase
needs them."""
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


def gram(s: int, t: int, wide: int, *, transposed: bool) -> str:
    """partial[group] = X^H Y, or X^T Y, over some rows, shape (s, t). wide: bytes of a sum.

    `phases` work-items share a tile; each takes every so many rows.
    """
    down, across = -(-s // SIDE), -(-t // SIDE)
    tiles = down * across
    phases = GRAM_GROUP // tiles
    rows = phases * max(1, GRAM_BYTES // (wide * phases * max(s, t)))
    loads = {of: -(-rows * columns // GRAM_GROUP) for of, columns in (("x", s), ("y", t))}
    moved = {
        piece: "".join(
            fill(
                f"block_gram_{piece}",
                of=of,
                s=columns,
                loads=loads[of],
                within=f"e < {rows * columns} && " if rows * columns % GRAM_GROUP else "",
            )
            for of, columns in (("x", s), ("y", t))
        )
        for piece in ("fetch", "put")
    }
    return fill(
        "block_gram",
        s=s,
        t=t,
        side=SIDE,
        tiles=tiles,
        across=across,
        phases=phases,
        strips=1 << (phases.bit_length() - 1) // 2,
        rows=rows,
        room=max(rows * s, SIDE * GRAM_GROUP),
        of_a=_within("a + p", s),
        of_c=_within("c + q", t),
        loads_x=loads["x"],
        loads_y=loads["y"],
        **moved,
        **_conjugate(transposed),
    )


def _within(column: str, columns: int) -> str:
    """A column of a tile, or the last column where a tile is not whole."""
    return f"({column})" if columns % SIDE == 0 else f"({column} < {columns} ? {column} : {columns} - 1)"


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
