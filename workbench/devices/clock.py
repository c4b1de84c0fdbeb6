"""Timing of the steps of a run: a clock wraps each step, and reports its start and end to a recorder.

A device with asynchronous queues has a clock whose `timed` keeps events and whose `resolve` reads their times once they
are over. A run that is not traced has no clock.
"""

from __future__ import annotations

import collections
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol, TypeVar, runtime_checkable

from workbench.errors import InputError

Returned = TypeVar("Returned")

CPU, ACCELERATOR, TO_DEVICE, TO_HOST = LANES = ("cpu", "accelerator", "copy to device", "copy to host")
"""Lanes of a trace: the cores, the accelerator, and a copy engine in each direction, which work concurrently.

A run on a cluster has in addition a lane for each worker, `worker 1`, `worker 2`, ...; a run on ranks has one for each
rank, from `rank 0` on, or these four for each where a rank uses cores and accelerator together, `rank 0 cpu` and so on.
A model of several GPUs has one for each GPU that is shown, from `GPU 1` on. A model of GPUs or
of ranks has `network` for what connects them."""
WORKER, GPU, RANK = "worker ", "GPU ", "rank "
"""Beginnings of names of lanes. The number of a worker or a GPU follows, 1 to 9999, or that of a rank, 0 to 99999."""
NETWORK = "network"
MOST_RANKS = 100_000
"""Ranks that five digits number."""
WAITING = "waiting"
"""The name of events in which a worker or one of several GPUs does nothing."""


def worker_lane(number: int) -> str:
    """The lane of a worker, the first being 1."""
    return f"{WORKER}{number}"


def rank_lane(number: int, side: str = "") -> str:
    """The lane of a rank of MPI, the first being 0. side: one of `LANES`, where a rank has several."""
    return f"{RANK}{number} {side}".rstrip()


def rank_and_side(lane: str) -> tuple[str, str]:
    """The lane of a rank in two: "rank 0 cpu" is "rank 0" and "cpu". Other lanes are ("", lane)."""
    found = re.fullmatch(rf"({RANK}\d+) ({'|'.join(LANES)})", lane)
    return (found[1], found[2]) if found else ("", lane)


def side_of(lane: str) -> str:
    """The lane without its rank: "rank 0 cpu" is "cpu", and others stay as they are."""
    return rank_and_side(lane)[1]


def is_of_rank(lane: str) -> bool:
    """True for a lane of a rank."""
    return lane.startswith(RANK)


def is_worker(lane: str) -> bool:
    """True for the lane of a worker."""
    return re.fullmatch(rf"{WORKER}[1-9]\d{{0,3}}", lane) is not None


def lane_order(lane: str) -> int:
    """A number that sorts lanes from top to bottom, 0 for the uppermost. Raises InputError for a name of no lane."""
    if lane in LANES:
        return LANES.index(lane)
    if found := re.fullmatch(rf"(?:{WORKER}|{GPU})([1-9]\d{{0,3}})", lane):
        return len(LANES) - 1 + int(found[1])
    rank, side = rank_and_side(lane)
    if found := re.fullmatch(rf"{RANK}(0|[1-9]\d{{0,4}})", rank or lane):
        return len(LANES) * (1 + int(found[1])) + (LANES.index(side) if rank else 0)
    if lane == NETWORK:
        return len(LANES) * (1 + MOST_RANKS)
    raise InputError(f"a lane is one of {', '.join(LANES)}, or a worker such as {worker_lane(1)}, got {lane!r}")


class TimedCall(NamedTuple):
    """A method whose calls a trace records separately. name: of its events. traffic, flops: bytes and operations of a
    call."""

    owner: object
    method: str
    name: str
    traffic: int
    flops: int


TimedCalls = Iterator[TimedCall]


@runtime_checkable
class HasParts(Protocol):
    """An operation of several parts."""

    def parts(self) -> TimedCalls:
        """The calls that a trace records separately."""
        ...


Work = Callable[[], tuple[int, int]]
"""Bytes moved and floating-point operations of one call; evaluated once, after the first call."""


def earliest(events: Iterable[tuple[str, float, Sequence[int]]]) -> list[tuple[float, float]]:
    """Start and end of each event, in s, if it starts as early as possible. Events of a lane stay in order.

    events: lane, duration in s, and the places of the earlier events that it waits for.
    """
    free: dict[str, float] = collections.defaultdict(float)
    spans: list[tuple[float, float]] = []
    for lane, seconds, after in events:
        start = max([free[lane], *(spans[place][1] for place in after)])
        free[lane] = start + seconds
        spans.append((start, free[lane]))
    return spans


class Recorder(Protocol):
    """The receiver of events; a `records.Trace` is one."""

    origin: float
    """The value of time.perf_counter() at time zero of the trace, in s."""

    @property
    def count(self) -> int:
        """Events so far."""
        ...

    def kernel(self, name: str, lane: str, bytes_moved: int = 0, flops: int = 0) -> int:
        """The number of a kernel, by which `add` names it."""
        ...

    def add(self, kernel: int, start: float, end: float, iteration: int = 0, after: tuple[int, ...] = ()) -> int:
        """Add an event from `start` to `end`, in s since the origin, which waited for the events `after`; its index."""
        ...


class Clock(Protocol):
    """The clock of a traced run."""

    iteration: int
    """The iteration that events are of, 0 for the start; set before each iteration."""
    is_recording: bool
    """True while steps are recorded. A run sets it to False around work that is no part of the solve."""

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
    """The clock of a device whose calls return when their work is done. Cost: about a microsecond for each event."""

    def __init__(self, recorder: Recorder) -> None:
        self.iteration = 0
        self.is_recording = True
        self._recorder = recorder

    def timed(self, run: Callable[..., Returned], name: str, work: Work) -> Callable[..., Returned]:
        recorder, origin, now, kernel = self._recorder, self._recorder.origin, time.perf_counter, -1

        def call(*arguments: object) -> Returned:
            nonlocal kernel
            if not self.is_recording:
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
