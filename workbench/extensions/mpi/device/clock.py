"""The clock of a traced run on ranks: halos and sums are events of their own within the steps that make them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from workbench.devices.clock import CPU, HostClock, Recorder, Returned, Work

if TYPE_CHECKING:
    from workbench.extensions.mpi.device.halo import Halo
    from workbench.extensions.mpi.device.sums import Sums

HALO, SUM = "halo", "sum"
"""The names of an exchange of ghost planes and of a sum over the ranks, waiting for the others included."""
LEAST = 2e-6
"""Seconds of a step between two messages, below which they are not recorded."""


class _Part(NamedTuple):
    """An event within a step: a message that is not recorded yet, or a step that is. message: None for a step."""

    begin: float
    end: float
    message: int | None


class RankClock(HostClock):
    """Records what a step does between its halos and sums under the name of the step."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__(recorder)
        self._within: list[_Part] | None = None
        """Events within the present step, None outside of steps."""

    def attach(self, halo: Halo, sums: Sums) -> None:
        """Time the exchanges and the sums of a rank."""
        for owner, method, name in ((halo, "exchange", HALO), (sums, "total", SUM), (sums, "wait", SUM)):
            setattr(owner, method, self._timed_message(getattr(owner, method), name))

    def timed(self, run: Callable[..., Returned], name: str, work: Work) -> Callable[..., Returned]:
        kernel = -1

        def call(*arguments: object) -> Returned:
            nonlocal kernel
            if not self.is_recording:
                return run(*arguments)
            outer, self._within = self._within, []
            start = time.perf_counter()
            try:
                returned = run(*arguments)
            finally:
                parts, self._within = self._within, outer
            end = time.perf_counter()
            if kernel < 0:
                kernel = self._recorder.kernel(name, CPU, *work())
            self._record(kernel, start, end, parts)
            if outer is not None:
                outer.append(_Part(start, end, None))
            return returned

        return call

    def _timed_message(self, run: Callable[..., Returned], name: str) -> Callable[..., Returned]:
        kernel = -1

        def call(*arguments: object) -> Returned:
            nonlocal kernel
            if not self.is_recording:
                return run(*arguments)
            start = time.perf_counter()
            returned = run(*arguments)
            end = time.perf_counter()
            if kernel < 0:
                kernel = self._recorder.kernel(name, CPU)
            if self._within is None:
                self._add(kernel, start, end)
            else:
                self._within.append(_Part(start, end, kernel))
            return returned

        return call

    def _record(self, kernel: int, start: float, end: float, parts: list[_Part]) -> None:
        """A step and its messages in order; the messages alone where steps within it are recorded."""
        whole, at = all(part.message is not None for part in parts), start
        for part in parts:
            if whole and part.begin - at > LEAST:
                self._add(kernel, at, part.begin)
            if part.message is not None:
                self._add(part.message, part.begin, part.end)
            at = part.end
        if whole and (end - at > LEAST or not parts):
            self._add(kernel, at, end)

    def _add(self, kernel: int, start: float, end: float) -> None:
        origin = self._recorder.origin
        self._recorder.add(kernel, start - origin, end - origin, self.iteration)
