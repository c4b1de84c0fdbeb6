"""Which second levels suit a problem, known before anything is assembled."""

from __future__ import annotations

from workbench.deflation import Deflation
from workbench.problems import Problem


def unmet(problem: type[Problem] | Problem, deflation: type[Deflation] | Deflation) -> str:
    """What a deflation needs and a problem does not have, in words; empty where the two go together.

    Only what the two kinds of block declare. Parameters may still be wrong, such as more parts than cells.
    """
    if deflation.needs_phases and not problem.has_phases:
        return f"deflation {deflation.name} needs phases, which {problem.name} does not have"
    if deflation.needs_grid and not problem.has_grid:
        return f"deflation {deflation.name} needs a grid, which {problem.name} does not have"
    return ""
