"""Products with box operators: y = (diagonal - coupling) x + coupling S x, with S the window sums along z, y and x.

Both forms store partial sums of (x, y), (y, y) and (x, x), one per group.
"""

from __future__ import annotations

import itertools

from workbench.compiler.words import group, groups, items, members, remainder, shared_array, strips, unrolled
from workbench.devices.kernels.frames import store_sums
from workbench.devices.kernels.kernel_text import dots, fill
from workbench.devices.kernels.parameters import Real, Sums, Vector
from workbench.jit.dot_sums import with_row

TILE_WIDTH = 32
"""Cells of a tile along x, one per work-item: coalesced reads."""


def axis_sums(x: Vector, y: Vector, inner: int, side: int, reach: int, lines: int) -> None:
    """For processors: y = the sums of x over up to `reach` cells to both sides along one axis, z or y.

    A line is `inner` consecutive cells at one position on the axis, of which there are `side`; the next position is the
    next line. Lines are added in plain loops.
    """
    for line in items(lines, 0, lines):
        at, here = line * inner, remainder(line, side)
        for i in range(at, at + inner):
            y[i] = x[i]
        for k in range(-min(here, reach), min(reach + 1, side - here)):
            if k != 0:
                for i in range(at, at + inner):
                    y[i] += x[i + k * inner]


def rows(
    w: Vector, x: Vector, y: Vector, own: Real, coupling: Real, nx: int, partial: Sums, lines: int, *, reach: int
) -> None:
    """For processors: y = own x + coupling S x. w holds the sums of x along z and y, and is summed here along x.

    A line is one row of nx cells; the first and the last `reach` cells of it lack neighbours.
    """
    dtype = partial.dtype.type
    room, sums = shared_array(dtype, (members() + strips()) * 3), (dtype(0),) * 3
    first = min(reach, nx)
    last = max(nx - reach, first)
    for line in items(lines, 0, lines):
        at = line * nx
        for i in range(first):
            y[at + i] = own * x[at + i] + coupling * _edge_sum(w, at, i, nx, reach=reach)
            sums = with_row(sums, x[at + i], y[at + i], dtype=dtype)
        for i in range(at + first, at + last):
            total = w[i]
            for k in unrolled(reach):
                total += w[i - k - 1] + w[i + k + 1]
            y[i] = own * x[i] + coupling * total
            sums = with_row(sums, x[i], y[i], dtype=dtype)
        for i in range(last, nx):
            y[at + i] = own * x[at + i] + coupling * _edge_sum(w, at, i, nx, reach=reach)
            sums = with_row(sums, x[at + i], y[at + i], dtype=dtype)
    store_sums(room, partial, sums, group(), groups())


def _edge_sum(w, at, i, nx, *, reach):
    """The sum along x for cell i of a line, which lacks neighbours."""
    total = w[at + i]
    for k in unrolled(reach):
        if i > k:
            total += w[at + i - k - 1]
        if i + k + 1 < nx:
            total += w[at + i + k + 1]
    return total


def columns(reach: int) -> str:
    """The C text of a kernel for GPUs: y = own x + coupling S x. A group moves a tile of cells through the planes. It
    sums the tile along x and y in shared memory; each work-item keeps the latest sums of its cell in registers and adds
    them along z."""
    width, halo = TILE_WIDTH, 2 * reach
    wide, shifts, kept = width + halo, range(1, halo + 1), [f"s{k}" for k in range(halo + 1)]
    down = [f"s{halo} = T_ADD(s{halo}, middle[(ty + {k})*{width} + tx]);" for k in shifts]
    return fill(
        "box_columns",
        reach=reach,
        halo=halo,
        width=width,
        last_column=width - 1,
        wide=wide,
        tall=f"GROUP/{width}",
        sums=", ".join(f"{name} = T_OF(0)" for name in kept),
        along=" ".join(f"sum = T_ADD(sum, raw[row*{wide} + column + {k}]);" for k in shifts),
        shift=" ".join(f"{a} = {b};" for a, b in itertools.pairwise(kept)),
        down=" ".join([f"s{halo} = middle[ty*{width} + tx];", *down]),
        total=" ".join(f"sum = T_ADD(sum, {name});" for name in kept[1:]),
        **dots("x[i]"),
    )
