"""Flexible conjugate gradients."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from workbench.registry import register
from workbench.solvers.base import Solver


@register
@dataclasses.dataclass(frozen=True)
class FlexibleCG(Solver):
    """CG whose beta makes the new direction A-orthogonal to the last one whatever M is, one that changes included.

    beta = -(A p, u)/(p, A p), which is Polak and Ribiere's (r_new - r, u_new)/(r, u); with one M throughout it is CG's.
    The extra dot product shares a sweep with the others. Source: Notay 2000, FCG(1).
    """

    name: ClassVar[str] = "fcg"
    title: ClassVar[str] = "flexible CG (Polak-Ribiere beta)"
    checks_symmetry: ClassVar[bool] = False
    # A step of length 0 takes beta = 1, so the p that broke down is p - u afterwards.
    direction: ClassVar[str] = "p - u"

    start: ClassVar[str] = """
        s = A(x)
        r = b - s
        u = M(r)
        gamma = (r, u)
        uu = (u, u)
        rr = (r, r)
        p = u
    """
    iterate: ClassVar[str] = """
        s = A(p)
        delta = (p, s)
        alpha = gamma/delta if delta > 0 else 0
        r = r - alpha*s
        u = M(r)
        gamma = (r, u)
        uu = (u, u)
        rr = (r, r)
        cross = (s, u)
        beta = -cross/delta if delta > 0 else 1
        x = x + alpha*p
        p = u + beta*p
    """
