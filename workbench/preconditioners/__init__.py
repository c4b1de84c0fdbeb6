"""First-level preconditioners M, one file each, registered on import."""

import sys

from workbench.preconditioners.base import ElementWise, Preconditioner
from workbench.preconditioners.cycle_checks import MultigridCycle
from workbench.registry import load_package

load_package(sys.modules[__name__])

__all__ = ["ElementWise", "MultigridCycle", "Preconditioner"]
