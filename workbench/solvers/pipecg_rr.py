"""Pipelined conjugate gradients with automatic residual replacement."""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np

from workbench.devices.programs.workspace import Workspace
from workbench.lines.edit import added, with_names
from workbench.registry import register
from workbench.solvers.base import Solver
from workbench.solvers.pipecg import PipelinedCG

ENTRIES = 5
"""Assumed non-zeros per row in the rounding bound of a product, since a recurrence has no access to its matrix."""

BEGIN = """\
bb = (b, b)
xx = (x, x)
ww = (w, w)
size = sqrt(ww/uu)
f = eps*((1 + entries)*size*sqrt(xx) + sqrt(bb))
g = eps*entries*size*sqrt(uu)
h = g
j = 0
slack = sqrt(eps)*sqrt(rr) - f
due = 1
replacements = 0
"""
NORMS = """\
xx = (x, x)
pp = (p, p)
ss = (s, s)
ww = (w, w)
zz = (z, z)
qq = (q, q)
"""
# Each line of the recurrence adds the rounding errors of its sum and product; `back` is the beta that it used.
BOUNDS = """\
step = abs(alpha)
seen = sqrt(ww/uu)
size = seen if seen > size else size
of_j = entries*size*sqrt(mm) + 2*back*(size*sqrt(qq) + sqrt(zz))
j = back*j + eps*of_j
of_g = size*(sqrt(uu) + 2*back*sqrt(pp)) + sqrt(ww) + 2*back*sqrt(ss)
g = h + back*g + eps*of_g
of_f = size*(sqrt(xx) + 2*step*sqrt(pp)) + sqrt(rr) + 2*step*sqrt(ss)
f = f + step*g + eps*of_f
of_h = size*(sqrt(uu) + 2*step*sqrt(qq)) + sqrt(ww) + 2*step*sqrt(zz)
h = h + step*j + eps*of_h
before = slack
slack = sqrt(eps)*sqrt(rr) - f
due = slack if before > 0 else 1
"""
RESET = """\
f = eps*((1 + entries)*size*sqrt(xx) + sqrt(bb))
g = eps*entries*size*sqrt(pp)
h = eps*entries*size*sqrt(uu)
j = eps*entries*size*sqrt(qq)
slack = sqrt(eps)*sqrt(rr) - f
replacements = replacements + 1
"""


@register
@dataclasses.dataclass(frozen=True)
class PipelinedCGWithReplacement(Solver):
    """Pipelined CG that bounds its rounding errors and recomputes r, u, w, s, q and z when the bound is too large.

    f, g, h and j bound the norms of b - A x - r, A p - s, A u - w and A q - z. The norms in them are computed in the
    pass of the dot products. The residual is replaced in the iteration in which f exceeds sqrt(eps) ||r||, which costs
    five additional applications of A and three of M; the direction is kept. `size` estimates ||A|| from the products so
    far.

    The decision synchronizes with the host in every iteration.

    Source: Cools, Yetkin, Agullo, Giraud and Vanroose 2018 for the criterion; the bounds follow from the standard model
    of rounding.
    """

    name: ClassVar[str] = "pipecg-rr"
    title: ClassVar[str] = "pipelined CG with automatic residual replacement"
    uniform_iterations: ClassVar[bool] = False
    curvature_is_recomputed: ClassVar[bool] = False

    start: ClassVar[str] = PipelinedCG.start
    iterate: ClassVar[str] = "\n".join(
        ["back = abs(beta)", added(PipelinedCG.iterate, {"rr": NORMS, "m": "mm = (m, m)"}), BOUNDS]
    )
    replace: ClassVar[str] = """
        s = A(x)
        r = b - s
        u = M(r)
        gamma = (r, u)
        uu = (u, u)
        rr = (r, r)
        w = A(u)
        omega = (u, w)
        beta = gamma/previous
        s = A(p)
        q = M(s)
        z = A(q)
        m = M(w)
        n = A(m)
    """
    identities: ClassVar[Mapping[str, str]] = PipelinedCG.identities
    stored_in: ClassVar[Mapping[str, str]] = PipelinedCG.stored_in

    def texts(self, workspace: Workspace) -> tuple[str, str]:
        start, iterate = super().texts(workspace)
        return _with_bounds(start, workspace.dtype), iterate

    def iterates(self, workspace: Workspace) -> Iterator[None]:
        replacement = f"{textwrap.dedent(self.replace)}\n{RESET}"
        if workspace.inlines("M"):
            replacement = with_names(replacement, self.stored_in)
        start, iterate, replace = workspace.lines(*self.texts(workspace), replacement)

        def recurrence() -> Iterator[None]:
            start()
            yield
            while True:
                iterate()
                if np.real(workspace.scalar("due")) < 0:
                    replace()
                yield

        return recurrence()


def _with_bounds(start: str, dtype: np.dtype) -> str:
    """The start, and the first bounds of its rounding errors."""
    eps = float(np.finfo(dtype).eps) / 2
    return f"{textwrap.dedent(start)}\neps = {eps!r}\nentries = {ENTRIES}\n{BEGIN}"
