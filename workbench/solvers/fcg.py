"""Flexible conjugate gradients."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from workbench.registry import register
from workbench.solvers.base import Solver


@register
@dataclasses.dataclass(frozen=True)
class FlexibleCG(Solver):
    """CG with a beta that makes the new direction A-orthogonal to the previous one even if M varies.

    beta = -(A p, u)/(p, A p), the Polak-Ribiere (r_new - r, u_new)/(r, u); equal to that of CG if M is constant. The
    additional dot product is computed in the same pass as the others.

    Source: Notay 2000, FCG(1).
    """

    name: ClassVar[str] = "fcg"
    title: ClassVar[str] = "flexible CG (Polak-Ribiere beta)"
    needs_symmetric_preconditioner: ClassVar[bool] = False
    # alpha = 0 sets beta = 1, so after a breakdown the direction of delta is p - u.
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
