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
    """CG that predicts the new (r, u) to get beta early and recomputes it with the other dot products: one reduction.

    With q = M^-1 s the prediction is (r, u) - 2 alpha Re (u, s) + alpha^2 (s, q), here `cross` and `square`; of a
    complex (u, s) the imaginary part is rounding, and grows from iteration to iteration where it reaches beta. `energy`
    is (p, A p) of the next direction. Source: Chen and Carson 2020, PR-CG; their nu, mu, delta, gamma are our gamma,
    energy, cross, square.
    """

    name: ClassVar[str] = "pr-cg"
    title: ClassVar[str] = "predict-and-recompute CG (Chen-Carson)"
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
        p = u
        s = A(p)
        energy = (p, s)
        q = M(s)
        square = (s, q)
        cross = (u, s)
    """
    iterate: ClassVar[str] = """
        delta = energy
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
        energy = (p, s)
        q = M(s)
        square = (s, q)
        cross = (u, s)
    """
    # Where M is element-wise, u and q are formulas.
    identities: ClassVar[Mapping[str, str]] = {"u": "M(r)"}
