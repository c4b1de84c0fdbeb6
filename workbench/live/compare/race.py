"""The live view of a race: convergence of its entries, the ranking at a tolerance, and a form that adds an entry."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import ipywidgets as widgets

from workbench.errors import InputError
from workbench.live.compare.race_adding import EntryAdding
from workbench.live.compare.race_editing import EditedRace
from workbench.live.compare.race_entries import RaceEntries
from workbench.live.compare.race_files import RaceFiles
from workbench.live.compare.race_form import Look, LookForm
from workbench.live.compare.race_text import (
    belonging,
    compilation,
    entry_label,
    entry_table,
    fastest,
    measured_again,
    past,
    progress,
    show_entries,
)
from workbench.live.compare.race_verdict import finer, verdict
from workbench.live.plots.convergence import ConvergenceView, ListedCurves
from workbench.live.solve.controller import Controller
from workbench.live.transport.publisher import Publisher
from workbench.live.ui.controls import button, column, markup, row
from workbench.live.ui.run_list import RACE, ListedRun, RunList
from workbench.live.ui.status import StatusLine
from workbench.run import Configuration, Norm, RaceEntry
from workbench.run.jobs.race_record import RaceRecord
from workbench.run.jobs.ranking import Ranking, Sample, rank, timed_runs
from workbench.run.jobs.repeats import BUDGET
from workbench.words.numbers import rounded

EMPTY = "Press Start. A curve for each entry appears here."
START = "start"
"""The item of an address that starts the race."""
PERIOD = 0.5
"""Seconds between two updates of the numbers of active entries."""


class RaceView(EditedRace):
    """A race on the page. Display `RaceView(*configurations)` and press Start; the buttons' methods work from code too.

    Without a configuration its problem is two-layer, n = 256, and it has no entry yet. All entries solve the system of
    the first configuration, since iterations and times on different systems do not compare methods; new entries have
    the blocks that are chosen in the form. Entries are compared at the tolerance of the line on the plot, which can be
    dragged; entries that start after it was moved also stop there. When all have ended, Start runs them again, as new
    runs of the list. Seconds count the setup unless "with setup" is unticked. folder: where `export` writes, by default
    exports/ next to the notebook. runs: the list of the page that entries are added to, with this origin; by default a
    list of its own. opening: returns the entries to begin with for a configuration, in place of the given ones; as long
    as they are neither changed nor started, they follow what `rebase` is called with. budget: seconds in which short
    runs are made again, so that their times are medians. Raises InputError for an entry on another system.

    Times are wall-clock times: what other programs and the updates of this page take from the cores counts for the
    entry whose time slice it was. It shows as a flat piece against seconds, and as a remark in the entry's row. After
    the race short runs are made again in turns; entries whose times lie within their spread are too close to call.

    Examples:
        >>> from workbench.live import RaceView
        >>> from workbench.run import configure
        >>> view = RaceView(configure("two-layer", n=16), configure("two-layer", n=16, solver="pipecg"))
        >>> len(view.race.entries)
        2
        >>> view.close()
    """

    def __init__(
        self,
        *configurations: Configuration,
        folder: str | Path | None = None,
        runs: RunList | None = None,
        origin: str = RACE,
        opening: Callable[[Configuration], Sequence[Configuration]] | None = None,
        budget: float = BUDGET,
    ) -> None:
        self.runs = runs or RunList()
        entries = RaceEntries(self.runs, origin, lambda job: self.controller.add(job), budget)
        super().__init__(entries, configurations, opening)
        self.folder = Path(folder) if folder is not None else Path.cwd() / "exports"
        self.publisher = Publisher()
        self.convergence = ConvergenceView(publisher=self.publisher, nothing=EMPTY)
        shown = lambda run: run in self.entries.listed.values()  # noqa: E731
        self.convergence.what = "Entry"
        self.curves = ListedCurves(self.convergence, self.runs, shown, self._legend)
        self._noted: object = None
        """The facts that `changed` was called with last."""
        self.changed: Callable[[], object] = lambda: None
        """Called when an entry came, went or ended, or another number is looked at."""
        self.opened: Callable[[Configuration], object] = lambda _configuration: None
        """Called with the system of a race that is opened from a file."""
        self.controller = Controller(
            self.publisher,
            self.start,
            lambda _job, _state: progress(
                self.race, self.entries.repeats, self._next.problem.label, moved=bool(self._differences)
            ),
            refresh=self._refresh,
            why_not=self._why_not,
            starting=lambda: "Start again" if self.entries.over and not self._differences else "Start",
            about="run all entries from the start",
            period=PERIOD,
        )
        self.controller.add(self.race)
        self.status = self.controller.bar
        self.winner, self.note = StatusLine(), StatusLine()
        self.look = LookForm(Look(tolerance=self._rtol), self._looked)
        self.again = button(
            "", "run all entries from the start, to this tolerance", self.controller.attempt(self.start), width="auto"
        )
        self.adding = EntryAdding(self.controller, self._adopted, self.add_method)
        self.belongs = markup()
        """The problem of the results, where another one is chosen by now."""
        self.table = entry_table(self._act)
        self.fastest = markup()
        self.files = RaceFiles(
            self.entries,
            self.convergence,
            lambda: self.look.present.measure,
            self.record,
            self._open_file,
            self.folder,
        )
        self.saved = self.files.status
        self._opened = list(opening(self.base)) if opening else []
        for configuration in self._opened or configurations:
            self._enter(configuration)
        self._fold()
        self.box = self._layout()
        self._looked(self.look.present)
        self.convergence.on_tolerance(self._dragged)
        self.controller.serve()

    @property
    def has_results(self) -> bool:
        """True if an entry has ended with a run."""
        return any(entry.record for entry in self.race.entries)

    def record(self) -> RaceRecord:
        """The race as it is, to share or keep; entries that have not ended are as before their start. Raises InputError
        before an entry has ended."""
        if not self.has_results:
            raise InputError("no entry has ended yet; press Start, or wait")
        return self.present

    @property
    def present(self) -> RaceRecord:
        """The race as it is, also before its start."""
        values = [self.entries.value_of(entry) for entry in self.race.entries]
        look, said = self.look.present, self._verdict(self.ranking())
        made = RaceRecord.of(values, look.tolerance, look.measure, with_setup=look.with_setup, verdict=said)
        if (past := self._shown_past) is None:
            return made
        return dataclasses.replace(made, ended=past.ended, machine=past.machine, cores=past.cores)

    def link(self) -> tuple[str, str]:
        """The link of the race as it ended and a sentence on it. Raises InputError."""
        return self.files.link()

    def start(self) -> None:
        """Start all entries, and later ones as soon as they are added; if all have ended, run them again.

        They solve what was chosen last, see `rebase`, and stop at the race's tolerance, if one was set. Does nothing
        while the race runs.
        """
        if not self.race.alive:
            self.entries.end_repeats()
            self._move()
            self._renew()
        missing = "there is no entry yet; choose blocks and press Add entry"
        self.controller.complaint = "" if self.race.entries else missing
        self.race.start()
        self.entries.update()
        self.publisher.wake()

    def open_at(self, at: str) -> None:
        """Start the race where the address of the page says "start"."""
        if at == START:
            self.controller.attempt(self.start)()

    def ranking(self) -> Ranking:
        """The order in which the entries reach the tolerance, by the chosen measure."""
        look, samples = self.look.present, self.entries.samples
        return rank(self.race.entries, look.tolerance, look.measure, with_setup=look.with_setup, samples=samples)

    def export(self, kind: str) -> list[Path]:
        """Write a file for each entry that has ended, "csv" or "run"; their plot, "svg", "pdf", "png" or "gif"; or all
        of the race, "race". Returns the paths. Raises InputError."""
        return self.files.export(kind)

    def close(self) -> None:
        """End all entries and remove all widgets from the page."""
        self.stop()
        self.curves.close()
        self.files.close()
        self.publisher.close()
        # After that, since a tick of the publisher would begin them again.
        self.entries.end_repeats()
        super().close()

    def _layout(self) -> widgets.Box:
        against = row("wb-buttons", self.look.box, self.again)
        best = markup("First by tolerance").add_class("wb-title")
        plot = column("wb-raceplot", against, self.convergence)
        said = self.winner.add_class("wb-answer")
        table = column("wb-racetable", self.table, self.note)
        side = column("wb-raceside", best, self.fastest)
        parts = [
            self.status,
            self.belongs,
            row("wb-racegrid", plot, said, table, side),
            self.adding.chips,
            self.adding.box,
            self.files.box,
            self.saved,
        ]
        return column("wb-explorer wb-race", *parts)

    def _legend(self, runs: Sequence[ListedRun]) -> list[str]:
        """Number and name of the entries of runs."""
        entries = {run: entry for entry, run in self.entries.listed.items()}
        return [entry_label(entries[run], run) if run in entries else run.label for run in runs]

    def _open_file(self, race: RaceRecord) -> None:
        self.opened(race.entries[0].configuration)
        self.open(race)

    def _verdict(self, found: Ranking) -> str:
        if not self.race.begun:
            return ""
        past, entries = self._shown_past, self.race.entries
        cores = past.cores if past else None
        return verdict(found, self.base.problem, self._stops_at, entries=entries, cores=cores)

    def _looked(self, look: Look) -> None:
        """Show curves and ranking by the measure and the tolerance that are chosen now."""
        self.convergence.axis, self.convergence.with_setup = look.measure, look.with_setup
        self.convergence.mark(look.tolerance)
        self.publisher.wake()

    def _dragged(self, at: float | None) -> None:
        """Take the tolerance of the line on the plot; None where it was reset."""
        self.look.change(tolerance=at or self._rtol, own=at is not None)
        self.convergence.mark(self.look.present.tolerance)

    @property
    def _stops_at(self) -> float:
        """The loosest relative residual at which an entry stops; 0 if none stops by the relative residual."""
        rules = [entry.configuration.stopping for entry in self.race.entries if not entry.error]
        return max((rule.rtol for rule in rules if rule.norm == Norm.RESIDUAL), default=0.0)

    def _act(self, verb: str, numbers: list[int], _value: str) -> None:
        if verb == "remove":
            for entry in [entry for entry in self.race.entries if entry.number in numbers]:
                self.remove(entry)
        else:
            self.entries.act(verb, numbers)
        self.publisher.wake()

    def _draw_timed(self, timed: Mapping[RaceEntry, Sample]) -> None:
        """Draw each entry that was timed again by the clock of that run; the others by their own clocks."""
        for entry, run in self.entries.listed.items():
            if (curve := self.curves.of(run)) is not None:
                self.convergence.time_by(curve, timed.get(entry))

    def _tell(self) -> None:
        """Call `changed` where entries or the numbers that are looked at have changed."""
        entries = self.race.entries
        facts = (
            tuple((id(entry), entry.ended) for entry in entries),
            sum(map(len, self.entries.samples.values())),
            self.look.present,
        )
        if facts != self._noted:
            self._noted = facts
            self.changed()

    def _refresh(self) -> None:
        """Update the table, the sentence on the winner and the exports."""
        self.entries.update()
        look = self.look.present
        if look.measure == "seconds":
            self.entries.repeat(self.publisher.wake)
        entries = self.race.entries
        self.again.description = f"Run again to {rounded(look.tolerance)}"
        missed = self.entries.over and finer(look.tolerance, self._stops_at)
        self.again.layout.display = None if missed and not self._differences else "none"
        said = belonging(self.base, self._adopted(), self.race.alive) if self.race.begun else ""
        self.belongs.value = past(self._shown_past) + said
        self.belongs.layout.display = None if self.belongs.value else "none"
        self.adding.offer_variations([entry.configuration for entry in entries])
        self.files.offer(self.has_results)
        found = self.ranking()
        finished = {finish.entry: finish for finish in found.finished}
        ordered = [*finished, *(entry for entry in entries if entry not in finished)]
        timed = timed_runs(found, self.entries.samples)
        self._draw_timed(timed)
        show_entries(self.table, found, ordered, self.entries.listed, self.race, timed)
        said = self._verdict(found)
        self.winner.say(said, "good" if found.finished else "plain", quote=said if found.finished else "")
        self.note.say(" ".join(filter(None, (compilation(entries), measured_again(found)))))
        self.fastest.value = fastest(entries, found.measure, self.entries.samples, with_setup=found.with_setup)
        self._tell()
