"""Short runs of a race, made again until the medians of their times are known.

One measurement of some milliseconds says little: the first setup loads kernels, and other work takes cores away. The
runs are made again in turns, as in the race, so that what disturbs one disturbs the others too.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from workbench.run.jobs.job import State
from workbench.run.jobs.races import Race, RaceEntry
from workbench.run.jobs.ranking import Median, Sample
from workbench.run.jobs.run_queue import MACHINE, RunQueue

KNOWN = 0.1
"""Share of the median to which it is to be known."""
LEAST = 5
"""Runs of an entry before its median counts as known: with fewer no interval contains it with a probability of 90%."""
BUDGET = 3.0
"""Seconds that all runs together take at most; a round that would take longer than what is left is not begun."""


class Repeats:
    """The repeated runs of a race's converged entries, in one thread. It can be paused and stopped as a race.

    samples: by entry the clocks of its later runs, complete ones only. on_change: called after each round, in the
    thread. queue: None for a queue of its own. budget: in s, see `BUDGET`. A run that fails or is stopped ends the
    repetition of its entry.

    Examples:
        >>> from workbench.run import Race, configure
        >>> from workbench.run.jobs.repeats import Repeats
        >>> race = Race([configure("two-layer", n=16)])
        >>> _ = race.wait()
        >>> repeats = Repeats(race.entries)
        >>> repeats.start()
        >>> repeats.wait(60)
        >>> len(repeats.samples[race.entries[0]]) > 1
        True
    """

    run = None
    error = ""

    def __init__(
        self,
        entries: Sequence[RaceEntry],
        on_change: Callable[[], object] = lambda: None,
        queue: RunQueue | None = MACHINE,
        budget: float = BUDGET,
    ) -> None:
        self.samples: dict[RaceEntry, tuple[Sample, ...]] = {
            entry: () for entry in entries if entry.result is not None and entry.result.converged
        }
        self._on_change, self._queue = on_change, queue
        self._left = budget
        self._out: set[RaceEntry] = set()
        """Entries that are not run again."""
        self._stopped = self._paused = False
        self._changing = threading.Lock()
        """Taken by a thread that changes a request, the present round or the samples."""
        self._race: Race | None = None
        self._thread: threading.Thread | None = None

    @property
    def due(self) -> list[RaceEntry]:
        """The entries that are to be run again: their median is not known yet, and the time suffices for all."""
        if self._stopped:
            return []
        wanted = [entry for entry, made in self.samples.items() if entry not in self._out and not _is_known(made)]
        return wanted if sum(_seconds(entry) for entry in wanted) <= self._left else []

    @property
    def rounds(self) -> int:
        """The rounds that have been made."""
        return max(map(len, self.samples.values()), default=0)

    @property
    def alive(self) -> bool:
        """True from the start to the end of the last run, or until it has ended after `stop`."""
        return self._works and not self.lingering

    @property
    def lingering(self) -> bool:
        """All runs have ended after `stop`, but an iteration or a setup is still finishing in the background."""
        race = self._race
        return self._works and self._stopped and not (race is not None and race.alive)

    @property
    def state(self) -> State:
        """The state of the present round; DONE after the last."""
        race = self._race
        if not self.alive:
            return State.DONE
        if race is not None and race.alive:
            return race.state
        return State.PAUSED if self._paused and not self._stopped else State.RUNNING

    @property
    def ending(self) -> bool:
        """True after `stop`, until the last run has ended."""
        return self._stopped and self.alive

    @property
    def steady(self) -> bool:
        """It is active, with no request pending."""
        return self.state is State.RUNNING and not self.ending

    def start(self) -> None:
        """Begin, unless nothing is due; called once."""
        if self.due:
            self._thread = threading.Thread(target=self._work, name="workbench-repeats", daemon=True)
            self._thread.start()

    def wait(self, timeout: float | None = None) -> None:
        """Wait until all has ended."""
        if self._thread is not None:
            self._thread.join(timeout)

    def pause(self) -> None:
        """Hold the present round, or the next one between two."""
        with self._changing:
            self._paused = True
            if self._race is not None:
                self._race.pause()

    def resume(self) -> None:
        """Continue after `pause`."""
        with self._changing:
            self._paused = False
            if self._race is not None:
                self._race.resume()

    def stop(self) -> None:
        """End the present round, which does not count, and make no other."""
        with self._changing:
            self._stopped = True
            if self._race is not None:
                self._race.stop()

    def leave_out(self, entry: RaceEntry) -> None:
        """Forget an entry, which is run again from the next round on no more."""
        with self._changing:
            self.samples = {other: kept for other, kept in self.samples.items() if other is not entry}

    @property
    def _works(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def _work(self) -> None:
        try:
            while due := self.due:
                self._round(due)
                self._on_change()
        finally:
            # The vectors of the last round are freed.
            self._race = None

    def _round(self, due: Sequence[RaceEntry]) -> None:
        race = Race([entry.configuration for entry in due], queue=self._queue)
        with self._changing:
            if self._stopped:
                return
            if self._paused:
                race.pause()
            self._race = race
        race.wait()
        with self._changing:
            for entry, again in zip(due, race.entries, strict=True):
                self._left -= _seconds(again)
                if entry not in self.samples:
                    continue
                if again.run is None or again.result is None or not again.result.converged:
                    self._out.add(entry)
                    continue
                sample = Sample(again.run.setup_seconds, again.run.history["seconds"].copy())
                self.samples = {**self.samples, entry: (*self.samples[entry], sample)}


def is_known(times: Sequence[float]) -> bool:
    """True if the median of these times is known to `KNOWN`."""
    return len(times) >= LEAST and Median.of(times).spread <= KNOWN


def _is_known(samples: Sequence[Sample]) -> bool:
    return is_known([sample.total for sample in samples])


def _seconds(entry: RaceEntry) -> float:
    return entry.run.setup_seconds + entry.run.iteration_seconds if entry.run is not None else 0.0
