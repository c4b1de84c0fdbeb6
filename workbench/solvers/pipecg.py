"""Pipelined conjugate gradients (Ghysels and Vanroose)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import ClassVar

from workbench.registry import register
from workbench.solvers.base import Solver


@register
@dataclasses.dataclass(frozen=True)
class PipelinedCG(Solver):
    """CG whose products with M and A do not depend on the dot products of the same iteration, so that both overlap.

    Stores more vectors: s = A p, q = M^-1 s, z = A q, w = A u, m = M^-1 w, n = A m. The attainable accuracy is lower,
    since the recurrences for u, w, s, q and z accumulate rounding errors and are never recomputed. All dot products of
    an iteration are computed in one pass. If M is element-wise, u = M^-1 r is a formula in that pass, and u and q need
    no memory.

    Source: Ghysels and Vanroose 2014, Algorithm 4; `omega` is their delta, since delta is (p, A p) here.
    """

    name: ClassVar[str] = "pipecg"
    title: ClassVar[str] = "pipelined CG (Ghysels-Vanroose)"
    curvature_is_recomputed: ClassVar[bool] = False

    # In the first iteration beta = 0, so the initial values of z, q, s, p and alpha have no effect.
    start: ClassVar[str] = """
        s = A(x)
        r = b - s
        u = M(r)
        gamma = (r, u)
        uu = (u, u)
        rr = (r, r)
        p = u
        w = A(u)
        omega = (u, w)
        m = M(w)
        n = A(m)
        alpha = 1
        beta = 0
        z = n
        q = m
        s = w
    """
    iterate: ClassVar[str] = """
        delta = omega - beta*gamma/alpha
        alpha = gamma/delta if delta > 0 else 0
        previous = gamma
        z = n + beta*z
        q = m + beta*q
        s = w + beta*s
        p = u + beta*p
        x = x + alpha*p
        r = r - alpha*s
        u = u - alpha*q
        w = w - alpha*z
        gamma = (r, u)
        omega = (u, w)
        uu = (u, u)
        rr = (r, r)
        m = M(w)
        beta = gamma/previous
        n = A(m)
    """

    # For an element-wise M, u and q = M^-1 s are not stored; m is the vector that A is applied to.
    identities: ClassVar[Mapping[str, str]] = {"u": "M(r)", "q": "M(s)"}
    stored_in: ClassVar[Mapping[str, str]] = {"u": "m", "q": "m"}
