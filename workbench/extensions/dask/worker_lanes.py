"""The work of the workers of a cluster in a trace: a lane for each worker, on the clock of this process.

A worker reports when it computed by its own clock. The lead of that clock is estimated once, from messages back and
forth: the worker reads its clock half-way, and the shortest of them counts. A worker's times never leave the interval
from its request to its reply. The rest of that interval is the transfer of messages; from its own reply to the last
one a worker waits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from workbench.devices.clock import WAITING, Clock, Recorder, worker_lane

TRANSFER = "transfer"
MESSAGES = 5
"""Messages from which the offset of a worker's clock is estimated."""


class Work(NamedTuple):
    """Work between two times of a worker's own clock, with its bytes and operations."""

    name: str
    begun: float
    done: float
    traffic: int = 0
    flops: int = 0


class OnWorker(Protocol):
    """An object on a worker, by its address."""

    @property
    def address(self) -> str: ...


class Exchange(NamedTuple):
    """A request to a worker: when it was sent and its reply received, by this process's clock, and what was done for
    it. received: None where the reply went to another worker."""

    holder: OnWorker
    sent: float
    received: float | None
    work: Sequence[Work]


class Span(NamedTuple):
    """A part of an exchange, by this process's clock."""

    name: str
    start: float
    end: float
    traffic: int = 0
    flops: int = 0


class WorkerLanes:
    """Gathers the exchanges of a traced run, and adds them to the trace.

    ask: sends a worker, by its holder, a request for its clock, and returns the reply. clock, recorder: of the run.
    """

    def __init__(self, ask: Callable[[Any], Any], clock: Clock, recorder: Recorder) -> None:
        self._ask, self._clock, self._recorder = ask, clock, recorder
        self._numbers: dict[str, int] = {}
        self._offsets: dict[str, float] = {}
        self._errors: dict[str, float] = {}
        self._waiting: list[tuple[str, Span, int, tuple[int, ...]]] = []

    @property
    def notes(self) -> list[str]:
        """Sentences for the trace."""
        named = [f"{worker_lane(number)} is {address}" for address, number in self._numbers.items()]
        error = 1e3 * max(self._errors.values(), default=0.0)
        return [", ".join(named), f"times of workers are on the clock of this process to within {error:.2g} ms"]

    def meet(self, holder: OnWorker) -> None:
        """Give a worker a lane, and estimate by how much its clock is ahead."""
        replies = [reply for reply in (self._ask(holder) for _ in range(MESSAGES)) if not reply.lost]
        self._numbers.setdefault(holder.address, len(self._numbers) + 1)
        # A worker that was lost is noticed by the next request to it.
        if replies:
            best = min(replies, key=lambda reply: reply.seconds)
            self._offsets[holder.address] = best.value - (best.sent + best.received) / 2
            self._errors[holder.address] = best.seconds / 2

    def note(self, exchanges: Sequence[Exchange]) -> None:
        """Keep requests that were sent together, for `resolve`."""
        if not self._clock.is_recording or not exchanges:
            return
        by_worker: dict[str, list[Exchange]] = {}
        for exchange in exchanges:
            if exchange.holder.address not in self._offsets:
                self.meet(exchange.holder)
            if exchange.holder.address in self._offsets:
                by_worker.setdefault(exchange.holder.address, []).append(exchange)
        end = max((exchange.received or exchange.sent) for exchange in exchanges)
        # The request followed the latest step that has ended.
        after = (self._recorder.count - 1,) if self._recorder.count else ()
        for address, of_one in by_worker.items():
            lane = worker_lane(self._numbers[address])
            for place, span in enumerate(spans(of_one, self._offsets[address], end)):
                self._waiting.append((lane, span, self._clock.iteration, () if place else after))

    def resolve(self) -> None:
        """Add what was kept to the trace. Only then, since a step with events inside would have none of its own."""
        origin = self._recorder.origin
        for lane, span, iteration, after in self._waiting:
            kernel = self._recorder.kernel(span.name, lane, span.traffic, span.flops)
            self._recorder.add(kernel, span.start - origin, span.end - origin, iteration, after)
        self._waiting.clear()


def spans(exchanges: Sequence[Exchange], offset: float, end: float) -> list[Span]:
    """The time of a worker for requests that were sent together, from the first of them to `end`, without gaps.

    offset: seconds by which the worker's clock is ahead.
    """
    at = min(exchange.sent for exchange in exchanges)
    replied = max(exchange.received or exchange.sent for exchange in exchanges)
    work = sorted(
        (moved for exchange in exchanges for moved in _by_our_clock(exchange, offset, end)), key=lambda work: work.begun
    )
    found: list[Span] = []

    def until(time: float, name: str, traffic: int = 0, flops: int = 0) -> None:
        nonlocal at
        time = min(time, end)
        if time <= at:
            return
        if found and found[-1].name == name and name in (TRANSFER, WAITING):
            found[-1] = found[-1]._replace(end=time)
        else:
            found.append(Span(name, at, time, traffic, flops))
        at = time

    for name, begun, done, traffic, flops in work:
        until(begun, TRANSFER)
        until(done, name, traffic, flops)
    until(replied, TRANSFER)
    until(end, WAITING)
    return found


def _by_our_clock(exchange: Exchange, offset: float, end: float) -> list[Work]:
    """The work of an exchange by this process's clock.

    An offset that was estimated while the machine was busy may be wrong by more than short work takes, which would lie
    outside of its exchange and be lost. It is corrected by as much as the exchange says: no work begins before the
    request, nor ends after the reply.
    """
    if not exchange.work:
        return []
    latest = min(work.begun for work in exchange.work) - exchange.sent
    least = max(work.done for work in exchange.work) - (exchange.received or end)
    offset = min(max(offset, least), latest)
    return [work._replace(begun=work.begun - offset, done=work.done - offset) for work in exchange.work]
