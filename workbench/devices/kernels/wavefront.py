"""Triangular solves with blocks of whole grid rows, by wavefronts: a work-item computes a row, one step behind the
work-item of the row before.

At every step the work-items of a group lie on a diagonal of the block and exchange their values through local memory,
or by warp shuffles where a group is a CUDA warp. All other operands of a step do not depend on the steps before it, so
they are loaded `STRETCH` steps ahead, and the dependent part of a step is two multiplications long.

A forward step is v = (d - a*before - b*received)*c, where a, b and d are multiplied by c before the steps; the first
row of a block has no row before it. A backward step is v = d - (a*before + b*received)*c; the bands of a neighbour to
the east or north are stored there.
"""

from __future__ import annotations

from workbench.devices.kernels.source import dots, fill, read

STRETCH = 8
"""Steps whose operands are loaded at once; even, so that the buffer of exchanged values is known at compile time."""


def wavefront(*, is_complex: bool) -> str:
    """u = scale M^-1 r for M = (E + L) E^-1 (E + L^H), blocks of at most GROUP grid rows of `width` unknowns.

    west and south are the bands at distances 1 and width. Computes (r, u), (u, u) and (r, r).
    """
    forward = fill(
        "wavefront_direction",
        load=read("wavefront_load_forward"),
        step=read("wavefront_step_forward"),
        moves="d[m] = T_MUL(next_c[m], next_d[m]);",
    )
    backward = fill(
        "wavefront_direction",
        load=read("wavefront_load_backward"),
        step=fill("wavefront_step_backward", **dots("e[m]")),
        moves="d[m] = next_d[m]; e[m] = next_e[m];",
    )
    exchange = fill("wavefront_exchange", stretch=STRETCH)
    shuffles = read("wavefront_shuffles_complex" if is_complex else "wavefront_shuffles_real")
    return f"\n{exchange}\n{shuffles}\n" + fill("wavefront", forward=forward, backward=backward, **dots("e[m]"))
