"""Timing of the steps of a run: a clock wraps each step, and reports its start and end to a recorder.

A device with asynchronous queues has a clock whose `timed` keeps events and whose `resolve` reads their times once they
are over. A run that is not traced has no clock.
"""

from __future__ import annotations

import collections
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeVar, runtime_checkable

from workbench.errors import InputError

Returned = TypeVar("Returned")

CPU, ACCELERATOR, TO_DEVICE, TO_HOST = LANES = ("cpu", "accelerator", "copy to device", "copy to host")
"""Lanes of a trace: the cores, the accelerator, and a copy engine in each direction, which work concurrently. On a
cluster each worker has one more, `worker 1`, `worker 2`, ...; of a run on ranks each has one, from `rank 0` on; in the
model of several GPUs those that are shown have
one each, `GPU 1`, and what connects them has one."""
WORKER, GPU, RANK = "worker ", "GPU ", "rank "
"""Before the number of a worker or a GPU, from 1 to 9999, or of a rank, from 0."""
NETWORK = "network"
WAITING = "waiting"
"""The name of events in which a worker or one of several GPUs does nothing."""


def worker_lane(number: int) -> str:
    """The lane of a worker, the first being 1."""
    return f"{WORKER}{number}"


def rank_lane(number: int) -> str:
    """The lane of a rank of MPI, the first being 0."""
    return f"{RANK}{number}"


def is_worker(lane: str) -> bool:
    """True for the lane of a worker."""
    return re.fullmatch(rf"{WORKER}[1-9]\d{{0,3}}", lane) is not None


def rank(lane: str) -> int:
    """The place of a lane from top to bottom, from 0. Raises InputError for what is no lane."""
    if lane in LANES:
        return LANES.index(lane)
    if found := re.fullmatch(rf"(?:{WORKER}|{GPU})([1-9]\d{{0,3}})", lane):
        return len(LANES) - 1 + int(found[1])
    if found := re.fullmatch(rf"{RANK}(0|[1-9]\d{{0,4}})", lane):
        return len(LANES) + int(found[1])
    if lane == NETWORK:
        return len(LANES) + 10**5
    raise InputError(f"a lane is one of {', '.join(LANES)}, or a worker such as {worker_lane(1)}, got {lane!r}")


TimedCalls = Iterator[tuple[Any, str, str, int, int]]
"""Calls that a trace records separately: object, name of its method, name in the trace, bytes and flops per call."""


@runtime_checkable
class HasParts(Protocol):
    """An operation in several parts."""

    def parts(self) -> TimedCalls:
        """The calls that a trace records separately."""
        ...


Work = Callable[[], tuple[int, int]]
"""Bytes moved and floating-point operations of one call; evaluated once, after the first call."""


def earliest(events: Iterable[tuple[str, float, Sequence[int]]]) -> list[tuple[float, float]]:
    """Start and end of each event if it starts as early as possible, in order within its lane.

    events: lane, seconds, and the places of the earlier events that it waits for.
    """
    free: dict[str, float] = collections.defaultdict(float)
    spans: list[tuple[float, float]] = []
    for lane, seconds, after in events:
        start = max([free[lane], *(spans[place][1] for place in after)])
        free[lane] = start + seconds
        spans.append((start, free[lane]))
    return spans


class Recorder(Protocol):
    """The receiver of events; a `recording.Trace` is one."""

    origin: float
    """The value of time.perf_counter() that counts as zero."""

    @property
    def count(self) -> int:
        """Events so far."""
        ...

    def kernel(self, name: str, lane: str, bytes_moved: int = 0, flops: int = 0) -> int:
        """A number for a kernel that runs repeatedly."""
        ...

    def add(self, kernel: int, start: float, end: float, iteration: int = 0, after: tuple[int, ...] = ()) -> int:
        """One event, in seconds from the origin; returns its index."""
        ...


class Clock(Protocol):
    """The clock of a traced run. `iteration` is set before each iteration, the start being 0."""

    iteration: int
    noting: bool
    """Is on while steps are recorded. A run sets it to False around work that is no part of the solve."""

    def timed(self, run: Callable[..., Returned], name: str, work: Work) -> Callable[..., Returned]:
        """Wrap a callable so that each call records one event, or none if timed steps inside it recorded theirs.

        On a device with queues, a call that enqueued nothing ran on the host and belongs to its lane.
        """
        ...

    def reading(self, read: Callable[..., Returned], name: str = "scalars") -> Callable[..., Returned]:
        """Wrap a read of results from the device, by default of the scalars of some iterations, as `timed` does."""
        ...

    def resolve(self) -> None:
        """Report completed events to the recorder; called after every iteration and at the end of a run."""
        ...


class HostClock:
    """The clock of a device whose calls return when their work is done. Costs about a microsecond an event."""

    def __init__(self, recorder: Recorder) -> None:
        self.iteration = 0
        self.noting = True
        self._recorder = recorder

    def timed(self, run: Callable[..., Returned], name: str, work: Work) -> Callable[..., Returned]:
        recorder, origin, now, kernel = self._recorder, self._recorder.origin, time.perf_counter, -1

        def call(*arguments: object) -> Returned:
            nonlocal kernel
            if not self.noting:
                return run(*arguments)
            before = recorder.count
            start = now()
            returned = run(*arguments)
            end = now()
            # Events of one lane never overlap: a call with recorded steps inside is recorded by those alone.
            if recorder.count == before:
                if kernel < 0:
                    kernel = recorder.kernel(name, CPU, *work())
                recorder.add(kernel, start - origin, end - origin, self.iteration)
            return returned

        return call

    def reading(self, read: Callable[..., Returned], name: str = "scalars") -> Callable[..., Returned]:
        """The scalars are in the host's memory already."""
        return read

    def resolve(self) -> None:
        """Nothing to do: times are known as soon as a call returns."""
