"""CG in two kernels an iteration (Rupp, Weinbub, Jüngel, Grasser)."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import ClassVar

from workbench.devices.programs.workspace import Workspace
from workbench.lines.schedule import Inlined
from workbench.registry import register
from workbench.solvers.base import Solver

SQUARE, BETA = "square = (s, q)", "beta = alpha*alpha*square/gamma - 1"
"""Lines that change where M is a number."""


@register
@dataclasses.dataclass(frozen=True)
class TwoKernelCG(Solver):
    """CG with one reduction whose iteration is two kernels: all vector updates, and the product with A.

    beta = alpha^2 (s, q)/(r, u) - 1 with q = M^-1 s, `square` being (s, q), so that p changes in the pass of x and r.
    The dot products of the next alpha and beta are of p and s, which the kernel of the product has at hand; (r, u) is
    computed from r. Where M is a number, as without a preconditioner, an iteration is two passes; any other M takes a
    pass for (s, q).

    Source: Rupp, Weinbub, Jüngel and Grasser 2016, without a preconditioner.
    """

    name: ClassVar[str] = "two-kernel-cg"
    title: ClassVar[str] = "CG in two kernels (Rupp et al.)"
    also: ClassVar[tuple[str, ...]] = ("rupp", "fused-cg")
    curvature_is_recomputed: ClassVar[bool] = False
    # alpha = 0 gives beta = -1, so after a breakdown the direction of delta is u - p.
    direction: ClassVar[str] = "u - p"

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
    """
    iterate: ClassVar[str] = """
        delta = curvature
        alpha = gamma/delta if delta > 0 else 0
        beta = alpha*alpha*square/gamma - 1
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
    """
    # Where M is element-wise, u and q are formulas.
    identities: ClassVar[Mapping[str, str]] = {"u": "M(r)"}

    def texts(self, workspace: Workspace) -> tuple[str, str]:
        start, iterate = super().texts(workspace)
        M = workspace.operators["M"]
        # A stepper, which shows the lines as they are, inlines nothing.
        if not workspace.inlines("M") or not isinstance(M, Inlined) or M.factors:
            return start, iterate
        # Now (s, q) follows from (s, s), which is computed along with the product.
        multiple = re.sub(r"\bv\b", "square", M.formula)
        changed = {SQUARE: "square = (s, s)", BETA: f"beta = alpha*alpha*({multiple})/gamma - 1", "q = M(s)": ""}
        return _with_lines(start, changed), _with_lines(iterate, changed)


def _with_lines(text: str, changed: Mapping[str, str]) -> str:
    """The text with other lines in place of some, none for an empty one."""
    stripped = map(str.strip, text.splitlines())
    lines = (changed.get(line, line) for line in stripped)
    return "\n".join(line for line in lines if line)
