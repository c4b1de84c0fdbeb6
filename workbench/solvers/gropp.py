"""Gropp's CG with overlapped reductions."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import ClassVar

from workbench.registry import register
from workbench.solvers.base import Solver


@register
@dataclasses.dataclass(frozen=True)
class Gropp(Solver):
    """CG with two reductions that overlap: (p, s) with q = M^-1 s, and (r, u) with w = A u.

    s = A p and, if M is not element-wise, u = M^-1 r follow from recurrences. `curvature` is (p, A p) of the next
    direction, computed in the pass that updates it.

    Source: W. Gropp, Update on libraries for Blue Waters, 2010; in this form PETSc's KSPGROPPCG.
    """

    name: ClassVar[str] = "gropp"
    title: ClassVar[str] = "Gropp's overlapped CG"
    curvature_is_recomputed: ClassVar[bool] = False
    # alpha = 0 gives beta = 1, so after a breakdown the direction of delta is p - u.
    direction: ClassVar[str] = "p - u"

    start: ClassVar[str] = """
        s = A(x)
        r = b - s
        u = M(r)
        gamma = (r, u)
        uu = (u, u)
        rr = (r, r)
        s = A(u)
        p = u
        curvature = (p, s)
    """
    iterate: ClassVar[str] = """
        q = M(s)
        delta = curvature
        alpha = gamma/delta if delta > 0 else 0
        previous = gamma
        r = r - alpha*s
        u = u - alpha*q
        gamma = (r, u)
        uu = (u, u)
        rr = (r, r)
        w = A(u)
        beta = gamma/previous
        x = x + alpha*p
        p = u + beta*p
        s = w + beta*s
        curvature = (p, s)
    """
    # Where M is element-wise, q = M^-1 s is needed nowhere.
    identities: ClassVar[Mapping[str, str]] = {"u": "M(r)"}
