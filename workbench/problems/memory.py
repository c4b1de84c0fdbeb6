"""Refusing a problem that does not fit into memory, before the machine starts to swap."""

from __future__ import annotations

import psutil

from workbench.errors import InputError

WORD = 8
"""Bytes of a number in double precision."""
LARGEST_SQUARE, LARGEST_CUBE = 46340, 1290
"""Cells per side of the largest grids whose cells 32-bit integers count; memory may end before."""


def check_memory(needed: int, what: str, way_out: str) -> None:
    """Raise InputError when `needed` bytes are more than the memory that is available now."""
    available = int(psutil.virtual_memory().available)
    if needed > available:
        raise InputError(
            f"{what} needs about {needed / 2**30:.3g} GiB of memory, {available / 2**30:.3g} GiB are free; {way_out}"
        )


def check_grid(n: int, dimensions: int, what: str) -> None:
    """Raise InputError, before anything is made, when a grid of n cells a side and its stencil do not fit into memory.

    That is bands, diagonal, coefficient, right-hand side, phases and one array on the way, of N words each.
    """
    check_memory(WORD * (dimensions + 5) * n**dimensions, what, "use a smaller n")
