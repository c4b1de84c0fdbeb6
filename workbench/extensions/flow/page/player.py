"""A sequence of systems, stepped in a thread of its own, which also does what views ask for between two steps."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from workbench.jit import compile_time
from workbench.run import Configuration
from workbench.run.jobs.job import State
from workbench.run.jobs.pausable_job import PausableJob
from workbench.run.jobs.run_queue import MACHINE, QueueSlot
from workbench.sequences.sequence import Sequence

Act = Callable[[], object]
KEPT_STEPS, KEPT_BYTES = 1000, 256 << 20
"""The last steps, and their bytes at most, whose right-hand sides are kept for replays."""


class Player(PausableJob):
    """Plays a sequence from where it is. heard: called when it is paused or ends.

    While it plays, views look by the clock: woken at every step they would take half as long as the step.

    The sequence belongs to the thread as long as that works; `ask` has something done between two steps. A solve that
    is stopped leaves the sequence at the step before.
    """

    def __init__(self, sequence: Sequence, heard: Act) -> None:
        super().__init__(self._play, "workbench-flow", QueueSlot(MACHINE), lambda _job: self._end())
        self.sequence, self._heard = sequence, heard
        self._asked: deque[Act] = deque()
        self._serving = threading.RLock()

    @property
    def compiling(self) -> bool:
        """True while its thread compiles kernels, or waits for them."""
        return self.alive and compile_time.active(self._thread.ident or 0)

    def ask(self, act: Act) -> None:
        """Run `act` between two steps, in the thread that steps; at once while none does. The act reports its
        errors."""
        self._asked.append(act)
        if not self.working:
            self._serve()

    def _serve(self) -> None:
        with self._serving:
            while self._asked:
                self._asked.popleft()()

    def _play(self) -> None:
        self._wait_until(lambda: self._may_set_up, meanwhile=self._serve)
        with self._entering(State.RUNNING):
            pass
        while not self.stopping:
            self._wait_until(self._go.is_set, meanwhile=self._serve)
            if self.stopping or self.sequence.step(lambda: self.stopping) is None:
                return
            self._stepped()
            self._serve()
            if not self.steady:
                self._heard()

    def _end(self) -> None:
        self._serve()
        self._heard()


def to_play(first: Configuration, second: Mapping[str, Any]) -> Sequence:
    """A sequence at time 0, which keeps the right-hand sides of its last steps as `KEPT_STEPS`, `KEPT_BYTES` allow."""
    size = first.problem.known_size
    bytes_of_b = 8 * size.unknowns if size is not None and size.unknowns else KEPT_BYTES
    return Sequence(first, keep=max(1, min(KEPT_STEPS, KEPT_BYTES // bytes_of_b)), others=[second], at_once=False)
