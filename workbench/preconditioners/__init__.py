"""Level 1: preconditioners M, one file each, registered on import."""

import sys

from workbench.blocks import load_package
from workbench.preconditioners.base import ElementWise, Preconditioner

load_package(sys.modules[__name__])

__all__ = ["ElementWise", "Preconditioner"]
