"""Modelled iterations of CG and pipelined CG on 2 to 4,096 GPUs of several nodes, rows shared in slabs.

Nothing here was measured. Each GPU runs the solver's own steps on its rows, timed as on one GPU. In front of a product
with A the GPUs exchange the rows next to their slabs. Dot products end in an all-reduce by recursive doubling: one
message for every doubling of the GPUs, first in the nodes, then between them. A step that reads a sum waits for it;
others, such as the product of pipelined CG, run meanwhile.
"""

from __future__ import annotations

import dataclasses
import functools
import math

import numpy as np

from workbench.analysis.dry_run import steps_of
from workbench.analysis.schedules import METHODS, Expected, Machine, Method, cached_dry_run, per_iteration
from workbench.devices.clock import ACCELERATOR, GPU, NETWORK, WAITING
from workbench.devices.dry_run import ITERATIONS, Sizes
from workbench.errors import InputError
from workbench.lines.schedule import Apply, Pass, Step
from workbench.machine.profile import Profile
from workbench.machine.retime import MODELLED, retime
from workbench.recording.trace import Event, Trace

MOST = 4096
"""GPUs."""
ON_SEVERAL = ("cg gpu", "pipecg gpu")
"""The methods that are modelled, as in `METHODS`."""
HALO = "exchange of rows for A"
NOTES = (
    "modelled, nothing was measured: slabs of rows, an exchange of rows in front of each product and not hidden by it",
    "shown are the first GPU, one in the middle and the last; all between are as the one in the middle",
    "kernels take as long as on one GPU, launch latency included; the host and its convergence checks take nothing",
)


@dataclasses.dataclass(frozen=True)
class Fabric:
    """What connects GPUs. per_node: GPUs of a node. link, network: bytes per second of a GPU to others of its node, and
    to those of other nodes, in each direction; link_latency, network_latency: seconds of a message."""

    per_node: int
    link: float
    link_latency: float
    network: float
    network_latency: float

    @classmethod
    def of(cls, found: Profile) -> Fabric:
        """That of a profile. Raises InputError where it lacks a number."""
        names = ("peer_bandwidth", "peer_latency", "network_bandwidth", "network_latency")
        return cls(round(found.required("gpus_per_node").value), *(found.required(name).value for name in names))

    def all_reduce(self, gpus: int, nbytes: int) -> float:
        """Seconds of the sum of `nbytes` of every GPU on all of them."""
        inside = _doublings(min(gpus, self.per_node))
        between = _doublings(math.ceil(gpus / self.per_node))
        in_node, on_network = self.link_latency + nbytes / self.link, self.network_latency + nbytes / self.network
        return inside * in_node + between * on_network

    def exchange(self, place: int, others: list[int], nbytes: list[int]) -> float:
        """Seconds in which a GPU receives messages of these sizes from others: those of its node through the link and
        the others through the network, both at once; on each the latency of a message from both sides is paid once."""
        seconds = {True: 0.0, False: 0.0}
        latencies = {True: self.link_latency, False: self.network_latency}
        sides: dict[tuple[bool, bool], int] = {}
        for other, size in zip(others, nbytes, strict=True):
            here = place // self.per_node == other // self.per_node
            seconds[here] += size / (self.link if here else self.network)
            side = here, other > place
            sides[side] = sides.get(side, 0) + 1
        for here in (True, False):
            seconds[here] += latencies[here] * max(sides.get((here, later), 0) for later in (True, False))
        return max(seconds.values())


def expected_on(method: str | Method, sizes: Sizes, machine: Machine, fabric: Fabric, gpus: int) -> Expected:
    """The modelled time of one iteration on several GPUs of a machine; see `schedules.expected`.

    method: its name, or one for one device, such as a user-defined one on the accelerator. The trace has a lane for
    the first GPU, one in the middle and the last, and one for the network. Raises InputError for an unknown method and
    a number of GPUs that is not modelled.
    """
    if isinstance(method, str) and method not in METHODS:
        raise InputError(f"a method is one of {', '.join(METHODS)}, got {method!r}")
    if not 1 <= gpus <= MOST:
        raise InputError(f"the model has 1 to {MOST} GPUs, got {gpus}")
    if 2 * gpus > sizes.size:
        return Expected(None, f"{sizes.size} rows leave fewer than two to each of {gpus} GPUs")
    if isinstance(method, str) and method not in ON_SEVERAL:
        return Expected(None, "it is modelled with one GPU alone")
    method = METHODS[method] if isinstance(method, str) else method
    shown = sorted({0, gpus // 2, gpus - 1})
    slabs = {place: _slab(sizes, gpus, place) for place in shown}
    largest = max(slabs.values(), key=lambda slab: slab.size)
    received = 2 * _border(sizes) * sizes.dtype.itemsize if gpus > 1 else 0
    needs = cached_dry_run(method, largest, None).device_bytes + received
    if needs > machine.memory:
        return Expected(
            None, f"needs {needs / 1e9:.3g} GB on each of {gpus} GPUs, which have {machine.memory / 1e9:.3g} GB usable"
        )
    made = _Simulation(method, sizes, machine, fabric, gpus, slabs)
    for iteration in range(1, ITERATIONS + 1):
        made.iterate(iteration)
    return Expected(per_iteration(made.trace), trace=made.trace)


def all_expected_on(sizes: Sizes, machine: Machine, fabric: Fabric, gpus: int) -> dict[str, Expected]:
    """Modelled times of every method in METHODS, by name."""
    return {name: expected_on(name, sizes, machine, fabric, gpus) for name in METHODS}


def scaling(method: str, sizes: Sizes, machine: Machine, fabric: Fabric, counts: list[int]) -> list[float | None]:
    """Modelled seconds per iteration on each of these numbers of GPUs; None where the system does not fit."""
    return [expected_on(method, sizes, machine, fabric, gpus).seconds for gpus in counts]


class _Simulation:
    """Iterations on the GPUs that are shown, as a trace. slabs: the sizes of their rows, by place."""

    def __init__(
        self, method: Method, sizes: Sizes, machine: Machine, fabric: Fabric, gpus: int, slabs: dict[int, Sizes]
    ) -> None:
        title = f"{gpus} x {machine.accelerator.title}, {fabric.per_node} a node"
        self.trace = Trace(title, MODELLED, NOTES)
        self._steps = [_timed(method, slab, machine) for slab in slabs.values()]
        self._lanes = [f"{GPU}{place + 1}" for place in slabs]
        border = _border(sizes)
        self._halos = [_halo(fabric, sizes, gpus, place, border) for place in slabs]
        self._alone = gpus == 1
        self._reduce = functools.partial(fabric.all_reduce, gpus)
        self._itemsize = max(8, sizes.dtype.itemsize)
        self._free = np.zeros(len(slabs))
        self._latest: list[tuple[int, ...]] = [()] * len(slabs)
        self._network = 0.0
        self._sums: dict[str, tuple[float, int]] = {}
        """Sums that are under way: when they are there, and their event."""

    def iterate(self, iteration: int) -> None:
        for number, (step, _) in enumerate(self._steps[0]):
            if isinstance(step, Apply) and step.operator == "A" and not self._alone:
                self._exchange(iteration)
            self._wait_for_sums(step, iteration)
            for gpu, steps in enumerate(self._steps):
                if event := steps[number][1]:
                    self._add(gpu, event.name, event.seconds, iteration, event.bytes, event.flops)
            if (names := _sums_of(step)) and not self._alone:
                self._start_sum(names, iteration)

    def _exchange(self, iteration: int) -> None:
        """All send once the last is ready: between neighbours, of which one in the middle is shown."""
        ready = self._free.max()
        for gpu, (seconds, nbytes) in enumerate(self._halos):
            self._wait(gpu, ready, iteration)
            self._add(gpu, HALO, seconds, iteration, nbytes)

    def _start_sum(self, names: tuple[str, ...], iteration: int) -> None:
        start = max(self._network, self._free.max())
        nbytes = len(names) * self._itemsize
        self._network = start + self._reduce(nbytes)
        kernel = self.trace.kernel(f"all-reduce of {', '.join(names)}", NETWORK, nbytes)
        after = tuple(event for events in self._latest for event in events)
        event = self.trace.add(kernel, start, self._network, iteration, after)
        self._sums |= dict.fromkeys(names, (self._network, event))

    def _wait_for_sums(self, step: Step, iteration: int) -> None:
        """Wait for those that the step reads; what scalars alone make of them is there when they are."""
        lines = (*step.scalars, *step.body) if isinstance(step, Pass) else ()
        wanted = self._sums.keys() & {name for line in lines for name in line.reads}
        if not wanted:
            return
        if not _launches(step):
            self._sums |= dict.fromkeys((line.target for line in lines), max(self._sums[name] for name in wanted))
            return
        end, event = max(self._sums.pop(name) for name in wanted)
        for gpu in range(len(self._free)):
            self._wait(gpu, end, iteration)
            self._latest[gpu] = (event,)

    def _wait(self, gpu: int, until: float, iteration: int) -> None:
        if until > self._free[gpu]:
            kernel = self.trace.kernel(WAITING, self._lanes[gpu])
            self.trace.add(kernel, float(self._free[gpu]), float(until), iteration)
            self._free[gpu] = until

    def _add(self, gpu: int, name: str, seconds: float, iteration: int, nbytes: int, flops: int = 0) -> None:
        start = float(self._free[gpu])
        kernel = self.trace.kernel(name, self._lanes[gpu], nbytes, flops)
        self._free[gpu] = start + seconds
        self._latest[gpu] = (self.trace.add(kernel, start, start + seconds, iteration, self._latest[gpu]),)


def _doublings(count: int) -> int:
    """Messages one after another in which `count` add up by recursive doubling."""
    return math.ceil(math.log2(count))


def _slab(sizes: Sizes, gpus: int, place: int) -> Sizes:
    """The rows of one of the GPUs, of equal length."""
    rows = sizes.size * (place + 1) // gpus - sizes.size * place // gpus
    return dataclasses.replace(sizes, size=rows, entries=max(rows, round(sizes.entries * rows / sizes.size)))


def _border(sizes: Sizes) -> int:
    """Rows next to a slab that its product reads, on either side: whole planes of a cube, as many as a box stencil with
    as many entries a row reaches."""
    width = (sizes.entries / sizes.size) ** (1 / 3)
    return max(1, math.ceil((width - 1) / 2 - 1e-9)) * round(sizes.size ** (2 / 3))


def _halo(fabric: Fabric, sizes: Sizes, gpus: int, place: int, border: int) -> tuple[float, int]:
    """Seconds and bytes of the rows that a GPU receives; from several on a side where slabs are thinner."""
    others, nbytes = [], []
    for step in (-1, 1):
        left, other = border, place + step
        while left > 0 and 0 <= other < gpus:
            rows = min(left, _slab(sizes, gpus, other).size)
            others.append(other)
            nbytes.append(rows * sizes.dtype.itemsize)
            left, other = left - rows, other + step
    return fabric.exchange(place, others, nbytes), sum(nbytes)


def _sums_of(step: Step) -> tuple[str, ...]:
    """The dot products that a step makes."""
    if isinstance(step, Apply):
        return tuple(name for name, _ in step.dots)
    return tuple(line.target for line in step.dots)


def _launches(step: Step) -> bool:
    """Whether a step launches a kernel of its own, which scalars alone do not."""
    return isinstance(step, Apply) or bool(step.body)


def _timed(method: Method, sizes: Sizes, machine: Machine) -> list[tuple[Step, Event | None]]:
    """The steps of an iteration, and the event of each on one GPU; None for scalars alone."""
    trace = retime(cached_dry_run(method, sizes, None).trace, machine.cores, machine.accelerator)
    events = [event for event in trace if event.iteration == 1 and event.lane == ACCELERATOR]
    steps = steps_of(method.solver)
    launched = iter(events)
    return [(step, next(launched) if _launches(step) else None) for step in steps]
