"""Checks that a problem fits into memory, before anything is assembled."""

from __future__ import annotations

from workbench import limits
from workbench.errors import InputError

WORD = 8
"""Bytes of a double-precision number."""
LARGEST_SQUARE, LARGEST_CUBE = 46340, 1290
"""Cells per side of the largest 2D and 3D grids with 32-bit cell numbers."""


def check_memory(needed: int, what: str, hint: str) -> None:
    """Raise InputError if `needed` bytes exceed the available memory."""
    available = limits.memory()[1]
    if needed > available:
        raise InputError(
            f"{what} needs about {needed / 2**30:.3g} GiB of memory, {available / 2**30:.3g} GiB are free; {hint}"
        )


TWO_PHASES = 18
"""Bytes per cell while a system of two phases is assembled: the phase and the code of its faces, one byte each, b, and
b before its mean is removed."""


def check_two_phases(n: int, dimensions: int, what: str) -> None:
    """Raise InputError if a system of two phases with n cells per side cannot be assembled in the available memory."""
    check_memory(TWO_PHASES * n**dimensions, what, "use a smaller n")


def check_grid(n: int, dimensions: int, what: str) -> None:
    """Raise InputError if a system on a grid with n cells per side does not fit into memory.

    Counted are bands, diagonal, coefficient, right-hand side, phases and one temporary, of N words each.
    """
    check_memory(WORD * (dimensions + 5) * n**dimensions, what, "use a smaller n")
