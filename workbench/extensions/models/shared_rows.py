"""Iterations of a method whose rows are shared by GPUs or by ranks of MPI: the list of their events, and its times.

In front of work that needs them, rows next to the own ones are exchanged. Dot products end in an all-reduce. A step
that reads a sum waits for it; others, such as the product of pipelined CG, run meanwhile. Coarse vectors are summed at
once, since the coarse solve follows. The connections of GPUs or ranks are nodes, and seconds of messages within and
between them.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence

from workbench.devices.clock import NETWORK, WAITING
from workbench.devices.dry_run import ITERATIONS
from workbench.extensions.models.schedules import Expected, per_iteration
from workbench.lines.schedule import Apply, Pass, Step
from workbench.machines.profile import Profile
from workbench.records.trace import MODELLED, Event, Trace, scheduled


@dataclasses.dataclass(frozen=True)
class Fabric:
    """Connections of GPUs, or of ranks. per_node: the number in a node. link, network: bytes per second from one to
    others of its node, and to those of other nodes, in each direction; link_latency, network_latency: seconds of a
    message.

    noise: seconds by which each is late at a sum, in the mean. Delays are independent and exponential, so that the last
    of P is late by noise (1 + 1/2 + ... + 1/P), as in Morgan, Knepley, Sanan, Scott, 'A stochastic performance model
    for pipelined Krylov methods' (2016).
    """

    per_node: int
    link: float
    link_latency: float
    network: float
    network_latency: float
    noise: float = 0.0

    @classmethod
    def of(cls, found: Profile) -> Fabric:
        """The connections in a profile. Raises InputError where it lacks a number."""
        names = ("peer_bandwidth", "peer_latency", "network_bandwidth", "network_latency")
        per_node = found.ranks_per_node or found.required("gpus_per_node")
        return cls(round(per_node.value), *(found.required(name).value for name in names))

    def all_reduce(self, gpus: int, nbytes: int) -> float:
        """Seconds of the sum of `nbytes` of each on all of them: by recursive doubling, one message for every doubling,
        first in the nodes, then between them; and the delay of the last."""
        inside = _doublings(min(gpus, self.per_node))
        between = _doublings(math.ceil(gpus / self.per_node))
        in_node, on_network = self.link_latency + nbytes / self.link, self.network_latency + nbytes / self.network
        late = self.noise * sum(1 / k for k in range(1, gpus + 1)) if self.noise and gpus > 1 else 0.0
        return inside * in_node + between * on_network + late

    def exchange(self, place: int, others: Sequence[int], nbytes: Sequence[int]) -> float:
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

    def exchange_of_boxes(self, gpus: int, dimensions: int, face: float) -> float:
        """Seconds in which boxes receive their faces of `face` bytes: one after another along each dimension.

        The boxes of a node form a cube, whose surface shares the network of the node.
        """
        if gpus == 1:
            return 0.0
        inside = dimensions * (self.link_latency + 2 * face / self.link)
        if gpus <= self.per_node:
            return inside
        surface = self.per_node ** ((dimensions - 1) / dimensions) * face
        return max(inside, dimensions * (self.network_latency + 2 * surface / self.network))


def _doublings(count: int) -> int:
    """Messages one after another in which `count` add up by recursive doubling."""
    return math.ceil(math.log2(count))


HALO = "exchange of rows for {}"
COARSE_SUM = "all-reduce of Z^T"


@dataclasses.dataclass(frozen=True)
class Work:
    """Work of a GPU or rank without a message, in `seconds`. before: seconds of the exchange in front of it, and the
    bytes that arrive. words: summed over all behind it, and waited for."""

    name: str
    seconds: float
    bytes: int = 0
    flops: int = 0
    before: tuple[float, int] | None = None
    words: int = 0


Steps = Sequence[tuple[Step, Sequence[Work]]]
"""The steps of an iteration with their work; scalars alone are no work."""


@dataclasses.dataclass(frozen=True)
class SharedRows:
    """An iteration on several GPUs or ranks, of which some are shown.

    lanes: of those that are shown. steps: of each of them, in the same order. all_reduce: seconds of a sum over all by
    its bytes; None where one alone has all rows.
    """

    lanes: Sequence[str]
    steps: Sequence[Steps]
    all_reduce: Callable[[int], float] | None
    itemsize: int

    def expected(self, title: str, notes: Sequence[str]) -> Expected:
        """The modelled time of the iteration, and a trace of some, on the lanes shown and on one for the network."""
        events = _Events(self)
        for iteration in range(1, ITERATIONS + 1):
            events.iterate(iteration)
        trace = scheduled(events.made, [event.seconds for event in events.made], Trace(title, MODELLED, notes))
        return Expected(per_iteration(trace), trace=trace)


class _Events:
    """The list of the events of iterations. Each begins at 0 and has its duration; the scheduler gives it its times."""

    def __init__(self, shared: SharedRows) -> None:
        self.made: list[Event] = []
        self._lanes, self._steps, self._reduce = shared.lanes, shared.steps, shared.all_reduce
        self._itemsize = max(8, shared.itemsize)
        self._latest: list[tuple[int, ...]] = [()] * len(shared.lanes)
        """By lane, its latest event."""
        self._sums: dict[str, int] = {}
        """Sums under way, and scalars made of them: the event of each."""

    def iterate(self, iteration: int) -> None:
        """One iteration more."""
        for number, (step, works) in enumerate(self._steps[0]):
            self._wait_for_sums(step, iteration)
            for place in range(len(works)):
                self._work([steps[number][1][place] for steps in self._steps], iteration)
            if (names := _sums_of(step)) and self._reduce:
                summed = self._sum(self._reduce, f"all-reduce of {', '.join(names)}", len(names), iteration)
                self._sums |= dict.fromkeys(names, summed)

    def _work(self, works: Sequence[Work], iteration: int) -> None:
        """One piece of work on each lane, between its exchange and its sum."""
        if works[0].before is not None:
            # All send once the last is ready: between neighbours, of which one in the middle is shown.
            ready = self._all_latest
            for lane, work in enumerate(works):
                seconds, nbytes = work.before or (0.0, 0)
                if ready:
                    self._add(WAITING, self._lanes[lane], 0.0, iteration, after=ready)
                self._add_behind(lane, HALO.format(work.name.partition(" ")[0]), seconds, iteration, nbytes)
        for lane, work in enumerate(works):
            self._add_behind(lane, work.name, work.seconds, iteration, work.bytes, work.flops)
        if works[0].words and self._reduce:
            self._wait_for(self._sum(self._reduce, COARSE_SUM, works[0].words, iteration), iteration)

    def _sum(self, seconds: Callable[[int], float], name: str, words: int, iteration: int) -> int:
        """A sum over all, behind what each did; returns its event."""
        nbytes = words * self._itemsize
        return self._add(name, NETWORK, seconds(nbytes), iteration, nbytes, after=self._all_latest)

    def _wait_for_sums(self, step: Step, iteration: int) -> None:
        """Wait for the sums that the step reads; scalars made of them arrive with them."""
        lines = (*step.scalars, *step.body) if isinstance(step, Pass) else ()
        wanted = self._sums.keys() & {name for line in lines for name in line.reads}
        if not wanted:
            return
        # Sums are made one after another: the latest ends last.
        if launches(step):
            self._wait_for(max(self._sums.pop(name) for name in wanted), iteration)
        else:
            self._sums |= dict.fromkeys((line.target for line in lines), max(self._sums[name] for name in wanted))

    def _wait_for(self, event: int, iteration: int) -> None:
        self._latest = [(self._add(WAITING, lane, 0.0, iteration, after=(event,)),) for lane in self._lanes]

    def _add_behind(self, lane: int, name: str, seconds: float, iteration: int, nbytes: int, flops: int = 0) -> None:
        """An event on a lane that is shown, behind the latest one there."""
        added = self._add(name, self._lanes[lane], seconds, iteration, nbytes, flops, self._latest[lane])
        self._latest[lane] = (added,)

    def _add(
        self,
        name: str,
        lane: str,
        seconds: float,
        iteration: int,
        nbytes: int = 0,
        flops: int = 0,
        after: tuple[int, ...] = (),
    ) -> int:
        self.made.append(Event(name, lane, 0.0, seconds, nbytes, flops, iteration, after))
        return len(self.made) - 1

    @property
    def _all_latest(self) -> tuple[int, ...]:
        return tuple(event for events in self._latest for event in events)


def launches(step: Step) -> bool:
    """True if a step launches a kernel of its own, which scalars alone do not."""
    return isinstance(step, Apply) or bool(step.body)


def _sums_of(step: Step) -> tuple[str, ...]:
    """The dot products that a step makes."""
    if isinstance(step, Apply):
        return tuple(name for name, _ in step.dots)
    return tuple(line.target for line in step.dots)
