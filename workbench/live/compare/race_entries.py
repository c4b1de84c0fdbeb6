"""The entries of a race on the page, their runs in the list of runs, and their files."""

from __future__ import annotations

import dataclasses
import threading
import weakref
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import Any

from workbench.errors import InputError
from workbench.live.compare.race_form import method_of, moved
from workbench.live.ui.export import export
from workbench.live.ui.run_list import ListedRun, RunList
from workbench.run import Configuration, Race, RaceEntry
from workbench.run.jobs.race_record import EntryRecord, same_system
from workbench.run.jobs.ranking import Samples
from workbench.run.jobs.repeats import BUDGET, Repeats

KINDS = {"csv": "Tables (CSV)", "run": "Run files"}


@dataclasses.dataclass(frozen=True)
class Kept:
    """An entry that may be taken back after it was removed. entry: while it exists; value: as it was."""

    entry: weakref.ref[RaceEntry]
    value: EntryRecord


class RaceEntries:
    """Entries that can be replaced by those of a new race. Each becomes a run of the list when its race has started.

    runs, origin: the list, and the origin of the runs there. adopt: called with each new race. budget: seconds that
    runs may take which are made again for their times alone. All methods may be called from any thread.
    """

    def __init__(
        self, runs: RunList, origin: str, adopt: Callable[[Race | Repeats], object], budget: float = BUDGET
    ) -> None:
        self.runs, self._origin, self._adopt = runs, origin, adopt
        self.race = Race()
        self.listed: dict[RaceEntry, ListedRun] = {}
        """The runs of the present entries; an entry that waits for the start of its race has none."""
        self.repeated = False
        """Set where all entries have run before, so that no setup loads kernels any more."""
        self.budget = budget
        self.repeats: Repeats | None = None
        """The runs that are made again for their times, once all entries have ended."""
        self._recalled: Samples = {}
        """The later runs of entries that ended before."""
        self._ended = 0
        self._leaving: list[ListedRun] = []
        """Runs of removed entries, which may be finishing an iteration."""
        self._earlier: dict[Hashable, int] = {}
        """By method the styles of entries that were replaced: the same method is drawn in the same style again."""
        self._lock = threading.RLock()

    @property
    def over(self) -> bool:
        """True if the race has been started and all entries have ended."""
        return self.race.begun and not self.race.alive

    @property
    def samples(self) -> Samples:
        """The later runs of the entries."""
        return {**self._recalled, **(self.repeats.samples if self.repeats is not None else {})}

    @property
    def kept(self) -> tuple[Kept, ...]:
        """The entries as they are now; those that have not ended as before their start."""
        return tuple(Kept(weakref.ref(entry), self.value_of(entry)) for entry in self.race.entries)

    def value_of(self, entry: RaceEntry) -> EntryRecord:
        """An entry as plain values, with its style, and number and name in the list of runs."""
        run = self.listed.get(entry)
        value = EntryRecord.of(entry, self.samples.get(entry, ()))
        if run is None or not value.ended:
            return value
        record = value.record and dataclasses.replace(value.record, style=run.style)
        return dataclasses.replace(value, record=record, listed=run.number, given=run.given)

    def recall(self, values: Sequence[EntryRecord]) -> None:
        """Replace all entries by ones that have ended before, and by such that wait."""
        self.replace(self.race.entries, [])
        for value in values:
            self._take_back(value)
        self.update()

    def become(self, wanted: Sequence[Kept], base: Configuration) -> None:
        """Take entries back, and out, until they are these. Those that have been replaced since by others with the
        same method stay. base: their system, without which no result is taken back."""
        left = list(self.race.entries)
        chosen: list[RaceEntry | None] = []
        for kept in wanted:
            found = kept.entry()
            chosen.append(found if found in left else None)
            if found in left:
                left.remove(found)
        here = [entry for entry in left if same_system(entry.configuration, base)]
        for place, kept in enumerate(wanted):
            method = method_of(kept.value.configuration)
            found = next((each for each in here if method_of(each.configuration) == method), None)
            if chosen[place] is None and found is not None:
                chosen[place] = found
                left.remove(found)
                here.remove(found)
        for entry in left:
            self.remove(entry)
        made = [entry or self._take_back(_on(base, kept.value)) for entry, kept in zip(chosen, wanted, strict=True)]
        self.race.arrange(made)
        self.update()

    def repeat(self, changed: Callable[[], object]) -> None:
        """Once all entries have ended by themselves, make short runs again for their times. changed: called when there
        are more."""
        # Under the lock: another thread may replace the race meanwhile.
        with self._lock:
            ended = self.over and not any(entry.stopping for entry in self.race.entries)
            if self.repeats is None and ended and len(self.race.entries) > 1:
                repeats = Repeats(self.race.entries, changed, budget=self.budget)
                repeats.start()
                self.repeats = repeats
                if repeats.alive:
                    self._adopt(repeats)
                    changed()

    def end_repeats(self) -> None:
        """End the runs that are made again, and forget their times."""
        with self._lock:
            if self.repeats is not None:
                self.repeats.stop()
                self.repeats = None
                self._adopt(self.race)

    def add(self, configuration: Configuration, number: int = 0, *, paused: bool = False) -> RaceEntry:
        """Add an entry, which starts at once if the race has been started, see `Race.add`."""
        entry = self.race.add(configuration, number, paused=paused)
        # After that: a race whose entries have all ended might be timed again meanwhile.
        self.end_repeats()
        self.repeated = False
        self.update()
        return entry

    def remove(self, entry: RaceEntry) -> None:
        """End an entry and take it out of the race. Its run stays in the list if its setup is done.

        Raises InputError for an entry that is not in the race.
        """
        is_set_up = entry.made is not None
        self.race.remove(entry)
        with self._lock:
            if self.repeats is not None:
                self.repeats.leave_out(entry)
            run = self.listed.get(entry)
            if run is None:
                return
            self.listed = {other: kept for other, kept in self.listed.items() if other is not entry}
            self._leaving = [*self._leaving, run]
        run.settle()
        if is_set_up:
            self.runs.notify()
        else:
            self.runs.remove(run)

    def replace(self, entries: Sequence[RaceEntry], configurations: Sequence[Configuration]) -> None:
        """Replace entries by new ones, paused where those were, in a race that has not been started."""
        paused = [entry.held and not entry.ended for entry in entries]
        self._earlier |= {method_of(entry.configuration): run.style for entry, run in self.listed.items()}
        for entry in entries:
            self.remove(entry)
        with self._lock:
            self.race = Race()
            self.end_repeats()
            self._recalled = {}
            self._adopt(self.race)
        self._ended = 0
        for place, configuration in enumerate(configurations):
            entered = self.add(configuration)
            if place < len(paused) and paused[place]:
                self.race.pause(entered)

    def renew(self, configurations: Sequence[Configuration]) -> None:
        """Replace all entries if one has ended, or if these are not their configurations."""
        entries = self.race.entries
        if any(entry.ended for entry in entries) or [entry.configuration for entry in entries] != [*configurations]:
            repeated = bool(entries) and all(entry.result is not None for entry in entries)
            self.replace(entries, configurations)
            self.repeated = repeated

    def _take_back(self, value: EntryRecord) -> RaceEntry:
        """Add an entry as it has ended, in its run of the list where that is still there."""
        if not value.ended:
            # To take an entry back starts nothing: its Resume does.
            return self.add(value.configuration, value.number, paused=self.race.begun)
        with self._lock:
            entry = self.race.recall(value.configuration, value.record, value.error, value.number)
            self._recalled = {**self._recalled, entry: value.samples} if value.samples else self._recalled
            if value.record is None:
                return entry
            there = next((run for run in self.runs.of(self._origin) if _is_run_of(run, value)), None)
            run = there or ListedRun(self.runs.next_number(), value.record, self._origin, value.given, 0)
            self.listed = {**self.listed, entry: run}
        if there is None:
            self.runs.enter(run)
        return entry

    def act(self, verb: str, numbers: Sequence[Any]) -> None:
        """Pause, resume, stop, remove or restyle entries by number; before the start none can be stopped."""
        for entry in [entry for entry in self.race.entries if entry.number in numbers]:
            match verb:
                case "pause":
                    (self.race.resume if entry.held else self.race.pause)(entry)
                case "stop" if entry in self.listed:
                    self.race.stop(entry)
                case "remove":
                    self.remove(entry)
                case "restyle" if entry in self.listed:
                    self.runs.restyle(self.listed[entry])
        self.update()

    def update(self) -> None:
        """Bring the list of runs up to date: entries that have begun, and those that have ended."""
        with self._lock:
            if self.race.begun:
                self._enter()
            ended = sum(entry.ended for entry in self.race.entries)
            gone = [run for run in self._leaving if not run.active]
            if ended == self._ended and not gone:
                return
            self._ended, self._leaving = ended, [run for run in self._leaving if run.active]
        for run in gone:
            run.settle()
        self.runs.notify()

    def _enter(self) -> None:
        """Enter entries in the list, with the next numbers there; one that was cancelled before its setup is left
        out."""
        for entry in self.race.entries:
            if entry in self.listed or entry.recalled or (entry.stopping and entry.run is None):
                continue
            run = ListedRun(self.runs.next_number(), entry, self._origin, "", 0)
            # In the table first: the list then knows that its curve belongs to this plot.
            self.listed = {**self.listed, entry: run}
            self.runs.enter(run, again=self._earlier.pop(method_of(entry.configuration), None))


def export_race(kind: str, entries: Sequence[ListedRun], folder: Path) -> list[Path]:
    """Write a file for each entry that has ended, in one of the `KINDS`; returns the paths.

    Raises InputError while no entry has ended, and when the folder cannot be written.
    """
    return export(kind, ended(entries), folder)


def ended(entries: Sequence[ListedRun]) -> list[ListedRun]:
    """The entries of the list of runs with a result. Raises InputError while there is none."""
    runs = [run for run in entries if not run.active and run.record is not None]
    if not runs:
        raise InputError("no entry has ended yet; wait, or press Stop")
    return runs


def race_name(entries: Sequence[ListedRun], measure: str) -> str:
    """The rest of the name of a race's file: problem, time of the start, axis."""
    first = ended(entries)[0].handle
    return f"{first.problem} {first.provenance['started']} {measure}"


def _on(base: Configuration, value: EntryRecord) -> EntryRecord:
    """An entry on the system of others, without its result where that is of another system."""
    here = moved(value.configuration, base)
    return value if same_system(value.configuration, base) else EntryRecord(here, number=value.number)


def _is_run_of(run: ListedRun, value: EntryRecord) -> bool:
    """True if a run of the list is that of an entry."""
    if value.record is None or run.number != value.listed:
        return False
    record = run.record
    return record is not None and record.provenance.get("started") == value.record.provenance.get("started")
