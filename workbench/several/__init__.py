"""Several preconditioners in place of one: boxes of a Schwarz method, a coarse space, sums of others."""

import sys

from workbench.registry import load_package
from workbench.several.several import Several

load_package(sys.modules[__name__])

__all__ = ["Several"]
