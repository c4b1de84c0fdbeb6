"""Steepest descent."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from workbench.registry import register
from workbench.solvers.base import Solver


@register
@dataclasses.dataclass(frozen=True)
class SteepestDescent(Solver):
    """Steps along the preconditioned residual that minimize the A-norm of the error, for comparison with CG.

    The number of iterations grows with cond(M^-1 A), that of CG with its square root. There is no beta, so a run gives
    no Ritz values.

    Source: Saad 2003, Algorithm 5.2, with M.
    """

    name: ClassVar[str] = "sd"
    title: ClassVar[str] = "steepest descent"
    direction: ClassVar[str] = "u"

    start: ClassVar[str] = """
        s = A(x)
        r = b - s
        u = M(r)
        gamma = (r, u)
        uu = (u, u)
        rr = (r, r)
    """
    iterate: ClassVar[str] = """
        s = A(u)
        delta = (u, s)
        alpha = gamma/delta if delta > 0 else 0
        x = x + alpha*u
        r = r - alpha*s
        u = M(r)
        gamma = (r, u)
        uu = (u, u)
        rr = (r, r)
    """
