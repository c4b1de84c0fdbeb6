"""The phases of a setup: names, seconds, and the memory that each leaves in use.

They add up to the time of the setup. The compilation of kernels, once per machine, is in none of them: it is counted
for itself.
"""

from __future__ import annotations

import contextlib
import dataclasses
import threading
import time
from collections.abc import Generator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.jit import compile_time as compiling
from workbench.process import limits

if TYPE_CHECKING:
    from workbench.devices.protocol import Device

DEVICE = "start of the device"
"""Import of its library, and its context, in the first run of a process."""
PROBLEM = "problem"
"""Assembly of the system."""
PLAN = "plan of an iteration"
"""Both levels as one M, and the passes of the iteration with their vectors."""
REST = "rest"
"""Everything in no other phase."""
COMPILATION = "compilation of kernels"
"""The value of `present` while the setup waits for kernels, in whichever phase."""


@dataclasses.dataclass(frozen=True)
class SetupPhase:
    """nbytes: memory in use after the phase less that before it: what the device has allocated, or, on the cores, what
    the process has; it may be negative, and a page more or less."""

    name: str
    seconds: float
    nbytes: int


class Begun(NamedTuple):
    """The state as a phase began: clock and memory in use, the phase around it, and those within that one so far."""

    clock: float
    nbytes: int
    outer: str
    inner: tuple[float, int]


class Phase:
    """A phase as a context; a generator would take longer than the phase of a small system."""

    def __init__(self, phases: SetupPhases, name: str) -> None:
        self._phases, self._name = phases, name

    def __enter__(self) -> None:
        self._begun = self._phases.begin(self._name)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._phases.end(self._name, self._begun, failed=kind is not None)


class SetupPhases:
    """The phases of one setup, in order. A phase of a name that has occurred is added to it; a phase within another is
    not counted in that one."""

    def __init__(self) -> None:
        self.done: list[SetupPhase] = []
        self.compile_seconds = 0.0
        """Seconds of compiling kernels, waiting for their compiler, or loading them on an accelerator."""
        self.kernels = compiling.Kernels()
        """The kernels that this setup has asked a compiler for, so far, and those that are there."""
        self._present = ""
        self._thread = 0
        self._inner = (0.0, 0)
        self._device: Device | None = None

    @property
    def present(self) -> str:
        """The phase in progress, or `COMPILATION`; empty before and after the setup."""
        return COMPILATION if self._present and compiling.active(self._thread) else self._present

    @property
    def seconds(self) -> float:
        """The time of the setup without compilation, in s: the sum of its phases."""
        return sum(phase.seconds for phase in self.done)

    def on(self, device: Device) -> None:
        """Count the memory of this device, and wait for it at the end of a phase that is within no other.

        Within a setup as a whole the device works while the host prepares what follows, so that work may be waited for
        in a later phase than the one that enqueued it.
        """
        self._device = device

    @contextlib.contextmanager
    def whole(self) -> Generator[None]:
        """The setup as a whole, with everything that has no phase of its own as `REST`."""
        compiled = compiling.spent()
        with compiling.counted() as self.kernels, self(REST):
            yield
        self.compile_seconds += compiling.spent() - compiled

    def __call__(self, name: str) -> Phase:
        """A phase, as a context. Cost: two reads of the memory in use, some microseconds."""
        return Phase(self, name)

    def begin(self, name: str) -> Begun:
        """Begin a phase within the present one; returns what `end` needs."""
        self._thread = threading.get_ident()
        begun = Begun(_clock(), self._in_use(), self._present, self._inner)
        self._present, self._inner = name, (0.0, 0)
        return begun

    def end(self, name: str, begun: Begun, *, failed: bool) -> None:
        """End a phase; one that failed is not listed."""
        try:
            if self._device is not None and not begun.outer and not failed:
                self._device.synchronize()
        finally:
            self._present = begun.outer
            seconds, nbytes = _clock() - begun.clock, self._in_use() - begun.nbytes
            inner, self._inner = self._inner, (begun.inner[0] + seconds, begun.inner[1] + nbytes)
        if not failed:
            self._add(SetupPhase(name, seconds - inner[0], nbytes - inner[1]))

    def follow(self, done: Sequence[SetupPhase], present: str, before: int) -> None:
        """Show the phases of a setup in another process, behind the first `before` of this one."""
        self.done = [*self.done[:before], *done]
        self._present = present

    def take_over(self, seconds: float) -> None:
        """Count seconds of the present phase as time of phases that it follows."""
        self._inner = (self._inner[0] + seconds, self._inner[1])

    def plain(self) -> list[dict[str, Any]]:
        """The phases as plain data."""
        return [{"name": phase.name, "seconds": phase.seconds, "nbytes": phase.nbytes} for phase in self.done]

    def shown(self) -> list[list[Any]]:
        """[name, seconds, done] of each phase, the present one last."""
        present = self.present
        done = [[phase.name, phase.seconds, True] for phase in tuple(self.done) if phase.name != present]
        return [*done, *([[present, 0.0, False]] if present else [])]

    def _add(self, phase: SetupPhase) -> None:
        for place, earlier in enumerate(self.done):
            if earlier.name == phase.name:
                both = earlier.seconds + phase.seconds, earlier.nbytes + phase.nbytes
                self.done[place] = SetupPhase(phase.name, *both)
                return
        self.done.append(phase)

    def _in_use(self) -> int:
        budget = getattr(self._device, "budget", None)
        return limits.resident() if budget is None else budget.allocated


def _clock() -> float:
    """Seconds, standing still while this thread compiles."""
    return time.perf_counter() - compiling.spent()


def in_words(phases: Sequence[Mapping[str, Any]], seconds: float) -> str:
    """The phases of a setup of these seconds as one clause, those of a percent and more, longest first."""
    shown = [phase for phase in phases if phase["seconds"] >= 0.01 * seconds]
    shown.sort(key=lambda phase: -phase["seconds"])
    return ", ".join(f"{phase['name']} {phase['seconds']:.2g} s" for phase in shown)
