"""Three-term conjugate gradients."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from workbench.registry import register
from workbench.solvers.base import Solver


@register
@dataclasses.dataclass(frozen=True)
class ThreeTermCG(Solver):
    """CG without search directions: a three-term recurrence for x and r, with y and t the previous x and r.

    rho = 1 + alpha_j beta_j/alpha_(j-1); the step gamma/omega of the source times rho is the alpha of CG. Three-term
    residuals lose accuracy earlier than two-term ones.

    Source: Rutishauser 1959; in this form Saad 2003, Algorithm 6.20, with M.
    """

    name: ClassVar[str] = "cg3"
    title: ClassVar[str] = "three-term CG (Rutishauser)"
    curvature_is_recomputed: ClassVar[bool] = False
    # x - y is alpha times the previous direction; a breakdown leaves y unchanged.
    direction: ClassVar[str] = "u + weight/last*(x - y)"

    # In the first iteration rho = 1, so the values of y and t have no effect.
    start: ClassVar[str] = """
        w = A(x)
        r = b - w
        u = M(r)
        gamma = (r, u)
        uu = (u, u)
        rr = (r, r)
        alpha = 1
        beta = 0
        y = x
        t = r
    """
    iterate: ClassVar[str] = """
        w = A(u)
        omega = (u, w)
        last = alpha
        weight = beta
        delta = omega - beta*gamma/alpha
        alpha = gamma/delta if delta > 0 else 0
        rho = omega/delta if delta > 0 else 1
        previous = gamma
        further = rho*x + alpha*u + (1 - rho)*y
        y = x if delta > 0 else y
        x = further
        newer = rho*r - alpha*w + (1 - rho)*t
        t = r
        r = newer
        u = M(r)
        gamma = (r, u)
        uu = (u, u)
        rr = (r, r)
        beta = gamma/previous
    """
