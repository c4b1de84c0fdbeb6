"""Pipelined predict-and-recompute conjugate gradients."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import ClassVar

from workbench.registry import register
from workbench.solvers.base import Solver


@register
@dataclasses.dataclass(frozen=True)
class PipelinedPredictRecomputeCG(Solver):
    """Pipelined CG that predicts (r, u) and w = A u and recomputes both: almost as accurate as CG, for a product more.

    z = A q, y = M^-1 z, m = M^-1 w; v and l are the predictions of w and m. Both applications of A (and of M) are
    independent and overlap with the single reduction. The prediction of (r, u) is that of pr-cg.

    Source: Chen and Carson 2020, PIPE-PR-CG; their r~, s~, w~, u, u~ are u, q, m, z, y here.
    """

    name: ClassVar[str] = "pipe-pr-cg"
    title: ClassVar[str] = "pipelined predict-and-recompute CG (Chen-Carson)"
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
        w = A(u)
        p = u
        s = w
        m = M(w)
        q = m
        curvature = (p, s)
        cross = (u, s)
        square = (s, q)
        z = A(q)
        y = M(z)
    """
    iterate: ClassVar[str] = """
        delta = curvature
        alpha = gamma/delta if delta > 0 else 0
        beta = (gamma - alpha*(cross + conj(cross)) + alpha*alpha*square)/gamma
        x = x + alpha*p
        r = r - alpha*s
        u = u - alpha*q
        v = w - alpha*z
        l = m - alpha*y
        p = u + beta*p
        s = v + beta*s
        q = l + beta*q
        gamma = (r, u)
        uu = (u, u)
        rr = (r, r)
        curvature = (p, s)
        cross = (u, s)
        square = (s, q)
        z = A(q)
        y = M(z)
        w = A(u)
        m = M(w)
    """

    # For an element-wise M, u and q are formulas, stored because A is applied to them.
    identities: ClassVar[Mapping[str, str]] = {"u": "M(r)", "q": "M(s)"}
