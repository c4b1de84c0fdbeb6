"""Problems: bubbly flow and Poisson on boxes, and matrices from files. One file per family, registered on import."""

import sys

from workbench.problems.base import LinearSystem, Problem
from workbench.problems.files import problem_from_text
from workbench.registry import load_package

load_package(sys.modules[__name__])

__all__ = ["LinearSystem", "Problem", "problem_from_text"]
