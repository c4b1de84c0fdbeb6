"""Shape-only cores, accelerator, and both together: programs are planned and nothing is run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from workbench.devices.base import DeviceBase
from workbench.devices.dry_run.products import Cut, Sizes, blocks
from workbench.devices.dry_run.runtime import Nothing, Unfilled
from workbench.devices.lines.workspace import Workspace
from workbench.devices.pair.lanes import AcceleratorSide, CpuSide, Lanes, Link, Part
from workbench.devices.pair.split import SUMS
from workbench.devices.pair.workspaces import PairWorkspace, SplitWorkspace
from workbench.lines import schedule
from workbench.lines.types import Shapes


class Side(DeviceBase):
    """One device. A step on an accelerator counts as a launch of the runtime."""

    def __init__(self, runtime: Nothing, *, accelerator: bool) -> None:
        self.runtime, self.accelerator = runtime, accelerator
        self._launch: Callable[[], None] = runtime.launch if accelerator else _nothing

    def zeros(self, size: int, dtype: np.dtype) -> Unfilled:
        return Unfilled(size, dtype)

    def scalars(self, count: int, dtype: np.dtype) -> Unfilled:
        return Unfilled(count, dtype)

    def read_scalar(self, scalars: Unfilled, slot: int) -> float:
        return 0.0

    def write_scalar(self, scalars: Unfilled, slot: int, value: complex) -> None:
        self._launch()

    def bind_steps(
        self, steps: Sequence[schedule.Step], workspace: Any, shapes: Shapes, kernels: dict[int, Any]
    ) -> list[Callable[[], None]]:
        """One call a step that runs nothing. The vectors that the steps would work on are made, to be counted."""
        for name in schedule.touched(steps):
            workspace.vector(name)
        return [self._launch if _launches(step, first=step is steps[0]) else _nothing for step in steps]

    def together(self, runs: list[Callable[[], None]], workspace: Any) -> list[Callable[[], None]]:
        return runs


class Pair(Side):
    """An accelerator that holds the whole system, and the cores, as `pair.Pair`."""

    Space = PairWorkspace

    def __init__(self, runtime: Nothing) -> None:
        super().__init__(runtime, accelerator=True)
        self.cores = Side(runtime, accelerator=False)

    def host_side(self, space: Workspace, names: Iterable[str], *, fuse: bool) -> Workspace:
        """A workspace of the cores with vectors of these names, and M."""
        return self.cores.workspace(
            space.size,
            space.dtype,
            vectors={name: Unfilled(space.size, space.dtype) for name in names},
            operators={"M": space.operators["M"]},
            fuse=fuse,
            clock=space.clock,
        )


class Split(Side):
    """Both with the rows distributed over them, as `pair.Split`."""

    Space = SplitWorkspace

    def __init__(self, runtime: Nothing, sizes: Sizes, cut: Cut) -> None:
        super().__init__(runtime, accelerator=False)
        self.sizes, self.cut = sizes, cut
        self.other = Side(runtime, accelerator=True)

    def distribute(self, space: Workspace, *, fused: bool, merged: bool, halves: bool) -> Lanes:
        """Both halves of a workspace, with the operators A1 and A2 of section IV-C.2."""
        cut, dtype = self.cut, space.dtype
        rows, others = cut.rows, space.size - cut.rows
        near_blocks, far_blocks = blocks(self.sizes, cut)
        near = _half(self, space, rows, near_blocks, [f"{name}_there" for name in SUMS], fuse=merged)
        far = _half(self.other, space, others, far_blocks, (), fuse=fused)
        cpu, other = CpuSide(near), AcceleratorSide(far)
        to_host, to_device = (others, rows) if halves else (min(cut.border, others), min(cut.border, rows))
        arriving, leaving = (_part(size, dtype) for size in (to_host, to_device))
        arrived: Any = Unfilled(rows, dtype)
        return Lanes(cpu, other, Link(cpu, other, {"m": arriving}, {"m": (leaving, arrived)}))


def _half(
    side: Side, space: Workspace, rows: int, products: tuple[Any, Any], scalars: Sequence[str], *, fuse: bool
) -> Workspace:
    M: Any = space.operators["M"]
    factors = {name: Unfilled(rows, space.dtype) for name in M.factors}
    return Workspace(
        side,
        rows,
        space.dtype,
        vectors={name: Unfilled(rows, space.dtype) for name in ("b", "x", "m")},
        operators={"A1": products[0], "A2": products[1], "M": type(M)(M.formula, factors)},
        scalars=scalars,
        fuse=fuse,
        clock=space.clock,
    )


def _launches(step: schedule.Step, *, first: bool) -> bool:
    """Scalar lines on an accelerator are evaluated where the sums of the step before them are added up."""
    return isinstance(step, schedule.Apply) or bool(step.body) or first


def _nothing() -> None:
    pass


def _part(size: int, dtype: np.dtype) -> Part:
    host: Any = Unfilled(size, dtype)
    return Part(host)
