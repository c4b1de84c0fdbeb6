"""Gropp's overlapped conjugate gradients."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import ClassVar

from workbench.registry import register
from workbench.solvers.base import Solver


@register
@dataclasses.dataclass(frozen=True)
class Gropp(Solver):
    """CG whose two reductions can overlap, (p, s) with q = M^-1 s and (r, u) with w = A u.

    s = A p and, where M is not element-wise, u = M^-1 r come from recurrences. `energy` is (p, A p) of the next
    direction, taken in the sweep that makes it. Source: W. Gropp, Update on libraries for Blue Waters, 2010; in this
    form PETSc's KSPGROPPCG.
    """

    name: ClassVar[str] = "gropp"
    title: ClassVar[str] = "Gropp's overlapped CG"
    measures_energies: ClassVar[bool] = False
    # A step of length 0 leaves beta = 1, so the p that broke down is p - u afterwards.
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
        energy = (p, s)
    """
    iterate: ClassVar[str] = """
        q = M(s)
        delta = energy
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
        energy = (p, s)
    """
    # Where M is element-wise, q = M^-1 s is needed nowhere.
    identities: ClassVar[Mapping[str, str]] = {"u": "M(r)"}
