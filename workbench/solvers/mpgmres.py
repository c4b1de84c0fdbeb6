"""Multipreconditioned GMRES: the least residual over the terms of several preconditioners."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from workbench.registry import parameter, register
from workbench.solvers.mpcg import Multipreconditioned
from workbench.solvers.multi.directions import Terms
from workbench.solvers.multi.members import as_members
from workbench.solvers.multi.residual_steps import FULL, RESIDUAL, SUM, Growth, ResidualSteps

if TYPE_CHECKING:
    from workbench.devices.programs.workspace import Workspace

SPACE = "vectors that all preconditioners are applied to"


@register
@dataclasses.dataclass(frozen=True)
class MPGMRES(Multipreconditioned):
    """x + Z y with the least 2-norm of b - A x over the terms Z of k preconditioners, by Arnoldi: A Z = V H.

    The first terms are M_i^-1 r. With space=full every M_i^-1 is then applied to each newest vector of V, and Z grows
    by up to k times as many terms in each iteration, as in the source. The two selective forms here apply every M_i^-1
    to one vector, so that Z grows by k: space=sum to the sum of the newest vectors of V; space=residual, the default,
    to the present residual, as MPCG does. A step that leaves r as it is makes the next one take the sum. With one
    preconditioner all three are GMRES, preconditioned from the right.

    For Hermitian positive definite A; neither A nor the M_i^-1 have to be so for the least residual, but the workbench
    ends runs where (d, A d) is negative.

    Cost of an iteration with m new terms, k in selective forms: A for each of them and for the step, 4 m + 1 passes
    over V, one over Z; each preconditioner m/k times, and with space=sum or full once more for the norms of M^-1 r.
    Memory: N words for each term, in addition to the term.

    Raises InputError where the vectors of one iteration, or of `restart` ones with space=full, do not fit the memory.

    Source: Greif, Rees and Szyld 2017.
    """

    name: ClassVar[str] = "mpgmres"
    title: ClassVar[str] = "multipreconditioned GMRES"
    also: ClassVar[tuple[str, ...]] = ("smpgmres", "gmres", "fgmres")

    iterate: ClassVar[str] = """
        d = D(r)
        s = A(d)
        curvature = (d, s)
        image = (s, s)
        delta = curvature if image > 0 else 1
        step = 1 if delta > 0 else 0
        x = x + step*d
        r = r - step*s
        u = M(r)
        gamma = (r, u)
        uu = (u, u)
        rr = (r, r)
    """

    space: str = parameter(RESIDUAL, SPACE, choices=(RESIDUAL, SUM, FULL))
    restart: int = parameter(0, "iterations after which all terms are dropped; 0 for never", low=0, high=10**6)

    @property
    def spec(self) -> str:
        """The name alone where both are the defaults."""
        return self.text

    def iterates(self, workspace: Workspace) -> Iterator[None]:
        device, operators = workspace.device, workspace.operators
        several = as_members(operators["M"], device, workspace.size, workspace.dtype)
        terms = Terms(several, several, device, workspace.dtype)
        growth, room = Growth(self.space, self.restart), device.available_memory(0)
        steps = ResidualSteps(terms, operators["A"], device, growth, room, workspace)
        operators["M"], operators["D"] = terms, steps
        start, iterate = workspace.lines(self.start, self.iterate)
        workspace.declare("alpha", "beta")
        for name in ("alpha", "beta"):
            workspace.set_scalar(name, math.nan)
        return self.recurrence(start, iterate)
