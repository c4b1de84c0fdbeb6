"""Iterations of a method whose rows are shared by GPUs or by ranks of MPI, simulated step by step.

In front of work that needs them, rows next to the own ones are exchanged. Dot products end in an all-reduce. A step
that reads a sum waits for it; others, such as the product of pipelined CG, run meanwhile. Coarse vectors are summed at
once, since the coarse solve follows.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np

from workbench.devices.clock import NETWORK, WAITING
from workbench.lines.schedule import Apply, Pass, Step
from workbench.records.trace import MODELLED, Trace

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


class SharedRows:
    """Iterations as a trace, on the lanes that are shown and on one for the network.

    steps: of each that is shown, in the same order. all_reduce: seconds of a sum over all by its bytes; None where one
    alone has all rows.
    """

    def __init__(
        self,
        trace: Trace,
        lanes: Sequence[str],
        steps: Sequence[Steps],
        all_reduce: Callable[[int], float] | None,
        itemsize: int,
    ) -> None:
        self.trace = trace
        self._lanes, self._steps, self._reduce = lanes, steps, all_reduce
        self._itemsize = max(8, itemsize)
        self._free = np.zeros(len(lanes))
        self._latest: list[tuple[int, ...]] = [()] * len(lanes)
        self._network = 0.0
        self._sums: dict[str, tuple[float, int]] = {}
        """Sums under way: the time of their arrival, and their event."""

    def iterate(self, iteration: int) -> None:
        """One iteration more."""
        for number, (step, works) in enumerate(self._steps[0]):
            self._wait_for_sums(step, iteration)
            for place in range(len(works)):
                self._work([steps[number][1][place] for steps in self._steps], iteration)
            if (names := _sums_of(step)) and self._reduce:
                summed = self._sum(f"all-reduce of {', '.join(names)}", len(names), iteration)
                self._sums |= dict.fromkeys(names, summed)

    def _work(self, works: Sequence[Work], iteration: int) -> None:
        """One piece of work on each lane, between its exchange and its sum."""
        if works[0].before is not None:
            # All send once the last is ready: between neighbours, of which one in the middle is shown.
            ready = self._free.max()
            for lane, work in enumerate(works):
                seconds, nbytes = work.before or (0.0, 0)
                self._wait(lane, ready, iteration)
                self._add(lane, HALO.format(work.name.partition(" ")[0]), seconds, iteration, nbytes)
        for lane, work in enumerate(works):
            self._add(lane, work.name, work.seconds, iteration, work.bytes, work.flops)
        if works[0].words and self._reduce:
            end, event = self._sum(COARSE_SUM, works[0].words, iteration)
            self._wait_until(end, event, iteration)

    def _sum(self, name: str, words: int, iteration: int) -> tuple[float, int]:
        """Begin a sum; returns the time of its arrival, and its event."""
        assert self._reduce is not None
        start = max(self._network, self._free.max())
        nbytes = words * self._itemsize
        self._network = start + self._reduce(nbytes)
        kernel = self.trace.kernel(name, NETWORK, nbytes)
        after = tuple(event for events in self._latest for event in events)
        return self._network, self.trace.add(kernel, start, self._network, iteration, after)

    def _wait_for_sums(self, step: Step, iteration: int) -> None:
        """Wait for the sums that the step reads; scalars made of them arrive with them."""
        lines = (*step.scalars, *step.body) if isinstance(step, Pass) else ()
        wanted = self._sums.keys() & {name for line in lines for name in line.reads}
        if not wanted:
            return
        if not launches(step):
            self._sums |= dict.fromkeys((line.target for line in lines), max(self._sums[name] for name in wanted))
            return
        self._wait_until(*max(self._sums.pop(name) for name in wanted), iteration)

    def _wait_until(self, end: float, event: int, iteration: int) -> None:
        for lane in range(len(self._free)):
            self._wait(lane, end, iteration)
            self._latest[lane] = (event,)

    def _wait(self, lane: int, until: float, iteration: int) -> None:
        if until > self._free[lane]:
            kernel = self.trace.kernel(WAITING, self._lanes[lane])
            self.trace.add(kernel, float(self._free[lane]), float(until), iteration)
            self._free[lane] = until

    def _add(self, lane: int, name: str, seconds: float, iteration: int, nbytes: int, flops: int = 0) -> None:
        start = float(self._free[lane])
        kernel = self.trace.kernel(name, self._lanes[lane], nbytes, flops)
        self._free[lane] = start + seconds
        self._latest[lane] = (self.trace.add(kernel, start, start + seconds, iteration, self._latest[lane]),)


def modelled(title: str, notes: Sequence[str]) -> Trace:
    """An empty trace for a simulation."""
    return Trace(title, MODELLED, notes)


def launches(step: Step) -> bool:
    """True if a step launches a kernel of its own, which scalars alone do not."""
    return isinstance(step, Apply) or bool(step.body)


def _sums_of(step: Step) -> tuple[str, ...]:
    """The dot products that a step makes."""
    if isinstance(step, Apply):
        return tuple(name for name, _ in step.dots)
    return tuple(line.target for line in step.dots)
