"""Cores and accelerator as two sides of one run, and the link between them: the interface of hybrid schedules.

    accelerator.run(updates)
    copy = link.to_host("w", "r", "u")      # begins when `updates` is done, concurrent with what follows
    accelerator.run(products)               # returns at once
    cpu.wait(copy)
    cpu.run(dots)                           # returns when it is done

Work of one side is done in order. Between the sides the only order is that of `wait` and `take`, and that a copy begins
after the work enqueued on its source before. The same calls record in a traced run what waited for what: the clock has
four lanes in the host's time.
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeVar

import numpy as np

from workbench.devices.accelerator.clock import ahead
from workbench.devices.accelerator.device import Accelerator
from workbench.devices.accelerator.runtime import Runtime, Signal, Span, Vector
from workbench.devices.clock import ACCELERATOR, CPU, TO_DEVICE, TO_HOST, Recorder, Work
from workbench.devices.programs.workspace import Compiled, Workspace

Returned = TypeVar("Returned")


@dataclasses.dataclass(eq=False)
class Noted:
    """An enqueued kernel or copy whose times are recorded later.

    place: its index in the recorder once recorded, and that of the event before it on its lane where it is too short to
    be; -1 before. least: seconds below which it is not recorded.
    """

    name: str
    lane: str
    work: Work
    span: Span
    iteration: int
    after: Sequence[Noted]
    place: int = -1
    least: float = -math.inf


class PairClock:
    """Records kernels and copies of cores and accelerator, in the order in which the host issued them.

    In that order nothing waits for a later event, so it is the order of the trace, the host's own work included. Both
    clocks are compared before the run, with an error of a microsecond or two in every event.
    """

    def __init__(self, runtime: Runtime, recorder: Recorder) -> None:
        self.iteration = 0
        self.is_recording = True
        self.runtime, self.recorder = runtime, recorder
        self.noted: list[Noted] = []
        """Events whose times are not read yet."""
        self._latest: dict[str, Noted] = {}
        self._recorded: dict[str, int] = {}
        """The latest event of each lane in the recorder."""
        self._waiting: dict[str, list[Noted]] = {}
        self._kernels: dict[tuple[str, str], int] = {}
        self._ahead = ahead(runtime) - recorder.origin

    def timed(self, run: Callable[..., Returned], name: str, work: Work) -> Callable[..., Returned]:
        """A callable that records `run`: on the accelerator, or on the cores if it enqueued nothing there."""

        def call(*arguments: object) -> Returned:
            if not self.is_recording:
                return run(*arguments)
            before, start = len(self.noted), time.perf_counter()
            returned, span = self.runtime.timed(lambda: run(*arguments), name)
            end = time.perf_counter()
            # A call with recorded steps inside is recorded by those alone.
            if len(self.noted) > before:
                return returned
            if span is not None:
                self.note(name, ACCELERATOR, work, self.of_host(span))
            else:
                origin = self.recorder.origin
                self.note(name, CPU, work, lambda: (start - origin, end - origin))
            return returned

        return call

    def copied(self, name: str, lane: str, nbytes: int, span: Span, *behind: str) -> Noted:
        """Record a copy that waits for all work issued to the lanes `behind` so far."""
        for other in behind:
            self.follow(lane, other)
        return self.note(name, lane, lambda: (nbytes, 0), self.of_host(span))

    def wait(self, lane: str, noted: Sequence[Noted]) -> None:
        """The next event of a lane waits for these."""
        if self.is_recording:
            self._waiting.setdefault(lane, []).extend(noted)

    def follow(self, lane: str, other: str) -> None:
        """The next event of a lane waits for the latest of another."""
        self.wait(lane, [self._latest[other]] if other in self._latest else [])

    def note(self, name: str, lane: str, work: Work, span: Span) -> Noted:
        """Record an event whose span is in the time of the recorder.

        The host is one of the cores: what it issues begins after what the cores did before.
        """
        if not self.is_recording:
            return Noted(name, lane, work, span, self.iteration, ())
        if lane != CPU:
            self.follow(lane, CPU)
        after = tuple(dict.fromkeys(self._waiting.pop(lane, ())))
        made = Noted(name, lane, work, span, self.iteration, after)
        self.noted.append(made)
        self._latest[lane] = made
        return made

    def reading(self, read: Callable[..., Returned], name: str = "scalars") -> Callable[..., Returned]:
        """The scalars are in the host's memory already."""
        return read

    def resolve(self) -> None:
        if not self.noted:
            return
        self.runtime.synchronize()
        noted, self.noted = self.noted, []
        for event in noted:
            key = (event.name, event.lane)
            if key not in self._kernels:
                self._kernels[key] = self.recorder.kernel(event.name, self.lane_in_trace(event.lane), *event.work())
            after = tuple(waited.place for waited in event.after if waited.place >= 0)
            start, end = event.span()
            if end - start >= event.least:
                self._recorded[event.lane] = self.recorder.add(self._kernels[key], start, end, event.iteration, after)
            # What waits for an event without a length waits for what was done there before.
            event.place = self._recorded.get(event.lane, -1)
            # Events waited for are known by their places from here on; keeping the objects would keep the whole run.
            event.after = ()

    def lane_in_trace(self, lane: str) -> str:
        """The name of a lane in the trace; a rank puts its number in front."""
        return lane

    def of_host(self, span: Span) -> Span:
        """A span of the device's clock in the time of the recorder."""

        def converted() -> tuple[float, float]:
            start, end = span()
            return start + self._ahead, end + self._ahead

        return converted


@dataclasses.dataclass
class Copy:
    """Copies in progress. landed: what the host does once it has waited for them."""

    signals: list[Signal]
    noted: list[Noted]
    landed: Callable[[], None] = lambda: None


@dataclasses.dataclass(frozen=True)
class Part:
    """Page-locked host memory, copied from or to a vector of the accelerator from its element `first` on."""

    host: np.ndarray
    first: int = 0


class CpuSide:
    """All cores, in the calling thread: work is done when the call returns."""

    def __init__(self, space: Workspace) -> None:
        self.space = space

    def lines(self, *texts: str) -> tuple[Compiled, ...]:
        """Programs of paper lines on the vectors of this side; the first runs before the others."""
        return self.space.lines(*texts)

    def run(self, *programs: Compiled) -> None:
        for program in programs:
            program()

    def wait(self, *copies: Copy) -> None:
        """The cores wait until copies are done."""
        for copy in copies:
            for signal in copy.signals:
                signal.wait()
            # Work of `landed` is after the copy too.
            _note_wait(self.space, CPU, [copy])
            copy.landed()


class AcceleratorSide:
    """The accelerator: work is enqueued, and the call returns at once."""

    def __init__(self, space: Workspace) -> None:
        self.space, self._runtime = space, _runtime(space)

    def lines(self, *texts: str) -> tuple[Compiled, ...]:
        """Programs of paper lines on the vectors of this side; the first runs before the others."""
        return self.space.lines(*texts)

    def run(self, *programs: Compiled) -> None:
        for program in programs:
            program()
        self._runtime.flush()

    def wait(self, *copies: Copy) -> None:
        """Work enqueued from now on waits for copies; the host does not."""
        for copy in copies:
            for signal in copy.signals:
                self._runtime.hold(signal)
        _note_wait(self.space, ACCELERATOR, copies)

    def take(self, cpu: CpuSide, *names: str) -> None:
        """Copy scalars of the cores' side, by value: they may change there as soon as the call returns."""
        clock = self.space.clock

        def take() -> None:
            for name in names:
                self.space.set_scalar(name, cpu.space.scalar(name))

        if isinstance(clock, PairClock):
            clock.timed(take, ", ".join(names), lambda: (0, 0))()
        else:
            take()


class Link:
    """Copies between the sides, one stream for each direction, concurrent with kernels and each other.

    arrivals: where the accelerator's vectors are copied to, by their names; departures: from where in host memory, and
    to which vector of the accelerator.
    """

    def __init__(
        self,
        cpu: CpuSide,
        accelerator: AcceleratorSide,
        arrivals: Mapping[str, Part],
        departures: Mapping[str, tuple[Part, Vector]],
    ) -> None:
        self.cpu, self._accelerator, self._runtime = cpu, accelerator, _runtime(accelerator.space)
        self._arrivals, self._departures = arrivals, departures
        self._to_host, self._to_device = self._runtime.stream(), self._runtime.stream()
        self._scalars = np.zeros(0)

    def to_host(self, *names: str) -> Copy:
        """Copy vectors of the accelerator, as they are when the work enqueued so far is done."""
        vectors = [(name, self._accelerator.space.vector(name), self._arrivals[name]) for name in names]
        return self._fetch(vectors)

    def to_device(self, *names: str) -> Copy:
        """Copy vectors of the host as they are now; they may not change before the copy is waited for.

        Begins when the work enqueued on the accelerator so far is done, since that may read what the copy overwrites.
        """
        made, ready = Copy([], []), self._runtime.mark()
        for name in names:
            part, vector = self._departures[name]
            if part.host.size:
                signal = self._to_device.to_device(vector.handle, part.host, ready, part.first * vector.itemsize)
                self._note(made, name, TO_DEVICE, part.host.nbytes, signal, ACCELERATOR)
        return made

    def sums_to_host(self, **names: str) -> Copy:
        """Copy scalars of the accelerator: sums_to_host(gamma="gamma_there") sets the cores' `gamma_there`.

        They are set when the cores have waited for the copy.
        """
        there, here = self._accelerator.space, self.cpu.space
        if self._scalars.size != there.scalars.size:
            self._scalars = self._runtime.pinned(there.scalars.nbytes).view(there.scalars.dtype)
        made = self._fetch([("scalars", there.scalars, Part(self._scalars))])

        def landed() -> None:
            for name, target in names.items():
                here.set_scalar(target, self._scalars[there.slots[name]])

        made.landed = landed
        return made

    def _fetch(self, vectors: list[tuple[str, Vector, Part]]) -> Copy:
        made, ready = Copy([], []), self._runtime.mark()
        for name, vector, part in vectors:
            if part.host.size:
                signal = self._to_host.to_host(part.host, vector.handle, ready, part.first * vector.itemsize)
                self._note(made, name, TO_HOST, part.host.nbytes, signal, ACCELERATOR)
        return made

    def _note(self, copy: Copy, name: str, lane: str, nbytes: int, signal: Signal, *behind: str) -> None:
        copy.signals.append(signal)
        clock = self._accelerator.space.clock
        if isinstance(clock, PairClock):
            copy.noted.append(clock.copied(name, lane, nbytes, signal.span, *behind))


class OtherRanks(Protocol):
    """The ghosts of the vector that A is applied to, where both sides have rows of a rank."""

    def send(self) -> None:
        """Begin to send what other ranks read, once both halves are in host memory, and to receive what this one does.

        The halves may not change before `receive`.
        """
        ...

    def receive(self) -> Copy:
        """Wait until the ghosts are in host memory, and begin to copy them to the accelerator."""
        ...


@dataclasses.dataclass(frozen=True)
class Sides:
    """Both sides of a run and the link between them: what a schedule works with.

    others: set where other ranks have rows that these sides read.
    """

    cpu: CpuSide
    accelerator: AcceleratorSide
    link: Link
    others: OtherRanks | None = None


def _note_wait(space: Workspace, lane: str, copies: Sequence[Copy]) -> None:
    if isinstance(space.clock, PairClock):
        space.clock.wait(lane, [noted for copy in copies for noted in copy.noted])


def _runtime(space: Workspace) -> Runtime:
    assert isinstance(space.device, Accelerator)
    return space.device.runtime
