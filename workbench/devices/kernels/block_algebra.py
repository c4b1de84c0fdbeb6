"""Kernels of N x s block vectors with small matrices, which are in the precision of sums. A work-item computes a square
tile of the result. Nothing is computed where the number `stopped` is not 0.
"""

from __future__ import annotations

import dataclasses

from workbench.compiler.words import (
    barrier,
    conj,
    group,
    groups,
    items,
    member,
    members,
    narrow,
    quotient,
    shared_array,
    unrolled,
    wide,
)
from workbench.devices.kernels.frames import store_column_sums
from workbench.devices.kernels.kernel_text import fill
from workbench.devices.kernels.parameters import RealSums, Sums, Vector

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
"""Entries that a group of `add_parts` adds up."""


def add_parts(partial: Sums, stopped: RealSums, totals, parts: int, entries: int, *, count: int) -> None:
    """totals[p][e] = the sum of partial[k, p, e] over the parts k, for `count` p.

    A group adds up SUM_WIDTH neighbouring entries, of which every work-item takes a share of the parts.
    """
    room, total = shared_array(partial.dtype.type, members()), partial.dtype.type(0)
    phases, phase, e = members() // SUM_WIDTH, member() // SUM_WIDTH, group() * SUM_WIDTH + member() % SUM_WIDTH
    active = stopped[0] == 0 and e < entries
    if active:
        for k in range(phase, parts, max(1, phases)):
            total += partial[k * entries + e]
    room[member()] = total
    barrier()
    reach = phases // 2
    while reach > 0:
        if phase < reach:
            room[member()] += room[member() + reach * SUM_WIDTH]
        barrier()
        reach = reach // 2
    if phase == 0 and active:
        one = quotient(entries, count)
        of = quotient(e, one)
        for p in unrolled(count):
            if of == p:
                totals[p][e - p * one] = room[member()]


def gram(s: int, t: int, itemsize: int, *, transposed: bool) -> str:
    """partial[group] = X^H Y, or X^T Y, over some rows, shape (s, t). itemsize: bytes of a sum.

    `phases` work-items share a tile; each takes every `phases`-th row.
    """
    down, across = -(-s // SIDE), -(-t // SIDE)
    tiles = down * across
    phases = GRAM_GROUP // tiles
    rows = phases * max(1, GRAM_BYTES // (itemsize * phases * max(s, t)))
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
        conjugate="" if transposed else "W_CONJ",
    )


def _within(column: str, columns: int) -> str:
    """A column of a tile, or the last column where a tile is not whole."""
    return f"({column})" if columns % SIDE == 0 else f"({column} < {columns} ? {column} : {columns} - 1)"


def column_dots(x: Vector, y: Vector, partial: Sums, n: int, *, s: int, transposed: bool) -> None:
    """partial[group] = x_j^H y_j, or x_j^T y_j, over a run of rows, shape (s,)."""
    room, total = shared_array(partial.dtype.type, members()), partial.dtype.type(0)
    phases, phase, column = members() // s, member() // s, member() % s
    if phase < phases:
        low, high = quotient(n * group(), groups()), quotient(n * (group() + 1), groups())
        for i in range(low + phase, high, max(1, phases)):
            left = wide(x[i * s + column])
            total += (left if transposed else conj(left)) * wide(y[i * s + column])
    store_column_sums(room, partial, (total,), group(), width=s)


def scale(
    target: Vector, base, factor, row: Sums, stopped: RealSums, n: int, *, s: int, based: bool, sign: int
) -> None:
    """target = base + factor times a number per column; sign -1: base - ... `base` and `factor` are empty where they
    are the target itself."""
    end = n if stopped[0] == 0 else 0
    for e in items(end, 0, end):
        product = _entry(factor, target, e) * narrow(row[e % s])
        start = _entry(base, target, e) if based else target.dtype.type(0)
        target[e] = start + product if sign > 0 else start - product


def _entry(of, target, e):
    return of[0][e] if len(of) > 0 else target[e]


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
