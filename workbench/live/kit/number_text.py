"""Numbers as texts: durations, amounts of memory, relative residuals."""

from __future__ import annotations

import math

UNITS = (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("B", 1.0))


def relative(value: float) -> str:
    """A relative residual with three digits, or that it is not finite."""
    return f"{value:.2e}" if math.isfinite(value) else "not finite"


def seconds(value: float) -> str:
    """Seconds without a unit, with three decimals below ten seconds, one above."""
    return f"{value:.3f}" if value < 10 else f"{value:.1f}"


def duration(value: float) -> str:
    """Seconds with three digits in s, ms or µs."""
    if value >= 1000:
        return f"{value:,.0f} s"
    unit, factor = ("s", 1.0) if value >= 1 else ("ms", 1e3) if value >= 1e-3 else ("µs", 1e6)
    return f"{value * factor:.3g} {unit}"


def amount(count: float) -> str:
    """Bytes with three digits in a decimal unit."""
    unit, size = next((entry for entry in UNITS if abs(count) >= entry[1]), UNITS[-1])
    return f"{count / size:.3g} {unit}" if abs(count) / size < 999.5 else f"{count / size:.0f} {unit}"
