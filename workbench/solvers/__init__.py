"""Solvers, one file per method with its recurrence only, registered on import."""

import sys

from workbench.registry import load_package
from workbench.solvers.base import MethodTraits, Solver
from workbench.solvers.cg import CG as CG  # registered first, since messages name the first of a kind as an example
from workbench.solvers.user_defined import user_solver

load_package(sys.modules[__name__])

__all__ = ["MethodTraits", "Solver", "user_solver"]
