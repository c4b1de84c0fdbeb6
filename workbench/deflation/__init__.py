"""Level 2: deflation spaces, coarse solvers, and the projection that wraps a system."""

import sys

from workbench.blocks import load_package
from workbench.deflation.base import Deflation, Surroundings
from workbench.deflation.coarse import CoarseSolver
from workbench.deflation.projection import Projection
from workbench.deflation.subspace import PiecewiseConstant, SpannedBy, Subspace, as_subspace
from workbench.deflation.variants import Variant

load_package(sys.modules[__name__])

__all__ = [
    "CoarseSolver",
    "Deflation",
    "PiecewiseConstant",
    "Projection",
    "SpannedBy",
    "Subspace",
    "Surroundings",
    "Variant",
    "as_subspace",
]
