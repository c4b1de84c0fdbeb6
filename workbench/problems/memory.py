"""Refusing a problem that does not fit into memory, before the machine starts to swap."""

from __future__ import annotations

import psutil

from workbench.errors import InputError


def check_memory(needed: int, what: str, way_out: str) -> None:
    """Raise InputError when `needed` bytes are more than the memory that is available now."""
    available = int(psutil.virtual_memory().available)
    if needed > available:
        raise InputError(
            f"{what} needs about {needed / 2**30:.3g} GiB of memory, {available / 2**30:.3g} GiB are free; {way_out}"
        )
