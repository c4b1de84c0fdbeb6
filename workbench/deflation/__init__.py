"""Second level: deflation spaces, coarse solvers, and the projection of a system."""

import sys

from workbench.deflation.base import Deflation, DeflationContext
from workbench.deflation.coarse import CoarseSolver
from workbench.deflation.projection import Projection
from workbench.deflation.subspace import DenseSubspace, PiecewiseConstant, Subspace, as_subspace
from workbench.deflation.variants import Variant
from workbench.registry import load_package

load_package(sys.modules[__name__])

__all__ = [
    "CoarseSolver",
    "Deflation",
    "DeflationContext",
    "DenseSubspace",
    "PiecewiseConstant",
    "Projection",
    "Subspace",
    "Variant",
    "as_subspace",
]
