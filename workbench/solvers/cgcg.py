"""Conjugate gradients with one reduction per iteration: Chronopoulos and Gear; D'Azevedo, Eijkhout and Romine."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from workbench.registry import register
from workbench.solvers.base import Solver


@register
@dataclasses.dataclass(frozen=True)
class ChronopoulosGear(Solver):
    """CG with one reduction per iteration: A is applied to u, and s = A p follows from a recurrence.

    (p, A p) is computed from `omega` = (u, A u) and the previous alpha and beta.

    Source: Chronopoulos and Gear 1989; in this form Ghysels and Vanroose 2014, Algorithm 2.
    """

    name: ClassVar[str] = "cgcg"
    title: ClassVar[str] = "Chronopoulos-Gear CG"
    curvature_is_recomputed: ClassVar[bool] = False

    # In the first iteration beta = 0, so the initial values of s, p and alpha have no effect.
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


@register
@dataclasses.dataclass(frozen=True)
class SingleReduction(ChronopoulosGear):
    """CG with one reduction per iteration: (p, A p) = (u, A u) - beta^2 (p, A p) of the direction before.

    That holds since p = u + beta p' with A-orthogonal p and p'. All vectors are those of `cgcg`, which computes the
    same number from gamma and alpha.

    Source: D'Azevedo, Eijkhout and Romine 1993, method 1, as PETSc has it.
    """

    name: ClassVar[str] = "single-reduction"
    title: ClassVar[str] = "CG with a single reduction (D'Azevedo, Eijkhout, Romine)"
    also: ClassVar[tuple[str, ...]] = ("one-reduction", "eijkhout", "dazevedo")

    # In the first iteration beta = 0, so that the curvature before has no effect.
    start: ClassVar[str] = ChronopoulosGear.start + "    curvature = 1\n    "
    iterate: ClassVar[str] = ChronopoulosGear.iterate.replace(
        "delta = omega - beta*gamma/alpha", "curvature = omega - beta*beta*curvature\n        delta = curvature"
    )
