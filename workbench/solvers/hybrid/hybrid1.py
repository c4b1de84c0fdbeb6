"""Hybrid-PIPECG-1: dot products on the cores."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import ClassVar

from workbench.devices.pair import PairWorkspace
from workbench.registry import register
from workbench.solvers.hybrid import algorithm as lines
from workbench.solvers.hybrid.base import HybridSolver


@register
@dataclasses.dataclass(frozen=True)
class Hybrid1(HybridSolver):
    """Pipelined CG on an accelerator, with alpha, beta and all dot products on the cores.

    In every iteration w, r and u are copied to the host, 3 N words, overlapped with M and A on the accelerator. M and
    deflation may be any that the accelerator supports. If M is element-wise and `fused` is on, M is fused with the
    updates and the copy overlaps with the product only.

    Source: Tiwari, Vadhiyar 2021, section IV-A and Figure 1.
    """

    name: ClassVar[str] = "hybrid1"
    title: ClassVar[str] = "hybrid pipelined CG 1: dot products on the cores"
    vectors: ClassVar[int] = 13

    def iterates(self, workspace: PairWorkspace) -> Iterator[None]:
        copied = "w", "r", "u"
        sides = workspace.sides({name: name for name in copied}, fused=self.fused, merged=self.merged)
        cpu, accelerator, link = sides.cpu, sides.accelerator, sides.link
        joined = self.fused and workspace.inlines("M")
        start, preconditioned, updates, products = accelerator.lines(
            lines.BEGIN + lines.INITIAL + lines.PREVIOUS,
            lines.PRECONDITION + lines.PRODUCT,
            lines.UPDATES + (lines.PRECONDITION if joined else ""),
            ("" if joined else lines.PRECONDITION) + lines.PRODUCT,
        )
        begin, scalars, dots = cpu.lines(lines.BEGIN + lines.DOTS, lines.SCALARS, lines.DOTS + lines.BETA)

        def recurrence() -> Iterator[None]:
            accelerator.run(start)  # line 1
            copy = link.to_host(*copied)
            accelerator.run(preconditioned)  # line 3
            cpu.wait(copy)
            cpu.run(begin)  # line 2
            yield
            while True:
                cpu.run(scalars)  # lines 5 to 9
                accelerator.take(cpu, "alpha", "beta")
                accelerator.run(updates)  # lines 10 to 17
                copy = link.to_host(*copied)
                accelerator.run(products)  # lines 21 and 22
                cpu.wait(copy)
                cpu.run(dots)  # lines 18 to 20
                yield

        return recurrence()
