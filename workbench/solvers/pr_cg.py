"""Predict-and-recompute conjugate gradients."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import ClassVar

from workbench.registry import register
from workbench.solvers.base import Solver


@register
@dataclasses.dataclass(frozen=True)
class PredictRecomputeCG(Solver):
    """CG with one reduction per iteration: (r, u) is predicted to obtain beta early, then recomputed.

    With q = M^-1 s the prediction is (r, u) - 2 alpha Re (u, s) + alpha^2 (s, q), here `cross` and `square`. The
    imaginary part of a complex (u, s) is rounding error, which would grow with the iterations if it entered beta.
    `curvature` is (p, A p) of the next direction.

    Source: Chen and Carson 2020, PR-CG; their nu, mu, delta, gamma are gamma, curvature, cross, square here.
    """

    name: ClassVar[str] = "pr-cg"
    title: ClassVar[str] = "predict-and-recompute CG (Chen-Carson)"
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
        p = u
        s = A(p)
        curvature = (p, s)
        q = M(s)
        square = (s, q)
        cross = (u, s)
    """
    iterate: ClassVar[str] = """
        delta = curvature
        alpha = gamma/delta if delta > 0 else 0
        beta = (gamma - alpha*(cross + conj(cross)) + alpha*alpha*square)/gamma
        x = x + alpha*p
        r = r - alpha*s
        u = u - alpha*q
        gamma = (r, u)
        uu = (u, u)
        rr = (r, r)
        p = u + beta*p
        s = A(p)
        curvature = (p, s)
        q = M(s)
        square = (s, q)
        cross = (u, s)
    """
    # Where M is element-wise, u and q are formulas.
    identities: ClassVar[Mapping[str, str]] = {"u": "M(r)"}
