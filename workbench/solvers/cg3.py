"""Conjugate gradients in three-term form."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from workbench.registry import register
from workbench.solvers.base import Solver


@register
@dataclasses.dataclass(frozen=True)
class ThreeTermCG(Solver):
    """CG without directions: the new x and r are made of the two before them, y and t being the older ones.

    rho = 1 + alpha_j beta_j/alpha_(j-1) and the step gamma/omega of the source give CG's alpha as their product.
    Residuals of three terms lose accuracy earlier than those of two. Source: Rutishauser 1959; in this form Saad 2003,
    Algorithm 6.20, with M.
    """

    name: ClassVar[str] = "cg3"
    title: ClassVar[str] = "three-term CG (Rutishauser)"
    measures_energies: ClassVar[bool] = False
    # There is no p, but x - y is the last one times its alpha; a breakdown leaves y as it was.
    direction: ClassVar[str] = "u + weight/last*(x - y)"

    # rho is 1 in the first iteration, where what y and t hold does not matter.
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
