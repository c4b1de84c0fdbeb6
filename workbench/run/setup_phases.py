"""The phases of a setup: names, seconds, and the memory that each leaves in use."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

import psutil

PROBLEM = "problem"
"""Assembly of the system."""


class Phased(Protocol):
    """What a setup with phases calls around each."""

    def __call__(self, name: str) -> contextlib.AbstractContextManager[None]: ...


@dataclasses.dataclass(frozen=True)
class SetupPhase:
    """nbytes: memory in use after the phase less that before it: what the device has allocated, or, on the cores, what
    the process has; it may be negative, and a page more or less."""

    name: str
    seconds: float
    nbytes: int


class SetupPhases:
    """The phases of one setup, in order. A phase of a name that has occurred is added to it."""

    def __init__(self) -> None:
        self.done: list[SetupPhase] = []
        self.present = ""
        """The phase in progress; empty before and after the setup."""
        self._device: Any = None
        self._process = psutil.Process()

    def on(self, device: Any) -> None:
        """Wait for this device at the end of each phase, and count its memory."""
        self._device = device

    @contextlib.contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """A phase. Cost: two reads of the memory in use, tens of microseconds."""
        before, begun = self._in_use(), time.perf_counter()
        outer, self.present = self.present, name
        try:
            yield
            if self._device is not None:
                self._device.synchronize()
        finally:
            self.present = outer
        self._add(SetupPhase(name, time.perf_counter() - begun, self._in_use() - before))

    def plain(self) -> list[dict[str, Any]]:
        """The phases as plain data."""
        return [dataclasses.asdict(phase) for phase in self.done]

    def _add(self, phase: SetupPhase) -> None:
        for place, earlier in enumerate(self.done):
            if earlier.name == phase.name:
                both = earlier.seconds + phase.seconds, earlier.nbytes + phase.nbytes
                self.done[place] = SetupPhase(phase.name, *both)
                return
        self.done.append(phase)

    def _in_use(self) -> int:
        budget = getattr(self._device, "budget", None)
        return self._process.memory_info().rss if budget is None else budget.allocated


def in_words(phases: Sequence[Mapping[str, Any]], seconds: float) -> str:
    """The phases of a setup that took so long as one clause, those of a percent and more, longest first."""
    shown = [phase for phase in phases if phase["seconds"] >= 0.01 * seconds]
    shown.sort(key=lambda phase: -phase["seconds"])
    return ", ".join(f"{phase['name']} {phase['seconds']:.2g} s" for phase in shown)
