"""The functions of the kernel language, for editors and type checkers: kernels are read and printed, never run.

`abs`, `min`, `max` and `range` are Python's.
"""

from __future__ import annotations

from typing import Any


def conj(number: Any) -> Any:
    """The complex conjugate."""


def real(number: Any) -> Any:
    """The real part."""


def sqrt(number: Any) -> Any:
    """The square root."""


def wide(number: Any) -> Any:
    """The number in the precision of sums."""


def narrow(number: Any) -> Any:
    """The number in the precision of vectors."""


def inside(place: Any) -> Any:
    """Whether this is a row; constant in rows that have all their neighbours (see `kernel`)."""


def unrolled(count: Any) -> Any:
    """0, .., count - 1 for a constant count: what a loop over them does is written once for each."""
