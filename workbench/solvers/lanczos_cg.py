"""Conjugate gradients by the Lanczos process."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from workbench.registry import register
from workbench.solvers.base import Solver


@register
@dataclasses.dataclass(frozen=True)
class LanczosCG(Solver):
    """CG as the LU factorization of the Lanczos matrix T, one row per iteration.

    `diagonal` and `offdiagonal` are the newest entries of T, `eta` is the pivot, `weight` the multiplier of the next
    row and `zeta` the entry of the solution. alpha = 1/eta and beta = weight^2 are those of CG, so the history also
    gives T (Ritz values).

    v and o are the Lanczos vectors without the division by their norms `scale` and `older`, which saves a pass and a
    reduction; z = M^-1 v. The residual -zeta_j alpha_j v is not stored.

    Source: direct Lanczos (D-Lanczos), Saad 2003, Algorithm 6.17, with M.
    """

    name: ClassVar[str] = "lanczos-cg"
    title: ClassVar[str] = "Lanczos-CG (direct Lanczos)"
    curvature_is_recomputed: ClassVar[bool] = False
    # If eta <= 0, gamma is still that of the previous residual, whose Lanczos vector is now o.
    direction: ClassVar[str] = "sqrt(gamma)*p"
    residual: ClassVar[str] = "sqrt(gamma)/older*o"

    # In the first iteration weight = offdiagonal = 0, so the initial values of p and o have no effect.
    start: ClassVar[str] = """
        w = A(x)
        v = b - w
        z = M(v)
        gamma = (v, z)
        uu = (z, z)
        rr = (v, v)
        square = gamma
        scale = sqrt(gamma)
        zeta = scale
        older = 1
        offdiagonal = 0
        weight = 0
        p = z
        o = v
    """
    iterate: ClassVar[str] = """
        w = A(z)
        product = (z, w)
        diagonal = product/square
        eta = diagonal - weight*offdiagonal
        delta = gamma*eta
        alpha = 1/eta if eta > 0 else 0
        step = zeta*alpha
        p = z/scale - weight*p
        x = x + step*p
        further = (w - diagonal*v)/scale - offdiagonal/older*o
        o = v
        v = further
        z = M(v)
        square = (v, z)
        vv = (v, v)
        zz = (z, z)
        older = scale
        scale = sqrt(square)
        offdiagonal = scale
        weight = offdiagonal*alpha
        zeta = -weight*zeta
        share = gamma*alpha*alpha
        gamma = share*square if eta > 0 else gamma
        rr = share*vv if eta > 0 else rr
        uu = share*zz if eta > 0 else uu
        beta = square*alpha*alpha
    """
