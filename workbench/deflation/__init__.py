"""Level 2: deflation spaces, coarse solvers, and the projection that wraps a system."""

import sys

from workbench.deflation.base import Deflation, DeflationContext
from workbench.deflation.coarse import CoarseSolver
from workbench.deflation.projection import Projection
from workbench.deflation.subspace import PiecewiseConstant, SpannedBy, Subspace, as_subspace
from workbench.deflation.variants import Variant
from workbench.registry import load_package

load_package(sys.modules[__name__])

__all__ = [
    "CoarseSolver",
    "Deflation",
    "DeflationContext",
    "PiecewiseConstant",
    "Projection",
    "SpannedBy",
    "Subspace",
    "Variant",
    "as_subspace",
]
