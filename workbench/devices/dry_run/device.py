"""Cores, an accelerator, and both together, none of which is there: programs are planned and nothing is run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from workbench.devices.base import DeviceBase
from workbench.devices.dry_run.products import Cut, Sizes, parts
from workbench.devices.dry_run.runtime import Nothing, Unfilled
from workbench.devices.kernels.prelude import ROOM
from workbench.devices.lines import plan
from workbench.devices.lines.workspace import Workspace
from workbench.devices.pair.lanes import AcceleratorSide, CpuSide, Lanes, Link, Part
from workbench.devices.pair.split import SUMS


class Side(DeviceBase):
    """One device. launch: what a step on it tells the runtime; cores tell nothing."""

    def __init__(self, runtime: Nothing, *, accelerator: bool) -> None:
        self.runtime, self.accelerator = runtime, accelerator
        self._launch: Callable[[], None] = runtime.launch if accelerator else _nothing

    def zeros(self, size: int, dtype: np.dtype) -> Unfilled:
        return Unfilled(size, dtype)

    def scalars(self, count: int, dtype: np.dtype) -> Unfilled:
        """An accelerator has room for what stops it as well."""
        return Unfilled(max(count, ROOM) if self.accelerator else count, dtype)

    def read_scalar(self, scalars: Unfilled, slot: int) -> float:
        return 0.0

    def write_scalar(self, scalars: Unfilled, slot: int, value: complex) -> None:
        self._launch()

    def bind_steps(
        self, steps: Sequence[plan.Step], workspace: Any, vectors: Collection[str], kernels: dict[int, Any]
    ) -> list[Callable[[], None]]:
        """One call a step that runs nothing. The vectors that the steps would work on are made, to be counted."""
        for name in plan.touched(steps):
            workspace.vector(name)
        return [self._launch if _launches(step, first=step is steps[0]) else _nothing for step in steps]

    def together(self, runs: list[Callable[[], None]], workspace: Any) -> list[Callable[[], None]]:
        return runs


class PairWorkspace(Workspace):
    """The accelerator's side, as `pair.PairWorkspace`."""

    def lanes(self, arrivals: Mapping[str, str], *, fused: bool, merged: bool) -> Lanes:
        self.fuse = fused
        device, size, dtype = self.device, self.size, self.dtype
        near = device.cores.workspace(
            size,
            dtype,
            vectors={name: Unfilled(size, dtype) for name in arrivals.values()},
            operators={"M": self.operators["M"]},
            fuse=merged,
            clock=self.clock,
        )
        places: Any = {name: Part(near.vectors[there]) for name, there in arrivals.items()}
        cpu, accelerator = CpuSide(near), AcceleratorSide(self)
        return Lanes(cpu, accelerator, Link(cpu, accelerator, places, {}))


class Pair(Side):
    """An accelerator that holds the whole system, and the cores, as `pair.Pair`."""

    Space = PairWorkspace

    def __init__(self, runtime: Nothing) -> None:
        super().__init__(runtime, accelerator=True)
        self.cores = Side(runtime, accelerator=False)


class SplitWorkspace(Workspace):
    """The whole system until it is shared out, as `pair.SplitWorkspace`."""

    far: Workspace

    def lanes(self, *, fused: bool, merged: bool, halves: bool) -> Lanes:
        device, cut = self.device, self.device.cut
        rows, others = cut.rows, self.size - cut.rows
        here, there = parts(device.sizes, cut)
        near = self._half(device, rows, here, [f"{name}_there" for name in SUMS], fuse=merged)
        far = self._half(device.other, others, there, (), fuse=fused)
        self.far = far
        cpu, other = CpuSide(near), AcceleratorSide(far)
        to_host, to_device = (others, rows) if halves else (min(cut.border, others), min(cut.border, rows))
        arriving, leaving = (_part(size, self.dtype) for size in (to_host, to_device))
        arrived: Any = Unfilled(rows, self.dtype)
        return Lanes(cpu, other, Link(cpu, other, {"m": arriving}, {"m": (leaving, arrived)}))

    def _half(self, side: Side, rows: int, products: tuple[Any, Any], scalars: Sequence[str], *, fuse: bool) -> Any:
        M: Any = self.operators["M"]
        factors = {name: Unfilled(rows, self.dtype) for name in M.factors}
        return Workspace(
            side,
            rows,
            self.dtype,
            vectors={name: Unfilled(rows, self.dtype) for name in ("b", "x", "m")},
            operators={"A1": products[0], "A2": products[1], "M": type(M)(M.formula, factors)},
            scalars=scalars,
            fuse=fuse,
            clock=self.clock,
        )


class Split(Side):
    """Both with the rows distributed over them, as `pair.Split`."""

    Space = SplitWorkspace

    def __init__(self, runtime: Nothing, sizes: Sizes, cut: Cut) -> None:
        super().__init__(runtime, accelerator=False)
        self.sizes, self.cut = sizes, cut
        self.other = Side(runtime, accelerator=True)


def _launches(step: plan.Step, *, first: bool) -> bool:
    """Scalar lines on an accelerator are evaluated where the sums of the step before them are added up."""
    return isinstance(step, plan.Apply) or bool(step.body) or first


def _nothing() -> None:
    pass


def _part(size: int, dtype: np.dtype) -> Part:
    host: Any = Unfilled(size, dtype)
    return Part(host)
