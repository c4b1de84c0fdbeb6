"""Hybrid-PIPECG-3: a row decomposition between cores and accelerator by a performance model."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import ClassVar

from workbench.devices.accelerator.device import as_accelerator
from workbench.devices.pair import SUMS, SplitWorkspace, split_of
from workbench.devices.pair.sides import Copy
from workbench.devices.protocol import Device
from workbench.errors import InputError
from workbench.operators import Operator, Size
from workbench.registry import parameter, register
from workbench.solvers.hybrid import algorithm as lines
from workbench.solvers.hybrid.base import HybridSolver

# Both sides run these lines, each on its rows. m = x and m = u let the initial products use the exchange of m. In the
# first iteration beta = 0, so the initial values of z, q, s and p have no effect.
EXCHANGE_X = """
    m = x
"""
AFTER_X = """
    s = A2(v)
    r = b - s
    u = M(r)
    gamma_part = (r, u)
    uu_part = (u, u)
    rr_part = (r, r)
    m = u
"""
AFTER_U = """
    w = A2(v)
    omega_part = (u, w)
    m = M(w)
    z = w
    q = w
    p = w
"""
UPDATES = """
    q = m + beta*q
    s = w + beta*s
    p = u + beta*p
    x = x + alpha*p
    r = r - alpha*s
    u = u - alpha*q
    gamma_part = (r, u)
    uu_part = (u, u)
    rr_part = (r, r)
"""
"""Lines 11 to 16, 18 and 20, which do not depend on n."""
PART1 = """
    v = A1(m)
"""
"""The product with the local (diagonal) block, which needs the local m only."""
PART2 = """
    n = A2(v)
    z = n + beta*z
    w = w - alpha*z
    omega_part = (u, w)
    m = M(w)
"""
"""n = v + the product with the remote (off-diagonal) block, then lines 10, 17, 19 and 21."""
TOTALS = """
    gamma = gamma_part + gamma_there
    omega = omega_part + omega_there
    uu = uu_part + uu_there
    rr = rr_part + rr_there
"""
"""The cores add the partial sums of both sides: lines 18 to 20."""


@register
@dataclasses.dataclass(frozen=True)
class Hybrid3(HybridSolver):
    """Pipelined CG with the rows of A and of all vectors split between the cores and an accelerator.

    The split follows the speeds of both sides, measured by five products, or `share`. Both halves of m are copied
    concurrently, N words in all, overlapped with the updates that do not depend on n, their dot products and the
    product with the local block. A matrix that does not fit the accelerator is possible: its share is then what fits,
    and the speeds are measured on a sample of the rows. M must be element-wise; deflation is not supported. If few
    unknowns couple across the split, as in a band matrix, `halves=no` copies far less than the paper's N words.

    Cost of the setup: 12 products, and the copy of the accelerator's rows. A matrix-free stencil is assembled first.

    Source: Tiwari, Vadhiyar 2021, section IV-C and Figures 3 and 4.
    """

    name: ClassVar[str] = "hybrid3"
    title: ClassVar[str] = "hybrid pipelined CG 3: rows on both sides"
    vectors: ClassVar[int] = 13
    """Vectors of the rows on the accelerator: those of the recurrence, and 1/D of a Jacobi preconditioner."""
    both_precondition: ClassVar[bool] = True
    deflates: ClassVar[bool] = False
    stores_rows: ClassVar[bool] = True

    share: float = parameter(0.0, "the accelerator's part of the non-zeros; 0 measures it", low=0.0, high=1.0)
    halves: bool = parameter(True, "copy whole halves of m, as the paper does, and not only what the other side reads")

    def check_memory(self, device: Device, operator: Operator | Size) -> None:
        """No bound: the rows that do not fit the device stay on the cores."""

    def device_for(self, device: Device, operator: Operator) -> Device:
        """The row decomposition. Raises InputError if a side has no row, or if the entries of A are not available."""
        if operator.nnz is None:
            raise InputError(
                "solver hybrid3 shares out the rows of A, and a LinearOperator does not show them; "
                "pass a sparse matrix, or use solver hybrid2"
            )
        return split_of(as_accelerator(device), operator, self.share or None, self.vectors)

    def iterates(self, workspace: SplitWorkspace) -> Iterator[None]:
        sides = workspace.sides(fused=self.fused, merged=self.merged, halves=self.halves)
        cpu, accelerator, link, others = sides.cpu, sides.accelerator, sides.link, sides.others
        both = {
            "part1": PART1,
            "exchange_x": lines.BEGIN + EXCHANGE_X,
            "after_x": AFTER_X,
            "after_u": AFTER_U,
            "updates": UPDATES,
            "part2": PART2,
        }
        there = dict(zip(both, accelerator.lines(*both.values()), strict=True))
        *half, begin, scalars, totals = cpu.lines(*both.values(), TOTALS, lines.SCALARS, TOTALS + lines.BETA)
        here = dict(zip(both, half, strict=True))
        sums = {f"{name}_part": f"{name}_there" for name in SUMS}

        # Accelerator work that does not depend on the cores is enqueued first and overlaps with theirs. Each side waits
        # for both copies: part 2 reads the result of one and overwrites the source of the other. On ranks it also waits
        # for ghosts, which travel while the cores have the product with their local block.

        def finish_there(after: str, *copies: Copy) -> list[Copy]:
            accelerator.wait(*copies)
            accelerator.run(there[after])
            return [link.sums_to_host(**sums)] if "omega_part" in both[after] else []

        def across(copies: tuple[Copy, Copy], after: str, *before: str) -> list[Copy]:
            """Run all that needs no copy, then `after`; returns the copy of the accelerator's sums, if they are new."""
            accelerator.run(*(there[name] for name in (*before, "part1")))
            ready = finish_there(after, *copies) if others is None else []
            cpu.run(*(here[name] for name in before))
            if others is not None:
                cpu.wait(copies[0])
                others.send()
            cpu.run(here["part1"])
            cpu.wait(*copies)
            if others is not None:
                ready = finish_there(after, *copies, others.receive())
            cpu.run(here[after])
            return ready

        def exchanged() -> tuple[Copy, Copy]:
            return link.to_host("m"), link.to_device("m")

        def recurrence() -> Iterator[None]:
            accelerator.run(there["exchange_x"])
            cpu.run(here["exchange_x"])
            across(exchanged(), "after_x")  # line 1: r, u
            cpu.wait(*across(exchanged(), "after_u"))  # line 1: w; line 3: m
            cpu.run(begin)  # line 2
            yield
            while True:
                cpu.run(scalars)  # lines 5 to 9
                copies = exchanged()
                accelerator.take(cpu, "alpha", "beta")
                # Lines 11 to 16, 18 and 20; line 22 with the local m; the rest of line 22, and lines 10, 17, 19 and 21.
                cpu.wait(*across(copies, "part2", "updates"))
                cpu.run(totals)  # lines 18 to 20: the sums of both sides, and of all ranks
                yield

        return recurrence()
