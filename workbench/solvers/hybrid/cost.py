"""The cost of a schedule: modelled seconds of an iteration, from the schedule's own dry run and measured rates."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np

from workbench.devices.clock import ACCELERATOR, CPU, TO_DEVICE, TO_HOST, earliest
from workbench.devices.dry_run import Cut, Sizes, cut_for_share, execute, steady_seconds
from workbench.devices.dry_run.sizes import DOUBLE, blocks
from workbench.devices.pair import Rates
from workbench.lines.schedule import operator_of
from workbench.solvers.base import Solver
from workbench.solvers.hybrid.hybrid3 import Hybrid3

ROWS = 1 << 20
"""Rows of each side in the dry run that counts words: more than there are scalars, whose copies count no words."""
FEWEST_ROWS = 4
"""Rows of the smallest system that can be split; a smaller one counts as such."""
BLOCKS = ("A1", "A2")
"""The products of hybrid 3 with the local and the remote block."""


@dataclasses.dataclass(frozen=True)
class ScheduledEvent:
    """A kernel or copy of a schedule, for systems of any size.

    words: vector elements read and written per row of its side, 0 for products; launches: of an accelerator, those that
    add sums or set scalars included; after: indices of the events that it waits for.
    """

    name: str
    lane: str
    words: int
    launches: int
    iteration: int
    after: tuple[int, ...]


class _Recorder:
    """A recorder of the events of a dry run. rows: of each side."""

    origin = 0.0

    def __init__(self, rows: int) -> None:
        self.found: list[ScheduledEvent] = []
        self.count = 0
        self._row = rows * DOUBLE.itemsize
        self._kernels: list[tuple[str, str, int]] = []

    def kernel(self, name: str, lane: str, bytes_moved: int = 0, flops: int = 0) -> int:
        words = 0 if operator_of(name) in ("A", *BLOCKS) else bytes_moved // self._row
        self._kernels.append((name, lane, words))
        return len(self._kernels) - 1

    def add(self, kernel: int, start: float, end: float, iteration: int = 0, after: tuple[int, ...] = ()) -> int:
        name, lane, words = self._kernels[kernel]
        launches = round(end - start) if lane == ACCELERATOR else 0
        self.found.append(ScheduledEvent(name, lane, words, launches, iteration, after))
        self.count += 1
        return self.count - 1


@functools.lru_cache(maxsize=64)
def scheduled_events(solver: Solver, *, cores: bool = False) -> tuple[ScheduledEvent, ...]:
    """The kernels and copies of the start and of some iterations with Jacobi, in the order in which they are issued.

    cores: where a solver for one device runs. Cost: planning the lines, some milliseconds, once per schedule.
    """
    cut = Cut(ROWS, ROWS, 0, 1) if isinstance(solver, Hybrid3) else None
    recorder = _Recorder(ROWS)
    execute(solver, Sizes(2 * ROWS if cut else ROWS, 2 * ROWS), recorder, cores=cores, cut=cut)
    return tuple(recorder.found)


def iteration_seconds(solver: Solver, rates: Rates, sizes: Sizes, *, cores: bool = False) -> float:
    """Modelled seconds of an iteration in the steady state: for choosing a schedule, not a prediction.

    A pass takes bytes/bandwidth and a launch, a copy bytes/bandwidth and a latency, a launch for scalars its latency, a
    matrix-vector product its measured time, a block of A as much of it as its part of the bytes. Events start as early
    as possible, in order within each lane and after what they wait for.

    M counts as Jacobi. Rows of hybrid 3 are split by the measured products as a box stencil on a cube would be, and its
    copies count as whole halves of m, since its ghosts are unknown before the rows are split.
    """
    sizes = dataclasses.replace(sizes, size=max(sizes.size, FEWEST_ROWS), entries=max(sizes.entries, FEWEST_ROWS))
    cut = None
    if isinstance(solver, Hybrid3):
        solver, cut = dataclasses.replace(solver, halves=True), _balanced(rates, sizes)
    found = scheduled_events(solver, cores=cores)
    recorded = rates.repeated and not solver.needs_accelerator and not cores
    launch = 0.0 if recorded else rates.accelerator_launch
    seconds = _Seconds(rates, sizes, cut)
    spans = earliest((event.lane, seconds(event) + event.launches * launch, event.after) for event in found)
    ends = np.array([end for _, end in spans])
    steady = steady_seconds(np.array([event.iteration for event in found]), ends)
    return steady + rates.accelerator_launch if recorded else steady


def event_bytes(event: ScheduledEvent, sizes: Sizes, cut: Cut | None = None) -> int:
    """Bytes that an event moves in a system of these sizes, with A in CSR form; scalars are not counted."""
    on_cores = event.lane in (CPU, TO_DEVICE)
    if operator_of(event.name) == "A":
        return sizes.product_bytes
    if cut and operator_of(event.name) in BLOCKS:
        return blocks(sizes, cut)[0 if on_cores else 1][BLOCKS.index(operator_of(event.name))].nbytes
    rows = sizes.size if cut is None else cut.rows if on_cores else sizes.size - cut.rows
    return event.words * rows * sizes.dtype.itemsize


def _balanced(rates: Rates, sizes: Sizes) -> Cut:
    """The row split that balances the measured products."""
    share = rates.product_cpu / (rates.product_cpu + rates.product_accelerator)
    return cut_for_share(sizes, min(max(share, 2 / sizes.size), 1 - 2 / sizes.size))


class _Seconds:
    """Seconds of an event without launches on the accelerator."""

    def __init__(self, rates: Rates, sizes: Sizes, cut: Cut | None) -> None:
        self._rates, self._sizes, self._cut = rates, sizes, cut

    def __call__(self, event: ScheduledEvent) -> float:
        rates, nbytes = self._rates, event_bytes(event, self._sizes, self._cut)
        if event.lane == TO_HOST:
            return rates.to_host_latency + nbytes / rates.to_host_bandwidth
        if event.lane == TO_DEVICE:
            return rates.to_device_latency + nbytes / rates.to_device_bandwidth
        product = rates.product_cpu if event.lane == CPU else rates.product_accelerator
        if operator_of(event.name) == "A":
            return product
        if operator_of(event.name) in BLOCKS:
            return product * rates.assembled * nbytes / self._sizes.product_bytes
        if event.lane == ACCELERATOR:
            return nbytes / rates.accelerator_bandwidth
        return rates.cpu_launch + nbytes / rates.cpu_bandwidth if nbytes else 0.0
