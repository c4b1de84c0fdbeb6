"""The flows that the view offers, as parameters of rising bubbles that differ from the defaults."""

from __future__ import annotations

from typing import Any

METHOD: dict[str, Any] = {"preconditioner": "neumann:2", "deflation": "levelset:8"}
FORTY: dict[str, Any] = {
    "n": 128,
    "count": 40,
    "radius": 0.045,
    "geometry_seed": 3,
    "density_ratio": 1e-3,
    "viscosity_ratio": 0.01,
    "until": 2.0,
}
"""Many light bubbles, each of which gives a small eigenvalue: the second level pays (docs/flow.md has the numbers)."""
EXAMPLES: dict[str, dict[str, Any]] = {
    "Forty light bubbles": FORTY,
    "One bubble, Hysing's test case 1": {},
    "One bubble, Hysing's test case 2": {"eotvos": 125.0, "density_ratio": 1e-3, "viscosity_ratio": 0.01},
    "Seven light bubbles in 3D": {
        "n": 48,
        "dimensions": 3,
        "height": 1.0,
        "count": 7,
        "radius": 0.13,
        "geometry_seed": 1,
        "density_ratio": 1e-3,
        "until": 1.0,
    },
}
