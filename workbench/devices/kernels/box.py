"""Products with box operators: y = (diagonal - coupling) x + coupling S x, S the sums over windows along z, y and x.

Both forms leave their groups' parts of (x, y), (y, y) and (x, x).
"""

from __future__ import annotations

import itertools

from workbench.devices.kernels.source import dots, fill, read

TILE_WIDTH = 32
"""Cells along x that the items of a group take, one each, so that they read memory in whole lines."""


def window() -> str:
    """For processors: y = the window sums of x along one axis, where `inner` cells lie between neighbours; lines of
    `inner` cells are added up, in plain loops."""
    return read("box_window")


def rows(reach: int) -> str:
    """For processors: the window sums of w along x, and the product made of them."""
    steps = range(1, reach + 1)
    inside = " ".join(f"sum = T_ADD(sum, T_ADD(w[at + i - {k}], w[at + i + {k}]));" for k in steps)
    edge = " ".join(
        f"if (i >= {k}) sum = T_ADD(sum, w[at + i - {k}]); if (i + {k} < nx) sum = T_ADD(sum, w[at + i + {k}]);"
        for k in steps
    )
    return fill("box_rows", reach=reach, inside=inside, edge=edge, **dots("x[at + i]"))


def columns(reach: int) -> str:
    """For GPUs: a group goes through planes with a tile of cells. It sums the tile along x and y in shared memory; an
    item keeps the last sums of its cell in registers and adds them up along z."""
    width, halo = TILE_WIDTH, 2 * reach
    wide, window, kept = width + halo, range(1, halo + 1), [f"s{k}" for k in range(halo + 1)]
    across = [f"s{halo} = T_ADD(s{halo}, middle[(ty + {k})*{width} + tx]);" for k in window]
    return fill(
        "box_columns",
        reach=reach,
        halo=halo,
        width=width,
        last_column=width - 1,
        wide=wide,
        tall=f"GROUP/{width}",
        sums=", ".join(f"{name} = T_OF(0)" for name in kept),
        along=" ".join(f"sum = T_ADD(sum, raw[row*{wide} + column + {k}]);" for k in window),
        shift=" ".join(f"{a} = {b};" for a, b in itertools.pairwise(kept)),
        across=" ".join([f"s{halo} = middle[ty*{width} + tx];", *across]),
        total=" ".join(f"sum = T_ADD(sum, {name});" for name in kept[1:]),
        **dots("x[i]"),
    )
