"""Preconditioned conjugate gradients."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from workbench.registry import register
from workbench.solvers.base import Solver


@register
@dataclasses.dataclass(frozen=True)
class CG(Solver):
    """Conjugate gradients with a preconditioner, for Hermitian positive definite A and M.

    Stores x, r, p and s beside b, and u where M is not element-wise. An iteration makes one product with A, one with M
    and three vector updates in two further sweeps; the update of x waits for that of p, so that p is read once for
    both. Source: Hestenes and Stiefel 1952; in this form Saad 2003, Algorithm 9.1.
    """

    name: ClassVar[str] = "cg"
    title: ClassVar[str] = "conjugate gradients (Hestenes-Stiefel)"
    restarts: ClassVar[int] = 3
    # A step of length 0 leaves beta = 1, so the p that broke down is p - u afterwards.
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
    # A direction of no positive energy takes no step, so that a breakdown leaves the last good x.
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
