"""The clock of a traced run on ranks with two sides: each is a lane, and halos and sums are events of their own."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import MethodType
from typing import NamedTuple

from workbench.devices.accelerator.runtime import Runtime, Span
from workbench.devices.clock import ACCELERATOR, CPU, Recorder, Returned, Work, rank_lane
from workbench.devices.pair.sides import PairClock
from workbench.extensions.mpi.device.clock import LEAST

SHORTEST = 1e-9
"""Seconds that a kernel takes at least: a part that waits for a message all the time has no kernel, and ends before it
begins."""


class _Message(NamedTuple):
    """A halo or a sum within a step. lane: that of the cores where the host waits for the other ranks. behind: whose
    work it sends, so that the host waits for that first; empty where none is under way."""

    name: str
    lane: str
    span: Span
    behind: str


class RankPairClock(PairClock):
    """Records what a step does between its halos and sums under the name of the step.

    Messages through host memory are on the lane of the cores, which wait for them; those in the stream of the kernels
    are on the lane of the accelerator.
    """

    def __init__(self, runtime: Runtime, recorder: Recorder, rank: int) -> None:
        super().__init__(runtime, recorder)
        self._rank = rank
        self._within: list[_Message] | None = None
        """Messages of the present step, None outside of steps."""

    def lane_in_trace(self, lane: str) -> str:
        return rank_lane(self._rank, lane)

    def attach(self, name: str, *methods: MethodType, behind: str = "") -> None:
        """Record calls of methods as messages: HALO or SUM. behind: the lane whose work they send, if the host waits
        for it in them."""
        for method in methods:
            setattr(method.__self__, method.__name__, self._message(method, name, behind))

    def timed(self, run: Callable[..., Returned], name: str, work: Work) -> Callable[..., Returned]:
        def call(*arguments: object) -> Returned:
            if not self.is_recording:
                return run(*arguments)
            before, outer = len(self.noted), self._within
            self._within = messages = []
            try:
                returned, lane, span = self._spanned(run, arguments, name)
            finally:
                self._within = outer
            if len(self.noted) > before:
                # Steps within this one are recorded alone.
                self._note_messages(messages)
            else:
                self._note_step(name, lane, work, span, messages)
            return returned

        return call

    def _note_step(self, name: str, lane: str, work: Work, span: Span, messages: list[_Message]) -> None:
        """The parts of a step before, between and after its messages."""
        if not messages:
            self.note(name, lane, work, span)
            return
        begin: Callable[[], float] = lambda: span()[0]  # noqa: E731
        for message in messages:
            self._note_part(name, lane, work, begin, lambda of=message: of.span()[0])
            self._note_messages([message])
            begin = lambda of=message: of.span()[1]  # noqa: E731
        self._note_part(name, lane, work, begin, lambda: span()[1])

    def _note_part(
        self, name: str, lane: str, work: Work, begin: Callable[[], float], end: Callable[[], float]
    ) -> None:
        self.note(name, lane, work, lambda: (begin(), end())).least = LEAST if lane == CPU else SHORTEST

    def _note_messages(self, messages: list[_Message]) -> None:
        for name, lane, span, behind in messages:
            if lane == CPU and behind:
                self.follow(CPU, behind)
            self.note(name, lane, lambda: (0, 0), span)

    def _message(self, run: Callable[..., Returned], name: str, behind: str) -> Callable[..., Returned]:
        def call(*arguments: object) -> Returned:
            if not self.is_recording:
                return run(*arguments)
            returned, lane, span = self._spanned(run, arguments, name)
            message = _Message(name, lane, span, behind)
            if self._within is None:
                self._note_messages([message])
            else:
                self._within.append(message)
            return returned

        return call

    def _spanned(
        self, run: Callable[..., Returned], arguments: tuple[object, ...], name: str
    ) -> tuple[Returned, str, Span]:
        """The result, the lane of the work and its span: that of the device, or that of the call on the cores."""
        start = time.perf_counter()
        returned, span = self.runtime.timed(lambda: run(*arguments), name)
        end, origin = time.perf_counter(), self.recorder.origin
        if span is not None:
            return returned, ACCELERATOR, self.of_host(span)
        return returned, CPU, lambda: (start - origin, end - origin)
