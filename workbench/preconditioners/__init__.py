"""First-level preconditioners M, one file each, found by the registry."""

from workbench.preconditioners.base import ElementWise, Preconditioner
from workbench.preconditioners.cycle_checks import MultigridCycle
from workbench.registry import add_package

add_package(__name__, "preconditioner")

__all__ = ["ElementWise", "MultigridCycle", "Preconditioner"]
