"""Preconditioned conjugate gradients."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from workbench.registry import register
from workbench.solvers.base import Solver


@register
@dataclasses.dataclass(frozen=True)
class CG(Solver):
    """Preconditioned conjugate gradients for Hermitian positive definite A and M.

    Stores x, r, p and s in addition to b, and u if M is not element-wise. An iteration makes one application of A, one
    application of M and three vector updates in two further passes. The update of x is placed next to that of p, so
    that p is read once for both.

    Source: Hestenes and Stiefel 1952; in this form Saad 2003, Algorithm 9.1.
    """

    name: ClassVar[str] = "cg"
    title: ClassVar[str] = "conjugate gradients (Hestenes-Stiefel)"
    max_restarts: ClassVar[int] = 3
    # alpha = 0 gives beta = 1, so after a breakdown the direction of delta is p - u.
    direction: ClassVar[str] = "p - u"

    from_residual: ClassVar[str] = """
        u = M(r)
        gamma = (r, u)
        uu = (u, u)
        rr = (r, r)
        p = u
    """
    start: ClassVar[str] = f"""
        s = A(x)
        r = b - s{from_residual}"""
    # Skip the step if (p, A p) <= 0, so that x is the last valid iterate after a breakdown.
    iterate: ClassVar[str] = """
        s = A(p)
        delta = (p, s)
        alpha = gamma/delta if delta > 0 else 0
        previous = gamma
        r = r - alpha*s
        u = M(r)
        gamma = (r, u)
        uu = (u, u)
        rr = (r, r)
        beta = gamma/previous
        x = x + alpha*p
        p = u + beta*p
    """
