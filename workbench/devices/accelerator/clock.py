"""The clock of an accelerator: spans measured by the device itself, read once its work is done."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from workbench.devices.accelerator.runtime import Runtime, Span
from workbench.devices.clock import ACCELERATOR, CPU, TO_HOST, Recorder, Work

Returned = TypeVar("Returned")
READINGS = 20


class DeviceClock:
    """Records the steps of a device and the reads of its scalars, in host time.

    Both clocks are compared before the run, with an error of a microsecond or two in every event.
    """

    def __init__(self, runtime: Runtime, recorder: Recorder) -> None:
        self.iteration = 0
        self.is_recording = True
        self._runtime, self._recorder = runtime, recorder
        self._waiting: list[tuple[str, Work, Span, int]] = []
        self._kernels: dict[tuple[str, str], int] = {}
        self._ahead = ahead(runtime) - recorder.origin

    def timed(self, run: Callable[..., Returned], name: str, work: Work) -> Callable[..., Returned]:
        def call(*arguments: object) -> Returned:
            if not self.is_recording:
                return run(*arguments)
            before, start = len(self._waiting), time.perf_counter()
            returned, span = self._runtime.timed(lambda: run(*arguments), name)
            # A call with recorded steps inside is recorded by those alone.
            if len(self._waiting) > before:
                return returned
            if span is not None:
                self._waiting.append((name, work, span, self.iteration))
            else:
                origin = self._recorder.origin
                self._add(name, CPU, work(), start - origin, time.perf_counter() - origin, self.iteration)
            return returned

        return call

    def reading(self, read: Callable[..., Returned], name: str = "scalars") -> Callable[..., Returned]:
        def call(*arguments: object) -> Returned:
            if not self.is_recording:
                return read(*arguments)
            # Time of kernels before the copy is not counted as the copy's.
            self._runtime.synchronize()
            origin, start = self._recorder.origin, time.perf_counter()
            returned = read(*arguments)
            work = getattr(returned, "nbytes", 0), 0
            self._add(name, TO_HOST, work, start - origin, time.perf_counter() - origin, self.iteration)
            return returned

        return call

    def resolve(self) -> None:
        if not self._waiting:
            return
        self._runtime.synchronize()
        waiting, self._waiting = self._waiting, []
        for name, work, span, iteration in waiting:
            start, end = span()
            self._add(name, ACCELERATOR, work(), start + self._ahead, end + self._ahead, iteration)

    def _add(self, name: str, lane: str, work: tuple[int, int], start: float, end: float, iteration: int) -> None:
        key = (name, lane)
        if key not in self._kernels:
            self._kernels[key] = self._recorder.kernel(name, lane, *work)
        self._recorder.add(self._kernels[key], start, end, iteration)


def ahead(runtime: Runtime) -> float:
    """Difference time.perf_counter() minus the device's clock, in seconds.

    Every reading has a delay, so the smallest of several differences is the most accurate.
    """
    found = []
    for _ in range(READINGS):
        device = runtime.now()
        found.append(time.perf_counter() - device)
    return min(found)
