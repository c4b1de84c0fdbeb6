"""Worked examples: problems with a method that suits them, by a name in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench.run import Configuration, configure

TWO_LEVEL: dict[str, Any] = {"preconditioner": "neumann:2", "deflation": "levelset:8"}

EXAMPLES: dict[str, Callable[[], Configuration]] = {
    "Two layers, as in the paper": lambda: configure("two-layer", preconditioner="neumann:2", deflation="stripes"),
    "50 random bubbles": lambda: configure("bubbles-2d", layout="random", count=50, geometry_seed=3, **TWO_LEVEL),
    "8 bubbles in a cube": lambda: configure("bubbles-3d", n=64, **TWO_LEVEL),
    "Poisson equation, one level": lambda: configure("poisson5", preconditioner="ic"),
    "Nine boxes, a direction from each": lambda: configure(
        "poisson-fd", n=128, solver="mpcg", preconditioner="schwarz:3x3,overlap=4"
    ),
    "Eight right-hand sides of rank 4": lambda: configure("poisson5", n=45, rhs="rank4:8", solver="block-cg"),
    "A stiffness matrix (generated, the size of bcsstk15)": lambda: configure("stand-in", preconditioner="ic"),
}
