"""Multipreconditioned CG: a search direction from each of several preconditioners in every iteration."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from workbench.registry import parameter, register
from workbench.settings import HERE, WORKERS
from workbench.solvers.base import Solver
from workbench.solvers.multi.basis import Limits
from workbench.solvers.multi.directions import Directions, InnerProducts, Products, Terms
from workbench.solvers.multi.members import as_members

if TYPE_CHECKING:
    from workbench.devices.programs.workspace import Workspace


SUMS = "who computes inner products of terms and the step: here, this process, or the workers of a cluster, for schwarz"


class Multipreconditioned(Solver):
    """Base of methods that take several directions: d = D(r) is the step from all of them."""

    on_ranks: ClassVar[bool] = False
    uniform_iterations: ClassVar[bool] = False
    same_work: ClassVar[bool] = False
    in_family: ClassVar[bool] = False
    direction: ClassVar[str] = "d"

    start: ClassVar[str] = """
        s = A(x)
        r = b - s
        u = M(r)
        gamma = (r, u)
        uu = (u, u)
        rr = (r, r)
    """


class MultipreconditionedCG(Multipreconditioned):
    """Base of both forms of MPCG. The iteration is that of a projection."""

    sums: str

    # No step along a direction of negative curvature, so that x is the last valid iterate.
    iterate: ClassVar[str] = """
        d = D(r)
        s = A(d)
        delta = (d, s)
        step = 1 if delta > 0 else 0
        x = x + step*d
        r = r - step*s
        u = M(r)
        gamma = (r, u)
        uu = (u, u)
        rr = (r, r)
    """
    # With one preconditioner d = alpha p, and these are the scalars of CG.
    single: ClassVar[str] = """
        d = D(r)
        s = A(d)
        curvature = (d, s)
        previous = gamma
        alpha = curvature/previous
        delta = previous*previous/curvature if curvature > 0 else curvature
        step = 1 if curvature > 0 else 0
        x = x + step*d
        r = r - step*s
        u = M(r)
        gamma = (r, u)
        uu = (u, u)
        rr = (r, r)
        beta = gamma/previous
    """

    @property
    def limits(self) -> Limits:
        """Limits of the directions that are kept."""
        raise TypeError(f"solver {self.name} does not implement limits")

    def iterates(self, workspace: Workspace) -> Iterator[None]:
        device, operators = workspace.device, workspace.operators
        several = as_members(operators["M"], device, workspace.size, workspace.dtype)
        products: Products = (
            several.members[0].sums_on_workers()  # pyright: ignore[reportAttributeAccessIssue]
            if self.sums == WORKERS
            else InnerProducts(several, operators["A"], device, workspace.dtype)
        )
        terms = Terms[Products](several, products, device, workspace.dtype)
        directions = Directions(terms, device, self.limits, device.available_memory(0), workspace)
        operators["M"], operators["D"] = terms, directions
        alone = directions.count == 1
        start, iterate = workspace.lines(self.start, self.single if alone else self.iterate)
        if not alone:
            workspace.declare("alpha", "beta")
            for name in ("alpha", "beta"):
                workspace.set_scalar(name, math.nan)
        return self.recurrence(start, iterate)


@register
@dataclasses.dataclass(frozen=True)
class MPCG(MultipreconditionedCG):
    """CG over the space of all terms: each of k preconditioners gives a search direction in every iteration.

    The terms come from a sum of preconditioners (`schwarz:3x3`, `ic + neumann:2`); from a single one this is CG with
    full orthogonalization. All blocks are kept by default: an iteration is an exact projection, and needs fewer
    iterations than CG with the sum of the same preconditioners, for more work in each.

    Cost: all preconditioners once, A times their terms (those that do not overlap together), A once more; two passes
    over all stored terms. Memory: the terms of all iterations, each on its own unknowns: N words and the overlaps per
    iteration for boxes, k N for preconditioners of all unknowns.

    sums: with `workers` those of a cluster keep the terms of their boxes and compute the inner products and the step in
    a tree (see `domain_decomposition.tree_sums`); this process does the rest, and keeps the terms too.

    Source: Bridson and Greif 2006; Chen 2022, Algorithm 1.
    """

    name: ClassVar[str] = "mpcg"
    title: ClassVar[str] = "multipreconditioned CG"

    keep: int = parameter(0, "blocks that a new one is made orthogonal to; 0 for all", low=0, high=10**6)
    restart: int = parameter(0, "iterations after which all blocks are dropped; 0 for never", low=0, high=10**6)
    sums: str = parameter(HERE, SUMS, choices=(HERE, WORKERS))

    @property
    def spec(self) -> str:
        """The name alone where all blocks are kept."""
        return self.text

    @property
    def limits(self) -> Limits:
        return Limits(self.keep, self.restart)


@register
@dataclasses.dataclass(frozen=True)
class AdaptiveMPCG(MultipreconditionedCG):
    """MPCG that takes a block of directions where the last step gained little, else the sum of its columns.

    An iteration takes all k directions where t < tau, with t = ||P^T r||_2^2 / (r, H r) of the last step, H being the
    sum of the preconditioners. All directions are kept.

    Cost: as `mpcg`, with fewer directions.

    Source: Spillane 2016, Algorithm 5.
    """

    name: ClassVar[str] = "mpcg-adaptive"
    title: ClassVar[str] = "multipreconditioned CG, adaptive"

    tau: float = parameter(10.0, "all directions are taken where the test is below it", low=0.0, high=1e9)
    sums: str = parameter(HERE, SUMS, choices=(HERE, WORKERS))

    @property
    def limits(self) -> Limits:
        return Limits(tau=self.tau)
