"""The cost of a schedule: modelled seconds of an iteration, from the schedule's own dry run and measured rates."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np

from workbench.devices.clock import ACCELERATOR, CPU, TO_DEVICE, TO_HOST, earliest
from workbench.devices.dry_run import Cut, Sizes, cut_for_share, execute, steady_seconds
from workbench.devices.pair import Rates
from workbench.solvers.base import Solver
from workbench.solvers.hybrid.hybrid3 import Hybrid3

FEWEST_ROWS = 4
"""A smaller system counts as one of so many rows, which can be split."""


@dataclasses.dataclass(frozen=True)
class Step:
    """A kernel or copy of a schedule. bytes: read and written; after: indices of the steps that it waits for.

    A kernel on the accelerator has `launches`: those that add sums or set scalars are counted as well.
    """

    name: str
    lane: str
    bytes: int
    launches: int
    iteration: int
    after: tuple[int, ...]


class _Steps:
    """A recorder of steps."""

    origin = 0.0

    def __init__(self) -> None:
        self.found: list[Step] = []
        self._kernels: list[tuple[str, str, int]] = []

    @property
    def count(self) -> int:
        return len(self.found)

    def kernel(self, name: str, lane: str, bytes_moved: int = 0, flops: int = 0) -> int:
        self._kernels.append((name, lane, bytes_moved))
        return len(self._kernels) - 1

    def add(self, kernel: int, start: float, end: float, iteration: int = 0, after: tuple[int, ...] = ()) -> int:
        name, lane, nbytes = self._kernels[kernel]
        launches = round(end - start) if lane == ACCELERATOR else 0
        self.found.append(Step(name, lane, nbytes, launches, iteration, after))
        return len(self.found) - 1


@functools.lru_cache(maxsize=256)
def steps(solver: Solver, sizes: Sizes, *, cores: bool = False, cut: Cut | None = None) -> tuple[Step, ...]:
    """The kernels and copies of the start and of some iterations with Jacobi, in the order in which they are issued.

    cores: where a solver for one device runs. cut: the row split of hybrid 3. Cost: planning the lines, some
    milliseconds, once per schedule and size.
    """
    recorder = _Steps()
    execute(solver, sizes, recorder, cores=cores, cut=cut)
    return tuple(recorder.found)


def iteration_seconds(solver: Solver, rates: Rates, sizes: Sizes, *, cores: bool = False) -> float:
    """Modelled seconds of an iteration in the steady state: for choosing a schedule, not a prediction.

    A pass takes bytes/bandwidth and a launch, a copy bytes/bandwidth and a latency, a launch for scalars its latency, a
    product with A its measured time. Steps start as early as possible, in order within each lane and after what they
    wait for. Products with a block of A take the part of the measured time that they have of its bytes.

    M counts as Jacobi. Rows of hybrid 3 are split by the measured products as a box stencil on a cube would be, and its
    copies count as whole halves of m, since its ghosts are unknown before the rows are split.
    """
    sizes = dataclasses.replace(sizes, size=max(sizes.size, FEWEST_ROWS), entries=max(sizes.entries, FEWEST_ROWS))
    cut = None
    if isinstance(solver, Hybrid3):
        solver = dataclasses.replace(solver, halves=True)
        cut = _balanced(rates, sizes)
    found = steps(solver, sizes, cores=cores, cut=cut)
    recorded = rates.repeated and not solver.needs_accelerator and not cores
    launch = 0.0 if recorded else rates.accelerator_launch
    events = [(step.lane, _seconds(step, rates, launch, sizes.product_bytes), step.after) for step in found]
    ends = np.array([end for _, end in earliest(events)])
    seconds = steady_seconds(np.array([step.iteration for step in found]), ends)
    return seconds + rates.accelerator_launch if recorded else seconds


def _balanced(rates: Rates, sizes: Sizes) -> Cut:
    """The row split that balances the measured products."""
    share = rates.product_cpu / (rates.product_cpu + rates.product_accelerator)
    return cut_for_share(sizes, min(max(share, 2 / sizes.size), 1 - 2 / sizes.size))


def _seconds(step: Step, rates: Rates, launch: float, whole: int) -> float:
    """launch: seconds of a launch on the accelerator; whole: bytes of a product with the assembled matrix."""
    if step.lane == TO_HOST:
        return rates.to_host_latency + step.bytes / rates.to_host_bandwidth
    if step.lane == TO_DEVICE:
        return rates.to_device_latency + step.bytes / rates.to_device_bandwidth
    bandwidth, product = (
        (rates.cpu_bandwidth, rates.product_cpu)
        if step.lane == CPU
        else (rates.accelerator_bandwidth, rates.product_accelerator)
    )
    if step.name == "A":
        moving = product
    elif step.name in ("A1", "A2"):
        moving = product * rates.assembled * step.bytes / whole
    else:
        moving = step.bytes / bandwidth
        moving += rates.cpu_launch if step.lane == CPU and step.bytes else 0.0
    return moving + step.launches * launch
