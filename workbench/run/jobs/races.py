"""Races: several runs in one thread, in time slices, so that no run's clock counts the work of another."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable, Sequence

from workbench.errors import InputError
from workbench.records import Record
from workbench.run.choices.configuration import Configuration
from workbench.run.jobs.job import State
from workbench.run.jobs.race_entry import RaceEntry
from workbench.run.jobs.run_queue import MACHINE, QueueSlot, RunQueue
from workbench.run.loop.result import Result
from workbench.words.distinct import distinct_names

SLICE_SECONDS = 0.03
"""Length of a time slice: long compared with refilling the caches, short compared with the refresh of a plot."""


class Race:
    """Several runs in round-robin time slices, in one thread that ends with the last entry.

    The clock of an entry is its run's `iteration_seconds` (in s), which counts its own iterations alone. A time slice
    takes `slice_seconds`, at least one iteration; 0 makes it one (on an accelerator those until the next check). Short
    slices are the more even, but entries share the caches: the first iterations of a slice reload vectors that the
    other entries evicted. A setup takes a whole slice while the others wait, since concurrent work would count on
    their clocks. All methods but `wait` return at once, and may be called while entries run. Raises InputError for
    slice_seconds below 0.

    A race takes one slot in the run queue, and releases it while all entries are held. queue: None for a queue of its
    own, so that it runs concurrently with all other jobs.

    Examples:
        >>> from workbench.run import Race, configure
        >>> race = Race(configure("two-layer", n=16, solver=solver) for solver in ("cg", "pipecg"))
        >>> [result.converged for result in race.wait()]
        [True, True]
    """

    def __init__(
        self,
        configurations: Iterable[Configuration] = (),
        *,
        slice_seconds: float = SLICE_SECONDS,
        queue: RunQueue | None = MACHINE,
    ) -> None:
        if not (math.isfinite(slice_seconds) and slice_seconds >= 0):
            raise InputError(f"slice_seconds must be a finite number of at least 0, got {slice_seconds}")
        self._slice_seconds = slice_seconds
        self._slot = QueueSlot(queue if queue is not None else RunQueue())
        self._condition = threading.Condition()
        self._entries: list[RaceEntry] = []
        self._removed: list[RaceEntry] = []
        """Removed entries that the thread has yet to end."""
        self._thread: threading.Thread | None = None
        self._started = False
        self._count = 0
        for configuration in configurations:
            self.add(configuration)

    @property
    def entries(self) -> tuple[RaceEntry, ...]:
        """The entries in the order in which they were added."""
        return tuple(self._entries)

    @property
    def state(self) -> State:
        """The state of all entries together: IDLE, QUEUED, RUNNING, PAUSED or DONE."""
        if self.alive:
            return State.PAUSED if self.held else State.QUEUED if self.ahead else State.RUNNING
        all_ended = bool(self._entries) and all(entry.ended for entry in self._entries)
        return State.DONE if all_ended or self.lingering else State.IDLE

    @property
    def alive(self) -> bool:
        """It has been started, and an entry has not ended."""
        return self._thread is not None and not all(entry.ended for entry in self._entries)

    @property
    def begun(self) -> bool:
        """It has been started, or an entry has been stopped; holding an entry does not count."""
        return self.alive or any(entry.begun for entry in self._entries)

    @property
    def held(self) -> bool:
        """Some entries have not ended, and all of these are held."""
        left = [entry for entry in self._entries if not entry.ended]
        return bool(left) and all(entry.held for entry in left)

    @property
    def lingering(self) -> bool:
        """All entries have ended, but an iteration or a setup is still finishing in the background."""
        return self._thread is not None and not self.alive

    @property
    def ending(self) -> bool:
        """The cancellation of an entry has been requested, and it has not ended yet."""
        return any(entry.ending for entry in self._entries)

    @property
    def steady(self) -> bool:
        """It is active, with no request pending."""
        return self.state is State.RUNNING and not self.ending

    @property
    def ahead(self) -> int:
        """The number of jobs before this one in the run queue, the active one included; 0 when active or not queued."""
        return self._slot.ahead

    @property
    def waited(self) -> float:
        """Seconds in the run queue, see `QueueSlot.waited`."""
        return self._slot.waited

    def add(self, configuration: Configuration, number: int = 0, *, paused: bool = False) -> RaceEntry:
        """Add an entry, which starts at once if the race has been started, or waits for `resume` if paused. number:
        as in `recall`."""
        return self._add(configuration, lambda entry: setattr(entry, "held", paused), number)

    def recall(
        self, configuration: Configuration, record: Record | None, error: str = "", number: int = 0
    ) -> RaceEntry:
        """Add an entry that has ended before, with its run as plain data or the sentence of its failure. number: that
        it keeps where it is free, 0 for the next one."""
        return self._add(configuration, lambda entry: entry.recall(record, error), number)

    def arrange(self, entries: Sequence[RaceEntry]) -> None:
        """Let the entries, which stay the same ones, have this order."""
        with self._condition:
            self._set(sorted(self._entries, key=[*entries].index))

    def start(self) -> None:
        """Start all entries."""
        with self._condition:
            self._started = True
            self._wake()

    def pause(self, *entries: RaceEntry) -> None:
        """Hold these entries, or all; the current iteration is finished."""
        self._apply(entries, lambda entry: setattr(entry, "held", True))

    def resume(self, *entries: RaceEntry) -> None:
        """Resume these entries, or all."""
        self._apply(entries, lambda entry: setattr(entry, "held", False))

    def stop(self, *entries: RaceEntry) -> None:
        """End these entries, or all, before their next iteration; their results so far stay."""
        with self._condition:
            self._apply(entries, RaceEntry.stop)
            # An entry that is stopped before the start needs the thread too, which sets its final state.
            self._started = True
            self._wake()

    def remove(self, entry: RaceEntry) -> None:
        """End an entry and remove it. Raises InputError for one that is not in the race."""
        with self._condition:
            self._check([entry])
            entry.stop()
            if self._thread:
                self._removed = [*self._removed, entry]
            self._set([other for other in self._entries if other is not entry])

    def wait(self, timeout: float | None = None) -> list[Result]:
        """Start, wait until every entry has ended, and return a result for each, in the order of the entries.

        That of an entry that failed says why (`Reason.FAILED`), and has no x.
        Interrupting the wait stops the race. Raises TimeoutError when it takes longer than `timeout` seconds.
        """
        self.start()
        try:
            with self._condition:
                over = self._condition.wait_for(lambda: self._thread is None, timeout)
        except KeyboardInterrupt:
            self.stop()
            with self._condition:
                over = self._condition.wait_for(lambda: self._thread is None)
        if not over:
            raise TimeoutError(f"the race is still running after {timeout} s; stop() ends it")
        return [entry.outcome for entry in self._entries]

    def _add(
        self,
        configuration: Configuration,
        prepare: Callable[[RaceEntry], object] = lambda _entry: None,
        number: int = 0,
    ) -> RaceEntry:
        with self._condition:
            free = number > 0 and all(entry.number != number for entry in self._entries)
            own = number if free else self._count + 1
            self._count = max(self._count, own)
            entry = RaceEntry(own, configuration, self._slot)
            prepare(entry)
            self._set([*self._entries, entry])
        return entry

    def _set(self, entries: list[RaceEntry]) -> None:
        """Let these be the entries, each named by what distinguishes it."""
        for entry, name in zip(entries, distinct_names([each.configuration.parts for each in entries]), strict=True):
            entry.name = name
        self._entries = entries
        self._wake()

    def _apply(self, entries: tuple[RaceEntry, ...], what: Callable[[RaceEntry], object]) -> None:
        with self._condition:
            self._check(entries)
            for entry in entries or self._entries:
                what(entry)
            self._wake()

    def _check(self, entries: Iterable[RaceEntry]) -> None:
        for entry in entries:
            if entry not in self._entries:
                raise InputError(f"entry {entry.label} is not in this race; add its configuration")

    def _wake(self) -> None:
        """Called with the lock held."""
        if self._started and self._thread is None and self._unfinished():
            # Here and not in the thread, so that jobs are queued in the order in which they are started.
            self._slot.enqueue()
            self._thread = threading.Thread(target=self._work, name="workbench-race", daemon=True)
            self._thread.start()
        self._condition.notify_all()
        self._slot.wake()

    def _work(self) -> None:
        while ready := self._next_ready():
            for entry in ready:
                until = time.monotonic() + self._slice_seconds
                # It may be held at any moment; one that was removed ends.
                while entry.ready:
                    entry.advance()
                    if time.monotonic() >= until:
                        break

    def _next_ready(self) -> list[RaceEntry]:
        """Wait for entries that can advance, and for the slot; empty when all have ended."""
        while ready := self._ready():
            # Ending costs at most one application of A, so that it needs no slot.
            if ending := [entry for entry in ready if entry.stopping]:
                return ending
            if self._slot.held or self._slot.acquire(unless=self._changed):
                return ready
        return []

    def _changed(self) -> bool:
        """True if the wait for the slot is to end: no entry is ready any more, or one is to stop."""
        ready = [entry for entry in self._unfinished() if entry.ready]
        return not ready or any(entry.stopping for entry in ready)

    def _unfinished(self) -> list[RaceEntry]:
        """The entries that are not over, removed ones included."""
        return [entry for entry in (*self._entries, *self._removed) if not entry.over]

    def _ready(self) -> list[RaceEntry]:
        with self._condition:
            # Their vectors are freed as soon as they are over.
            self._removed = [entry for entry in self._removed if not entry.over]
            while unfinished := self._unfinished():
                if ready := [entry for entry in unfinished if entry.ready]:
                    return ready
                self._slot.release()
                self._condition.wait()
            self._thread = None
            self._slot.release()
            self._condition.notify_all()
            return []
