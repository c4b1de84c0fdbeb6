"""The clock of a traced run on ranks with accelerators: halos and sums are events of their own within the steps."""

from __future__ import annotations

import time
from collections.abc import Callable

from workbench.devices.accelerator.clock import DeviceClock
from workbench.devices.accelerator.runtime import Span
from workbench.devices.clock import Returned, Work
from workbench.extensions.mpi.device.clock import HALO, SUM
from workbench.extensions.mpi.device.links import Link


class RankDeviceClock(DeviceClock):
    """Records what a step does between its halos and sums under the name of the step.

    What the host does in a step, such as copies through pinned memory, is recorded by the host's clock.
    """

    def attach(self, link: Link) -> None:
        """Time the exchanges and the sums of a rank."""
        for method, name in (("exchange", HALO), ("total", SUM)):
            setattr(link, method, self._message(getattr(link, method), name))

    def timed(self, run: Callable[..., Returned], name: str, work: Work) -> Callable[..., Returned]:
        def call(*arguments: object) -> Returned:
            if not self.is_recording:
                return run(*arguments)
            before = len(self._waiting)
            returned, span = self._spanned(run, arguments, name)
            within = self._waiting[before:]
            # Steps within this one are recorded alone.
            if all(inner in (HALO, SUM) for inner, *_ in within):
                del self._waiting[before:]
                begin: Callable[[], float] = lambda: span()[0]  # noqa: E731
                for message in within:
                    self._waiting += [(name, work, _between(begin, message[2], 0), self.iteration), message]
                    begin = lambda of=message[2]: of()[1]  # noqa: E731
                self._waiting.append((name, work, _between(begin, span, 1), self.iteration))
            return returned

        return call

    def _message(self, run: Callable[..., None], name: str) -> Callable[..., None]:
        def call(*arguments: object) -> None:
            if not self.is_recording:
                return run(*arguments)
            _, span = self._spanned(run, arguments, name)
            self._waiting.append((name, lambda: (0, 0), span, self.iteration))

        return call

    def _spanned(self, run: Callable[..., Returned], arguments: tuple[object, ...], name: str) -> tuple[Returned, Span]:
        """The result, and the span of the work on the device, or else of the call."""
        begun = self._host_time()
        returned, span = self._runtime.timed(lambda: run(*arguments), name)
        ended = self._host_time()
        return returned, span or (lambda: (begun, ended))

    def _host_time(self) -> float:
        """Now, on the clock of the device."""
        return time.perf_counter() - self._recorder.origin - self._ahead

    def _add(self, name: str, lane: str, work: tuple[int, int], start: float, end: float, iteration: int) -> None:
        if end > start:
            super()._add(name, lane, work, start, end, iteration)


def _between(begin: Callable[[], float], span: Span, place: int) -> Span:
    """From one time to the start or the end of a span."""
    return lambda: (begin(), span()[place])
