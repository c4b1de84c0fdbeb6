"""Solves with blocks of whole grid rows: an item goes along a row, one step behind the item of the row before.

At every step the items of a group lie on a diagonal of the block, and pass on what they found: through local memory,
or by warp shuffles where a group is a CUDA warp. What else a step reads does not depend on the steps before it, so it
is loaded a stretch ahead, and the steps themselves are two multiplications long.

A forward step is v = (d - a*before - b*got)*c, where c is multiplied in when a stretch begins; the first row of a block
has none before it. A backward step is v = d - (a*before + b*got)*c; the bands of a neighbour to the east or north are
stored there.
"""

from __future__ import annotations

from workbench.devices.kernels.source import dots, fill, read

STRETCH = 8
"""Steps whose numbers are loaded at once; even, so that the two sides of the handed-over values are known."""


def wavefront(*, is_complex: bool) -> str:
    """u = scale M^-1 r for M = (E + L) E^-1 (E + L^H), blocks of at most GROUP grid rows of `width` unknowns.

    west and south are the bands at distances 1 and width. Leaves (r, u), (u, u) and (r, r).
    """
    forward = fill(
        "wavefront_sweep",
        load=read("wavefront_load_forward"),
        step=read("wavefront_step_forward"),
        moves="d[m] = T_MUL(next_c[m], next_d[m]);",
    )
    backward = fill(
        "wavefront_sweep",
        load=read("wavefront_load_backward"),
        step=fill("wavefront_step_backward", **dots("e[m]")),
        moves="d[m] = next_d[m]; e[m] = next_e[m];",
    )
    passing = fill("wavefront_passing", stretch=STRETCH)
    lanes = read("wavefront_lanes_complex" if is_complex else "wavefront_lanes_real")
    return f"\n{passing}\n{lanes}\n" + fill("wavefront", forward=forward, backward=backward, **dots("e[m]"))
