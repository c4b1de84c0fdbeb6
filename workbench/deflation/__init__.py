"""Second level: deflation spaces, coarse solvers, and the projection of a system."""

from workbench.deflation.base import Deflation, DeflationContext
from workbench.deflation.coarse import CoarseSolver
from workbench.deflation.given_vectors import as_subspace
from workbench.deflation.modes import rigid_body_modes
from workbench.deflation.projection import Projection
from workbench.deflation.sparse_subspace import SparseSubspace
from workbench.deflation.subspace import DenseSubspace, PiecewiseConstant, Subspace
from workbench.deflation.variants import Variant
from workbench.registry import add_package

add_package(__name__, "deflation", "coarse", "variant")

__all__ = [
    "CoarseSolver",
    "Deflation",
    "DeflationContext",
    "DenseSubspace",
    "PiecewiseConstant",
    "Projection",
    "SparseSubspace",
    "Subspace",
    "Variant",
    "as_subspace",
    "rigid_body_modes",
]
