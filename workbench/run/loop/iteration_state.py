"""The numbers of an iteration that decide whether a run ends, and the end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from workbench.run.choices.stopping import Reason


class IterationState(NamedTuple):
    """An iteration: number, by column the chosen norm and ||r||, (p, A p), by column (r, M^-1 r), and the iteration
    time so far, in s.

    For block vectors (p, A p) is the smallest of all columns, or the smallest eigenvalue of P^H A P. breakdown: a
    sentence where the method cannot continue.
    """

    iteration: int
    norms: Sequence[float]
    residuals: Sequence[float]
    curvature: float
    gamma: Sequence[float]
    seconds: float
    breakdown: str = ""


class Termination(NamedTuple):
    """Why a run ended, and at which iteration and value."""

    reason: Reason
    detail: str
