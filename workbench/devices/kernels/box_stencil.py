"""Products with box operators: y = (diagonal - coupling) x + coupling S x, with S the window sums along z, y and x.

Both forms store partial sums of (x, y), (y, y) and (x, x), one per group.
"""

from __future__ import annotations

import itertools

from workbench.devices.kernels.source import dots, fill, read

TILE_WIDTH = 32
"""Cells of a tile along x, one per work-item: coalesced reads."""


def axis_sums() -> str:
    """For processors: y = the window sums of x along one axis; neighbours are `inner` cells apart, and lines of `inner`
    cells are added in plain loops."""
    return read("box_axis_sums")


def rows(reach: int) -> str:
    """For processors: the window sums of w along x, and the product computed from them."""
    steps = range(1, reach + 1)
    inside = " ".join(f"sum = T_ADD(sum, T_ADD(w[at + i - {k}], w[at + i + {k}]));" for k in steps)
    edge = " ".join(
        f"if (i >= {k}) sum = T_ADD(sum, w[at + i - {k}]); if (i + {k} < nx) sum = T_ADD(sum, w[at + i + {k}]);"
        for k in steps
    )
    return fill("box_rows", reach=reach, inside=inside, edge=edge, **dots("x[at + i]"))


def columns(reach: int) -> str:
    """For GPUs: a group moves a tile of cells through the planes. It sums the tile along x and y in shared memory; a
    work-item keeps the latest sums of its cell in registers and adds them along z."""
    width, halo = TILE_WIDTH, 2 * reach
    wide, shifts, kept = width + halo, range(1, halo + 1), [f"s{k}" for k in range(halo + 1)]
    across = [f"s{halo} = T_ADD(s{halo}, middle[(ty + {k})*{width} + tx]);" for k in shifts]
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
        across=" ".join([f"s{halo} = middle[ty*{width} + tx];", *across]),
        total=" ".join(f"sum = T_ADD(sum, {name});" for name in kept[1:]),
        **dots("x[i]"),
    )
