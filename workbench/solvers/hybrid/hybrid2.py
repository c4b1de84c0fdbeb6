"""Hybrid-PIPECG-2: redundant updates on the cores, one copy per iteration."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator
from typing import ClassVar

from workbench.devices.pair import PairWorkspace
from workbench.registry import register
from workbench.solvers.hybrid import algorithm as lines
from workbench.solvers.hybrid.base import HybridSolver

PREVIOUS = """
    z = w
    q = w
    s = w
"""
"""The part of `algorithm.PREVIOUS` that the cores need."""

HIDING = """
    q = m + beta*q
    s = w + beta*s
    r = r - alpha*s
    u = u - alpha*q
    gamma = (r, u)
    uu = (u, u)
    rr = (r, r)
"""
"""Lines 11, 12, 15, 16, 18 and 20, which do not depend on n and overlap with its copy."""

NEEDING_N = """
    z = n + beta*z
    w = w - alpha*z
    omega = (u, w)
    m = M(w)
"""
"""Lines 10, 17, 19 and 21."""


@register
@dataclasses.dataclass(frozen=True)
class Hybrid2(HybridSolver):
    """Pipelined CG on an accelerator, with alpha, beta, all dot products and redundant updates of w, r, u on the cores.

    In every iteration only n is copied, N words, overlapped with the redundant updates that do not depend on it. n is
    double buffered on the accelerator, so that its product need not wait for the previous copy. M must be element-wise,
    since both sides apply it. Deflation must project the system.

    Source: Tiwari, Vadhiyar 2021, section IV-B and Figure 2.
    """

    name: ClassVar[str] = "hybrid2"
    title: ClassVar[str] = "hybrid pipelined CG 2: redundant updates on the cores"
    vectors: ClassVar[int] = 14
    both_precondition: ClassVar[bool] = True

    def iterates(self, workspace: PairWorkspace) -> Iterator[None]:
        # n and n_next of the accelerator are both copied to n of the cores; the other vectors are copied once.
        once = "w", "r", "u", "m"
        arrivals = {name: name for name in once} | {"n": "n", "n_next": "n"}
        sides = workspace.sides(arrivals, fused=self.fused, merged=self.merged)
        cpu, accelerator, link = sides.cpu, sides.accelerator, sides.link
        start, product, *alternating = accelerator.lines(
            lines.BEGIN + lines.INITIAL + lines.PREVIOUS + lines.PRECONDITION,
            lines.PRODUCT,
            lines.UPDATES + lines.PRECONDITION + lines.product("n_next"),
            lines.updates("n_next") + lines.PRECONDITION + lines.PRODUCT,
        )
        begin, scalars, hiding, needing_n = cpu.lines(
            lines.BEGIN + PREVIOUS + lines.DOTS, lines.SCALARS, HIDING, NEEDING_N + lines.BETA
        )

        def recurrence() -> Iterator[None]:
            accelerator.run(start)  # line 1
            copy = link.to_host(*once)
            accelerator.run(product)  # line 3
            cpu.wait(copy)
            cpu.run(begin)  # line 2
            yield
            for n, iteration in itertools.cycle(zip(("n", "n_next"), alternating, strict=True)):
                cpu.run(scalars)  # lines 5 to 9
                copy = link.to_host(n)
                accelerator.take(cpu, "alpha", "beta")
                accelerator.run(iteration)  # lines 10 to 17, 21 and 22
                cpu.run(hiding)
                cpu.wait(copy)
                cpu.run(needing_n)
                yield

        return recurrence()
