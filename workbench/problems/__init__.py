"""Problems: bubbly flow and Poisson on boxes, and matrices from files. One file per family, found by the registry."""

from workbench.problems.base import LinearSystem, Problem
from workbench.problems.files import problem_from_text
from workbench.registry import add_package

add_package(__name__, "problem")

__all__ = ["LinearSystem", "Problem", "problem_from_text"]
