"""Solvers: one file per method, the recurrence as in its source and nothing else, registered on import."""

import sys

from workbench.blocks import load_package
from workbench.solvers.base import Solver, Suits
from workbench.solvers.own import own_solver

load_package(sys.modules[__name__])

__all__ = ["Solver", "Suits", "own_solver"]
