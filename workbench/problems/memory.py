"""Checks that a problem fits into memory, before anything is assembled."""

from __future__ import annotations

from workbench.errors import InputError
from workbench.process import limits

LARGEST_SQUARE, LARGEST_CUBE = 46340, 1290
"""Cells per side of the largest 2D and 3D grids with 32-bit cell numbers."""


SMALL = 16 << 20
"""Bytes that are not asked for: the answer, from files of the system, takes longer than a small assembly."""


def check_memory(needed: int, what: str, hint: str) -> None:
    """Raise InputError if `needed` bytes exceed the available memory."""
    if needed <= SMALL:
        return
    available = limits.memory()[1]
    if needed > available:
        raise InputError(
            f"{what} needs about {needed / 2**30:.3g} GiB of memory, {available / 2**30:.3g} GiB are free; {hint}"
        )
