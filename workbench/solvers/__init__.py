"""Solvers, one file per method with its recurrence only, found by the registry."""

from workbench.registry import add_package
from workbench.solvers.base import MethodTraits, Solver
from workbench.solvers.user_defined import user_solver

add_package(__name__, "solver")

__all__ = ["MethodTraits", "Solver", "user_solver"]
