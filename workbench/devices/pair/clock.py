"""The clock of heterogeneous runs: four lanes in the host's time, and which event waited for which."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from workbench.devices.accelerator.clock import ahead
from workbench.devices.accelerator.runtime import Runtime, Span
from workbench.devices.clock import ACCELERATOR, CPU, Recorder, Work

Returned = TypeVar("Returned")


@dataclasses.dataclass(eq=False)
class Noted:
    """An enqueued kernel or copy whose times are recorded later.

    place: its index in the recorder once recorded; -1 before, and always where it is not recorded.
    """

    name: str
    lane: str
    work: Work
    span: Span
    iteration: int
    after: Sequence[Noted]
    place: int = -1


class PairClock:
    """Records kernels and copies of cores and accelerator, in the order in which the host issued them.

    In that order nothing waits for a later event, so it is the order of the trace, the host's own work included. Both
    clocks are compared before the run, with an error of a microsecond or two in every event.
    """

    def __init__(self, runtime: Runtime, recorder: Recorder) -> None:
        self.iteration = 0
        self.noting = True
        self._runtime, self._recorder = runtime, recorder
        self._noted: list[Noted] = []
        self._latest: dict[str, Noted] = {}
        self._waiting: dict[str, list[Noted]] = {}
        self._kernels: dict[tuple[str, str], int] = {}
        self._ahead = ahead(runtime) - recorder.origin

    def timed(self, run: Callable[..., Returned], name: str, work: Work) -> Callable[..., Returned]:
        """A callable that records `run`: on the accelerator, or on the cores if it enqueued nothing there."""

        def call(*arguments: object) -> Returned:
            if not self.noting:
                return run(*arguments)
            before, start = len(self._noted), time.perf_counter()
            returned, span = self._runtime.timed(lambda: run(*arguments), name)
            end = time.perf_counter()
            # A call with recorded steps inside is recorded by those alone.
            if len(self._noted) > before:
                return returned
            if span is not None:
                self.note(name, ACCELERATOR, work, self._of_host(span))
            else:
                origin = self._recorder.origin
                self.note(name, CPU, work, lambda: (start - origin, end - origin))
            return returned

        return call

    def copied(self, name: str, lane: str, nbytes: int, span: Span, *behind: str) -> Noted:
        """Record a copy that waits for all work issued to the lanes `behind` so far."""
        for other in behind:
            self.follow(lane, other)
        return self.note(name, lane, lambda: (nbytes, 0), self._of_host(span))

    def wait(self, lane: str, noted: Sequence[Noted]) -> None:
        """The next event of a lane waits for these."""
        if self.noting:
            self._waiting.setdefault(lane, []).extend(noted)

    def follow(self, lane: str, other: str) -> None:
        """The next event of a lane waits for the latest of another."""
        self.wait(lane, [self._latest[other]] if other in self._latest else [])

    def note(self, name: str, lane: str, work: Work, span: Span) -> Noted:
        """Record an event whose span is in the time of the recorder.

        The host is one of the cores: what it issues begins after what the cores did before.
        """
        if not self.noting:
            return Noted(name, lane, work, span, self.iteration, ())
        if lane != CPU:
            self.follow(lane, CPU)
        after = tuple(dict.fromkeys(self._waiting.pop(lane, ())))
        made = Noted(name, lane, work, span, self.iteration, after)
        self._noted.append(made)
        self._latest[lane] = made
        return made

    def reading(self, read: Callable[..., Returned], name: str = "scalars") -> Callable[..., Returned]:
        """The scalars are in the host's memory already."""
        return read

    def resolve(self) -> None:
        if not self._noted:
            return
        self._runtime.synchronize()
        noted, self._noted = self._noted, []
        for event in noted:
            key = (event.name, event.lane)
            if key not in self._kernels:
                self._kernels[key] = self._recorder.kernel(event.name, event.lane, *event.work())
            after = tuple(waited.place for waited in event.after if waited.place >= 0)
            start, end = event.span()
            event.place = self._recorder.add(self._kernels[key], start, end, event.iteration, after)
            # Events waited for are known by their places from here on; keeping the objects would keep the whole run.
            event.after = ()

    def _of_host(self, span: Span) -> Span:
        def converted() -> tuple[float, float]:
            start, end = span()
            return start + self._ahead, end + self._ahead

        return converted
