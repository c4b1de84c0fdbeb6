"""Matrices of eigenvectors applied along an axis of many boxes: a batch of small dense products in one launch.

A box is seen as columns along the axis: out[i, c] = sum over j of M[i, j] in[j, c]. A group computes a square tile of
`out`; `tiles` has three numbers per tile: box, first row and first column. `boxes` has six numbers per box and axis:
its place in the local vector, the points along the axis, the unknowns from one of them to the next, the columns, and
the places of M and of the inverse eigenvalues. So boxes of different sizes are one launch.
"""

from __future__ import annotations

from workbench.devices.kernels.box_sweeps import scaled
from workbench.devices.kernels.source import fill

EDGE = 32
"""Rows and columns of a tile."""
DEPTH = 16
"""Columns of M, and rows of `in`, that are in local memory at a time."""
SIDE = 8
"""Work-items per side of a tile where they run side by side; each computes EDGE/SIDE rows and columns."""


def group(*, chunked: bool) -> int:
    """Work-items of a group: one on a processor, whose compiler then vectorizes along a row of the tile."""
    return 1 if chunked else SIDE**2


def product(*, chunked: bool, mixed: bool, first: bool, divided: bool, last: bool) -> str:
    """out = M in along an axis of every box.

    mixed: vectors are wider than M. first: `in` is r, which is divided by the largest magnitude in its box if mixed.
    divided: by the sums of eigenvalues. last: `out` is z, which is scaled back.
    """
    value = "sum[a][b]"
    value += "*inverse[eigenvalues + (i - start)]" if divided else ""
    return fill(
        "box_eigenvectors",
        **{
            **scaled(mixed=mixed and (first or last)),
            "source": "W" if mixed and first else "T",
            "target": "W" if mixed and last else "T",
            "entry": "(T)(in[place[c] + j*apart]/scale)" if mixed and first else "in[place[c] + j*apart]",
            "value": f"(W)({value})*scale" if mixed and last else value,
        },
        edge=EDGE,
        pitch=EDGE + 1,
        depth=DEPTH,
        side=1 if chunked else SIDE,
        points=EDGE if chunked else EDGE // SIDE,
    )
