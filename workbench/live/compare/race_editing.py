"""The entries of a race as they are changed: added, removed, moved to another problem, opened, taken back."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TypeVar

from workbench.errors import InputError
from workbench.live.compare.race_adding import EntryAdding
from workbench.live.compare.race_entries import Kept, RaceEntries
from workbench.live.compare.race_form import LookForm, aim_of, aimed, differences, method_of, moved, refused
from workbench.live.solve.controller import PausableView
from workbench.live.transport.publisher import Publisher
from workbench.run import Configuration, Race, RaceEntry, configure
from workbench.run.choices.conflicts import conflicts
from workbench.run.jobs.race_record import RaceRecord, same_system

Made = TypeVar("Made")
Opening = Callable[[Configuration], Sequence[Configuration]]

MOST = 50
"""Steps that are remembered."""


@dataclasses.dataclass(frozen=True)
class Step:
    """A change of the entries. words: of the change; base, entries: the system and the entries without it. whole: all
    entries came with their system, which comes back with them also while a race runs."""

    words: str
    base: Configuration
    entries: tuple[Kept, ...]
    whole: bool = False


class EntryUndo:
    """The changes of the entries of a race, the last one last."""

    def __init__(self, entries: RaceEntries) -> None:
        self._entries = entries
        self._past: list[Step] = []
        self._future: list[Step] = []

    @property
    def undoable(self) -> str:
        """The words of the last change; empty without one."""
        return self._past[-1].words if self._past else ""

    @property
    def can_redo(self) -> bool:
        """True if a change was undone and none was made since."""
        return bool(self._future)

    def note(self, words: str, base: Configuration, *, whole: bool = False) -> Callable[[], None]:
        """Remember the entries before a change; returns what forgets it, for a change that fails. base, whole: see
        `Step`."""
        before = self._past, self._future
        self._past = [*self._past[-MOST + 1 :], Step(words, base, self._entries.kept, whole)]
        self._future = []

        def forget() -> None:
            self._past, self._future = before

        return forget

    def undo(self, base: Configuration) -> Step | None:
        """Take the last change back, from `undoable`; None without one. The caller lets the entries become those of
        the step. base: the present system."""
        return self._step(self._past, self._future, base)

    def redo(self, base: Configuration) -> Step | None:
        """Make the change again that was undone last; as `undo`."""
        return self._step(self._future, self._past, base)

    def _step(self, taken: list[Step], other: list[Step], base: Configuration) -> Step | None:
        if not taken:
            return None
        step = taken.pop()
        whole = step.whole or not same_system(step.base, base)
        other.append(Step(step.words, base, self._entries.kept, whole))
        return step


class EditedRace(PausableView):
    """The entries of a race and the configuration whose system they solve. A view of it makes the other attributes.

    configurations: of the first entries. opening: see `RaceView`.
    """

    publisher: Publisher
    adding: EntryAdding
    look: LookForm

    def __init__(self, entries: RaceEntries, configurations: Sequence[Configuration], opening: Opening | None) -> None:
        self.entries = entries
        self._history = EntryUndo(entries)
        self.base = configurations[0] if configurations else configure("two-layer", n=256)
        """The problem and settings that all entries have."""
        self._chosen = self.base
        """The configuration chosen elsewhere last, which the next start solves."""
        self._opening = opening
        self._opened: list[Configuration] = []
        """The entries that the view has chosen itself."""
        self._weighed: tuple[Configuration | None, str] = None, ""
        """The last configuration of a start, and why it is refused."""
        self._past: RaceRecord | None = None
        """The race that was opened last."""

    @property
    def race(self) -> Race:
        """The race of the present entries."""
        return self.entries.race

    def add(self, configuration: Configuration) -> RaceEntry:
        """Add an entry, which starts at once if the race has been started. The first one determines the system.

        Raises InputError for an entry on another system than those that are there.
        """
        return self._edit(f"{configuration.label} added", lambda: self._enter(configuration))

    def _enter(self, configuration: Configuration) -> RaceEntry:
        if not self.race.entries and not same_system(configuration, self.base):
            self._chosen = configuration
            self._set_base(configuration)
        if not same_system(configuration, self.base):
            raise InputError(
                f"{configuration.label} is on another system than this race ({self.base.problem.label}), where "
                "iterations and times do not compare; rebase the race, or use a sweep"
            )
        entry = self.entries.add(configuration)
        self.controller.complaint = ""
        self.publisher.wake()
        return entry

    def add_from_form(self) -> RaceEntry:
        """Add an entry with the blocks of the form. Raises InputError with the sentence for a wrong value."""
        return self.add_method(self.adding.form.configuration())

    def add_method(self, configuration: Configuration) -> RaceEntry:
        """Add an entry with the method of a configuration: on the system of an active race, else on the configuration
        chosen elsewhere last."""
        if not self.race.alive:
            self._move()
        return self.add(moved(configuration, self.base))

    def join(self, configurations: Sequence[Configuration]) -> list[RaceEntry]:
        """Add the methods of configurations that the race lacks, as `add_method`; returns the new entries."""
        if not self.race.alive:
            self._move()
        wanted = {method_of(one): moved(one, self.base) for one in configurations}
        for entry in self.race.entries:
            wanted.pop(method_of(entry.configuration), None)
        words = f"{len(wanted)} entries added" if len(wanted) > 1 else "1 entry added"
        if not wanted:
            return []
        return self._edit(words, lambda: [self._enter(one) for one in wanted.values()])

    def show(self, configurations: Sequence[Configuration]) -> None:
        """Replace the entries by these, on the system of the first one.

        Raises InputError for configurations on different systems; the entries then stay.
        """
        if any(not same_system(one, configurations[0]) for one in configurations):
            raise InputError("entries of a race solve one system; use a sweep for several problems")
        self._history.note("entries replaced", self.base, whole=True)
        self.look.change(own=False)
        self._set_base(configurations[0])
        self._chosen, self._opened = self.base, []
        self.entries.replace(self.race.entries, configurations)
        self._fold()
        self.publisher.wake()

    def open(self, race: RaceRecord) -> None:
        """Show a race as it ended, in place of the entries. Nothing is run; the next start runs it here anew."""
        if self.race.begun or not self._untouched:
            self._history.note("race opened", self.base, whole=True)
        self.look.change(own=False)
        self._set_base(race.entries[0].configuration)
        methods = [entry.configuration for entry in race.entries]
        chosen_here = self._opening is not None and list(self._opening(self.base)) == methods
        self._chosen, self._opened, self._past = self.base, methods if chosen_here else [], race
        self.entries.recall(race.entries)
        own = race.tolerance != self._rtol
        self.look.change(measure=race.measure, with_setup=race.with_setup, tolerance=race.tolerance, own=own)
        self._fold()
        self.publisher.wake()

    @property
    def undoable(self) -> str:
        """The last change of the entries, which `undo` takes back; empty without one."""
        return self._history.undoable

    @property
    def can_redo(self) -> bool:
        """True if a change was undone and nothing was changed since."""
        return self._history.can_redo

    def undo(self) -> None:
        """Take the last change of the entries back: those that were removed come with their results."""
        self._become(self._history.undo(self.base))

    def redo(self) -> None:
        """Make the change of the entries again that was undone last."""
        self._become(self._history.redo(self.base))

    def _become(self, step: Step | None) -> None:
        if step is None:
            return
        if (step.whole or not self.race.alive) and not same_system(step.base, self.base):
            self._set_base(step.base)
        self.entries.become(step.entries, self.base)
        self.publisher.wake()

    def _edit(self, words: str, act: Callable[[], Made]) -> Made:
        """Change the entries, which can be undone."""
        forget = self._history.note(words, self.base)
        try:
            return act()
        except InputError:
            forget()
            raise

    def rebase(self, configuration: Configuration) -> None:
        """Let the next start be on this configuration's system, start and stopping, and show its blocks in the form.

        Methods stay. Entries that have begun on another system, or with other stopping, stay with their results until
        then, marked as results of that; others move at once. Does nothing for the same configuration as last time, so
        that changes in this view since then stay.
        """
        if configuration == self._chosen:
            return
        self._chosen = configuration
        if not (self.race.begun and self._differences):
            self._move()
        self.adding.form.load(configuration)
        self.controller.complaint = ""
        self.publisher.wake()

    def _move(self) -> None:
        """Make the change of the last `rebase`: entries that are not comparable after it are replaced by new ones with
        the same methods, not started yet. Entries that the view has chosen itself are chosen anew where they have no
        results, or do not fit."""
        entries, changed, adopted = self.race.entries, self._differences, self._adopted()
        begun, untouched = self.race.begun, self._untouched
        self._set_base(adopted)
        methods = [moved(entry.configuration, adopted) if changed else entry.configuration for entry in entries]
        if untouched and self._opening and (not begun or (changed and any(map(conflicts, methods)))):
            self._opened = methods = list(self._opening(adopted))
        if methods != [entry.configuration for entry in entries]:
            self.entries.replace(entries, methods)

    @property
    def _differences(self) -> list[str]:
        """The settings that all entries share and that were changed elsewhere since, in words."""
        return differences(self.base, self._adopted())

    @property
    def _untouched(self) -> bool:
        """True if the entries are those that the view has chosen itself."""
        entries = [method_of(each.configuration) for each in self.race.entries]
        return bool(entries) and entries == [*map(method_of, self._opened)]

    @property
    def _next(self) -> Configuration:
        """The configuration of active entries, else that of the next start."""
        return self.base if self.race.alive else self._adopted()

    def _why_not(self) -> str:
        """Why the next start is refused whatever the methods, such as by a limit of the server on unknowns; empty where
        it is not."""
        if self.race.alive:
            return ""
        if self._weighed[0] != (following := self._next):
            self._weighed = following, refused(following)
        return self._weighed[1]

    def _adopted(self) -> Configuration:
        """The configuration chosen elsewhere last, with the tolerance of this race if that was set in this view."""
        return aim_of(self.base, self._chosen) if self.look.present.own else self._chosen

    def _set_base(self, configuration: Configuration) -> None:
        """Set the configuration with which entries share system, start and stopping. The tolerance becomes that of its
        stopping rule, unless it was set in this view."""
        self.base = configuration
        self.adding.form.renew()
        if not self.look.present.own:
            self.look.change(tolerance=self._rtol)

    def _renew(self) -> None:
        """Before a start: replace the entries if some have ended or are to stop at another tolerance."""
        new = [entry.configuration for entry in self.race.entries]
        if self.look.present.own:
            self.base, *new = (aimed(configuration, self.look.present.tolerance) for configuration in (self.base, *new))
        self.entries.renew(new)

    def remove(self, entry: RaceEntry) -> None:
        """End an entry and take it out of the race. Its run stays in the list if its setup is done.

        Raises InputError for an entry that is not in the race.
        """
        self._edit(f"{entry.name} removed", lambda: self.entries.remove(entry))
        self.publisher.wake()

    def _fold(self) -> None:
        self.adding.fold(folded=len(self.race.entries) > 1)

    @property
    def _shown_past(self) -> RaceRecord | None:
        """The race that was opened, while entries of it are there."""
        return self._past if any(entry.recalled for entry in self.race.entries) else None

    @property
    def _rtol(self) -> float:
        """The relative tolerance of the base; 1e-6 if it has none."""
        return self.base.stopping.rtol or 1e-6
