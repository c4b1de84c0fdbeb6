"""Conjugate gradients with one reduction an iteration."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from workbench.registry import register
from workbench.solvers.base import Solver


@register
@dataclasses.dataclass(frozen=True)
class ChronopoulosGear(Solver):
    """CG with all dot products of an iteration in one place: s = A p comes from a recurrence, A is applied to u.

    (p, A p) follows from `omega` = (u, A u) and the last alpha and beta. Source: Chronopoulos and Gear 1989; in this
    form Ghysels and Vanroose 2014, Algorithm 2.
    """

    name: ClassVar[str] = "cgcg"
    title: ClassVar[str] = "Chronopoulos-Gear CG"
    measures_energies: ClassVar[bool] = False

    # With beta = 0 in the first iteration, what s, p and alpha held before does not matter.
    start: ClassVar[str] = """
        s = A(x)
        r = b - s
        u = M(r)
        gamma = (r, u)
        uu = (u, u)
        rr = (r, r)
        w = A(u)
        omega = (u, w)
        alpha = 1
        beta = 0
        p = u
        s = w
    """
    iterate: ClassVar[str] = """
        delta = omega - beta*gamma/alpha
        alpha = gamma/delta if delta > 0 else 0
        previous = gamma
        p = u + beta*p
        s = w + beta*s
        x = x + alpha*p
        r = r - alpha*s
        u = M(r)
        gamma = (r, u)
        uu = (u, u)
        rr = (r, r)
        beta = gamma/previous
        w = A(u)
        omega = (u, w)
    """
