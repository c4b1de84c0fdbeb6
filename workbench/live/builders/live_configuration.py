"""The configuration of a solve while the problem is being drawn: that of the page where it fits, else a cheap one."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from workbench.deflation import Deflation
from workbench.errors import InputError
from workbench.problems.bubbles import Bubbles
from workbench.run import Configuration, configure
from workbench.run.choices.vector_files import asks_for_blocks

CHEAP = "neumann:2"
"""The preconditioner without a page: it costs next to no setup."""
MOST_CELLS = 1 << 18
"""The most cells that are solved while they are drawn, those of 512^2 and of 64^3: half a second on two cores."""


def live_configuration(
    chosen: Callable[[], Configuration] | None, problem: Bubbles, deflation: Deflation
) -> tuple[Configuration, str]:
    """The configuration to solve, and why it differs from the chosen one; empty where it does not.

    chosen: returns the configuration of the page, or raises InputError; None without a page. Its problem and deflation
    are replaced by those drawn, its start by zero. One with many right-hand sides or on a cluster is not taken.
    """
    why = ""
    if chosen is not None:
        try:
            return dataclasses.replace(_fitting(chosen()), problem=problem, deflation=deflation, x0="zero"), ""
        except InputError as error:
            why = str(error)
    return configure(problem, preconditioner=CHEAP, deflation=deflation, x0="zero"), why


def too_many_cells(problem: Bubbles) -> str:
    """Why a problem is not solved while it is drawn; empty where it is."""
    if problem.n**problem.dimensions <= MOST_CELLS:
        return ""
    most = round(MOST_CELLS ** (1 / problem.dimensions))
    return f"n = {problem.n} has too many cells for that; it works up to n = {most} in {problem.dimensions}D"


def _fitting(chosen: Configuration) -> Configuration:
    if asks_for_blocks(chosen, None):
        raise InputError(f"rhs {chosen.rhs} of Solve has several right-hand sides")
    if chosen.cluster:
        raise InputError(f"connecting to the cluster {chosen.cluster} takes longer than a solve")
    # Processes take longer to start than a small problem to be solved.
    return dataclasses.replace(chosen, ranks=1)
