"""Numbers of unknowns for a curve over N."""

from __future__ import annotations

import numpy as np

SMALLEST = 1000
POINTS = 19


def unknowns_up_to(largest: int, points: int = POINTS) -> list[int]:
    """Numbers from 1000 to the largest in equal ratios, each rounded to whole unknowns."""
    return [round(n) for n in np.geomspace(SMALLEST, largest, points)]
