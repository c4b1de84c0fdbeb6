"""Compatibility of second levels and problems, checked before assembly."""

from __future__ import annotations

from workbench.deflation import Deflation
from workbench.problems import Problem


def unmet(problem: type[Problem] | Problem, deflation: type[Deflation] | Deflation) -> str:
    """The requirement of a deflation that a problem does not meet, as a sentence; empty if the two are compatible.

    Checks the declared requirements alone. Parameters may still be wrong, such as more parts than cells.
    """
    if deflation.needs_phases and not problem.has_phases:
        return f"deflation {deflation.name} needs phases, which {problem.name} does not have"
    if deflation.needs_grid and not problem.has_grid:
        return f"deflation {deflation.name} needs a grid, which {problem.name} does not have"
    return ""
