"""Selection of the fastest hybrid schedule for a machine and a matrix.

`iteration_seconds` models an iteration from a dry run of the schedule and the rates of the machine; `HybridAuto` is the
solver that chooses by it.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from workbench import devices
from workbench.devices.accelerator.device import as_accelerator
from workbench.devices.clock import ACCELERATOR, CPU, TO_DEVICE, TO_HOST, earliest
from workbench.devices.dry_run import Cut, Sizes, cut_for_share, execute, steady_seconds
from workbench.devices.dry_run.sizes import DOUBLE, blocks
from workbench.devices.pair import Rates, measure, measured_rates, product_seconds, profile_rates
from workbench.devices.protocol import Device
from workbench.devices.traffic import product_bytes
from workbench.errors import InputError
from workbench.lines.schedule import operator_of
from workbench.operators import Operator, Size, stored_bytes
from workbench.registry import parameter, register
from workbench.solvers.base import MethodTraits, Solver, SolverSelection
from workbench.solvers.hybrid.base import HybridSolver
from workbench.solvers.hybrid.hybrid1 import Hybrid1
from workbench.solvers.hybrid.hybrid2 import Hybrid2
from workbench.solvers.hybrid.hybrid3 import Hybrid3
from workbench.solvers.pipecg import PipelinedCG

ROWS = 1 << 20
"""Rows of each side in the dry run that counts words: more than there are scalars, whose copies count no words."""
FEWEST_ROWS = 4
"""Rows of the smallest system that can be split; a smaller one is modelled with this size."""
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
    """A recorder of the events of a dry run. rows: of each side. Times of a dry run count launches."""

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

    cores: True if a solver for one device runs on the cores. Cost: some milliseconds for planning, once per schedule.
    """
    cut = Cut(ROWS, ROWS, 0, 1) if isinstance(solver, Hybrid3) else None
    recorder = _Recorder(ROWS)
    execute(solver, Sizes(2 * ROWS if cut else ROWS, 2 * ROWS), recorder, cores=cores, cut=cut)
    return tuple(recorder.found)


def iteration_seconds(solver: Solver, rates: Rates, sizes: Sizes, *, cores: bool = False) -> float:
    """Modelled seconds of an iteration in the steady state, for choosing a schedule; no prediction.

    A pass takes bytes/bandwidth and a launch; a copy takes bytes/bandwidth and a latency; a launch for scalars takes
    its latency; a matrix-vector product takes its measured time, and a block of A the share of that time that it has of
    the bytes. Events start as early as possible, in order within each lane and after those that they wait for.

    M is Jacobi. Rows of hybrid 3 are split by the measured products as those of a box stencil on a cube. Its copies
    are complete halves of m, since its ghosts are unknown before the rows are split.
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
    """The modelled seconds of an event, without launches on the accelerator."""

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


ALONE = "pipecg"
"""Pipelined CG on the accelerator alone, by its name in the model."""
CORES = "pipecg-cpu"
"""Pipelined CG on the cores alone."""


@register
@dataclasses.dataclass(frozen=True)
class HybridAuto(HybridSolver):
    """Hybrid 1, 2 or 3, or pipelined CG on one device: the fastest by a performance model.

    The model divides the bytes of passes, products and copies by the bandwidths of two machine profiles, or of a short
    measurement, and overlaps what the schedule runs concurrently. The notes of the run contain the selection and the
    predicted times of the alternatives. With a slow link, one device alone is the fastest.

    Cost of the measurement: some dozen passes, copies and products.
    """

    on_ranks: ClassVar[bool] = False
    """The model knows no ghosts and no sums over ranks."""
    name: ClassVar[str] = "hybrid"
    title: ClassVar[str] = "hybrid pipelined CG: the schedule that suits the machine"
    not_stepped: ClassVar[str] = "selects a schedule for a machine; step through hybrid1, hybrid2 or hybrid3"

    cpu: str = parameter("", "profile of the cores, a name or a .toml file; empty measures")
    accelerator: str = parameter("", "profile of the accelerator and its link; empty measures")

    def check_memory(self, device: Device, operator: Operator | Size) -> None:
        """No bound: a system that does not fit the device can run on the cores, in part or entirely."""

    def select(
        self, device: Device, operator: Operator, traits: MethodTraits, profile: Callable[[str], Any]
    ) -> SolverSelection:
        if bool(self.cpu) != bool(self.accelerator):
            raise InputError("solver hybrid needs two profiles, cpu and accelerator, or neither; then it measures")
        possible, refused = self._possible(device, operator, traits)
        if self.cpu:
            rates = profile_rates(profile(self.cpu), profile(self.accelerator), _traffic(operator))
        else:
            try:
                rates = self._measured(device, operator, fits=ALONE in possible)
            except InputError as error:
                why = f"solver hybrid chose {_described(CORES, device)}, as nothing else can run here"
                return SolverSelection(possible[CORES], devices.device("cpu"), (why, *refused, str(error)))
        if self.cpu or ALONE in possible:
            # A system that does not fit was measured as an assembled matrix.
            rates = dataclasses.replace(rates, assembled=_times_assembled(operator))
        sizes = _sizes(operator)
        expected = {
            name: iteration_seconds(solver, rates, sizes, cores=name == CORES) for name, solver in possible.items()
        }
        best, chosen_device, failed = self._fastest(possible, expected, device, operator)
        others = ", ".join(f"{name} {expected[name]:.3g}" for name in possible if name != best)
        why = [
            f"solver hybrid chose {_described(best, device)}: {expected[best]:.3g} s an iteration by the model, "
            f"against {others} ({rates.basis})",
            *refused,
            *failed,
        ]
        if best in (ALONE, CORES):
            copy = operator.shape[0] * operator.dtype.itemsize / rates.to_host_bandwidth + rates.to_host_latency
            why.append(f"sharing the work does not pay here: a copy of one vector to the host takes {copy:.3g} s")
        return SolverSelection(possible[best], chosen_device, tuple(why))

    def _possible(
        self, device: Device, operator: Operator, traits: MethodTraits
    ) -> tuple[dict[str, Solver], list[str]]:
        """The solvers that can run, by their name in the model, and the reasons why others cannot."""
        switches = {"fused": self.fused, "merged": self.merged}
        possible: dict[str, Solver] = {CORES: PipelinedCG()}
        refused = []
        for name, solver in (
            (ALONE, PipelinedCG()),
            ("hybrid1", Hybrid1(**switches)),
            ("hybrid2", Hybrid2(**switches)),
            ("hybrid3", Hybrid3(**switches, halves=False)),
        ):
            try:
                solver.check(device, traits)
                if name != "hybrid3":
                    solver.device_for(device, operator)
                elif operator.nnz is None:
                    raise InputError("it shares out the entries of A, which a LinearOperator does not show")
                possible[name] = solver
            except InputError as error:
                refused.append(f"{name} cannot run: {error}")
        return possible, refused

    def _fastest(
        self, possible: dict[str, Solver], expected: dict[str, float], device: Device, operator: Operator
    ) -> tuple[str, Device, list[str]]:
        """The fastest solver whose rows can be placed, its device, and the reasons against faster ones.

        A decomposition may fail; the cores alone cannot.
        """
        failed = []
        for name in sorted(possible, key=lambda name: expected[name]):
            own_device = devices.device("cpu") if name == CORES else device
            try:
                return name, possible[name].device_for(own_device, operator), failed
            except InputError as error:
                failed.append(f"{name} cannot run: {error}")
        raise AssertionError("the cores have no limit")

    def _measured(self, device: Device, operator: Operator, *, fits: bool) -> Rates:
        """The rates of this machine. fits: the system fits the accelerator; if not, a sample of its rows is timed.

        Raises InputError if not even a sample fits.
        """
        size, dtype = operator.shape[0], operator.dtype
        if fits:
            sides = devices.device("cpu"), device
            cores, accelerator = (product_seconds(side, operator.bind(side), size, dtype) for side in sides)
        else:
            matrix = operator.to_csr()
            speeds = measure(as_accelerator(device), matrix)
            cores, accelerator = matrix.nnz / speeds.cpu, matrix.nnz / speeds.accelerator
        return measured_rates(as_accelerator(device), size, dtype, (cores, accelerator))


def _times_assembled(operator: Operator) -> float:
    """The ratio of the bytes of a product with the assembled matrix to those with the operator, at least 1."""
    return 1.0 if operator.nnz is None else max(1.0, _sizes(operator).product_bytes / _traffic(operator))


def _traffic(operator: Operator) -> int:
    """Bytes of a product with the operator as it is stored."""
    return product_bytes(stored_bytes(operator), operator.shape[0], operator.dtype.itemsize)


def _sizes(operator: Operator) -> Sizes:
    """N and nnz of an operator, at least 2 rows and an entry each; nnz counts as N where it is unknown.

    Schedules that depend on nnz cannot run then.
    """
    size = max(operator.shape[0], 2)
    return Sizes(size, max(operator.nnz or 0, size), operator.dtype)


def _described(best: str, device: Device) -> str:
    if best == CORES:
        return "pipecg on the cores alone"
    return f"pipecg on device {device.name} alone" if best == ALONE else best
