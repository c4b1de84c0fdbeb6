"""Conjugate gradients with a single reduction (D'Azevedo, Eijkhout and Romine)."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from workbench.registry import register
from workbench.solvers.cgcg import ChronopoulosGear


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
