"""The live view of a race: convergence of its entries, the ranking at a tolerance, and a form that adds an entry."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import ipywidgets as widgets
from matplotlib.figure import Figure

from workbench.errors import InputError
from workbench.live.compare.race_files import KINDS, ended, export_race, race_figure, race_name
from workbench.live.compare.race_form import EntryForm, aim_of, aimed, moved, news, same_system
from workbench.live.compare.race_offer import Offer
from workbench.live.compare.race_table import entry_table, show_entries
from workbench.live.compare.race_text import fastest, finer, progress, sentence
from workbench.live.compare.tolerance_slider import ToleranceSlider
from workbench.live.kit.controls import button
from workbench.live.kit.export import PICTURES, provenance
from workbench.live.kit.form_fields import as_text
from workbench.live.kit.rows import row as line
from workbench.live.kit.run_list import RACE, ListedRun, RunList
from workbench.live.kit.save_bar import SaveBar
from workbench.live.kit.status import StatusLine
from workbench.live.plots.convergence import ConvergenceView
from workbench.live.plots.curve import Curve
from workbench.live.plots.listed_curves import ListedCurves
from workbench.live.solve.controlled_view import ControlledView
from workbench.live.solve.controller import Controller
from workbench.live.transport.closing import close_all
from workbench.live.transport.publisher import Publisher
from workbench.run import Configuration, Norm, Race, RaceEntry, configure
from workbench.run.ranking import MEASURES, Ranking, rank

FIRST_TIME = " The first setup of a method includes loading its kernels; Start again repeats the race without that."
PERIOD = 0.5
"""Seconds between two updates of the numbers of active entries."""


class RaceView(ControlledView):
    """A race on the page. Display `RaceView(*configurations)` and press Start; the buttons' methods work from code too.

    Without a configuration its problem is two-layer, n = 256, and it has no entry yet. All entries solve the system of
    the first configuration, since iterations and times on different systems do not compare methods; new entries have
    the blocks that are chosen in the form. Entries are compared at the tolerance of the line on the plot, which can be
    dragged; entries that start after it was moved also stop there. When all have ended, Start runs them again, as new
    runs of the list. Seconds count the setup unless "with setup" is unticked. folder: where `export` writes, by default
    exports/ next to the notebook. runs: the list of the page that entries are added to, with this origin; by default a
    list of its own. Raises InputError for an entry on another system.

    Times are wall-clock times: what other programs and the updates of this page take from the cores counts for the
    entry whose time slice it was. It shows as a flat piece against seconds, and the entry is named below the plot.
    Times to quote come from `Race(...).wait()` on a quiet machine.
    """

    def __init__(
        self,
        *configurations: Configuration,
        folder: str | Path | None = None,
        runs: RunList | None = None,
        origin: str = RACE,
    ) -> None:
        self.race = Race()
        self.base = configurations[0] if configurations else configure("two-layer", n=256)
        self._chosen = self.base
        self.folder = Path(folder) if folder is not None else Path.cwd() / "exports"
        self.publisher = Publisher()
        self.runs, self._origin = runs or RunList(), origin
        self._listed: dict[RaceEntry, ListedRun] = {}
        """The present entries in the list of runs."""
        self._ended = 0
        self._leaving: list[ListedRun] = []
        """Runs of removed entries, which may be finishing an iteration."""
        self.convergence = ConvergenceView(publisher=self.publisher)
        shown = lambda run: run in self._listed.values()  # noqa: E731
        self.curves = ListedCurves(self.convergence, self.runs, shown)
        self.measure = widgets.ToggleButtons(options=MEASURES, style={"button_width": "90px"})
        self.with_setup = widgets.Checkbox(
            value=True,
            description="with setup",
            tooltip="count each setup, which in a first run loads kernels too; without it only iterations count",
            indent=False,
            layout={"width": "auto"},
        )
        self.notice = ""
        """What has happened to the entries since they were last started."""
        self.controller = Controller(
            self.publisher,
            self.start,
            lambda _race, _state: progress(self.race, self.base.problem.label, self.notice),
            refresh=self._refresh,
            starting=lambda: "Start again" if self._over else "Start",
            about="run all entries from the start",
            period=PERIOD,
        )
        self.controller.add(self.race)
        self.status = self.controller.bar
        self.winner, self.saved = StatusLine(), StatusLine()
        self.tolerance = ToleranceSlider(self._rtol, self._moved, self.controller.complain)
        self.again = button("", "run all entries from the start, to this tolerance", self._press_start, width="auto")
        self._repeated = False
        """Whether all entries have run before, so that no setup loads kernels any more."""
        self._own = False
        """Whether the tolerance was set in this view; it then no longer follows that of the base."""
        self.form = EntryForm(self.base)
        self.offer = Offer(self.take_over)
        self.table = entry_table(self._act)
        self.fastest = widgets.HTML()
        self._add = button("Add entry", "one more entry, with these blocks", self._adding)
        self._exports = {
            kind: button(text, "save it, a file for each entry", self._exporting(kind), width="118px")
            for kind, text in KINDS.items()
        }
        self.save_bar = SaveBar(
            lambda: {"race": self._figure()},
            provenance=lambda: provenance(ended(self._entries())),
            about=lambda: race_name(self._entries(), str(self.measure.value)),
            folder=self.folder,
            status=self.saved,
        )
        for configuration in configurations:
            self.add(configuration)
        self.box = self._layout()
        for control in (self.measure, self.with_setup):
            control.observe(lambda _change: self._change_measure(), "value")
        self._change_measure()
        self._mark(self._rtol)
        self.convergence.on_tolerance(self._dragged)
        self.controller.serve()

    def add(self, configuration: Configuration) -> RaceEntry:
        """Add an entry, which starts at once if the race has been started. The first one determines the system.

        Raises InputError for an entry on another system than those that are there.
        """
        if not self.race.entries and not same_system(configuration, self.base):
            self._set_base(configuration)
        if not same_system(configuration, self.base):
            raise InputError(
                f"{configuration.label} is on another system than this race ({self.base.problem.label}), where "
                "iterations and times do not compare; rebase the race, or use a sweep"
            )
        return self._enter(configuration)

    def _enter(self, configuration: Configuration) -> RaceEntry:
        """Add an entry, with the number of its run in the list."""
        entry = self.race.add(configuration, self.runs.next_number())
        self._repeated = False
        # In the table first: the list then knows that its curve belongs to this plot.
        run = ListedRun(entry.number, entry, self._origin, entry.method, 0)
        self._listed = {**self._listed, entry: run}
        self.runs.enter(run)
        self._wake()
        return entry

    def add_from_form(self) -> RaceEntry:
        """Add an entry with the blocks of the form. Raises InputError with the sentence for a wrong value."""
        return self.add(self.form.configuration(self.base))

    def show(self, configurations: Sequence[Configuration]) -> None:
        """Let these be the entries, on the system of the first one, and forget those before.

        Raises InputError for configurations on different systems; the entries then stay.
        """
        if any(not same_system(one, configurations[0]) for one in configurations):
            raise InputError("entries of a race solve one system; use a sweep for several problems")
        self.offer.withdraw()
        self._own = False
        self._set_base(configurations[0])
        self._chosen = self.base
        self._replace(self.race.entries, configurations)

    def rebase(self, configuration: Configuration) -> None:
        """Change to this configuration's system, start and stopping, and show its blocks in the form.

        Entries on another system, or with other stopping, cannot be compared with later ones. If no entry has begun,
        all are replaced at once, with the same methods; otherwise they stay, and a button offers `take_over`. Does
        nothing for the same configuration as last time, so that changes in this view since then stay.
        """
        if configuration == self._chosen:
            return
        self._chosen = configuration
        found = news(self.base, self._adopted()) if self.race.begun else []
        if found:
            self.offer.make(configuration.problem.label, found)
        else:
            self.take_over()

    def take_over(self) -> None:
        """Make the change of the last `rebase`. Entries that cannot be compared then end, and are replaced by new ones
        with the same methods, not started yet; their results are lost unless exported before."""
        self.offer.withdraw()
        adopted = self._adopted()
        entries = self.race.entries if news(self.base, adopted) else ()
        self._set_base(adopted)
        self.form.load(self._chosen)
        self.controller.complaint = ""
        if entries:
            self._replace(entries, [moved(entry.configuration, self.base) for entry in entries])
            self.notice = "The problem or the stopping rule changed. Press Start to race on it."
        self._wake()

    def _adopted(self) -> Configuration:
        """The configuration of the last `rebase`, with the tolerance of this race if that was set in this view."""
        return aim_of(self.base, self._chosen) if self._own else self._chosen

    def _set_base(self, configuration: Configuration) -> None:
        """Set the configuration with which entries share system, start and stopping. The tolerance becomes that of its
        stopping rule, unless it was set in this view."""
        self.base = configuration
        if not self._own:
            self.tolerance.show(self._rtol)
            self._mark(self._rtol)

    def _replace(self, entries: Sequence[RaceEntry], configurations: Sequence[Configuration]) -> None:
        """Replace entries by new ones, held as they were, in a race that has not been started."""
        held = [entry.held and not entry.ended for entry in entries]
        for entry in entries:
            self.remove(entry)
        self.race = Race()
        self.controller.add(self.race)
        self._ended = 0
        for place, configuration in enumerate(configurations):
            entered = self._enter(configuration)
            if place < len(held) and held[place]:
                self.race.pause(entered)

    def _apply_tolerance(self) -> None:
        """Before a start: replace the entries if some have ended or are to stop at another tolerance."""
        entries = self.race.entries
        new = [
            aimed(entry.configuration, self.tolerance.value) if self._own else entry.configuration for entry in entries
        ]
        if self._own:
            self.base = aimed(self.base, self.tolerance.value)
        if any(entry.ended for entry in entries) or new != [entry.configuration for entry in entries]:
            repeated = bool(entries) and all(entry.result is not None for entry in entries)
            self._replace(entries, new)
            self._repeated = repeated

    def remove(self, entry: RaceEntry) -> None:
        """End an entry and take it out of the race. Its run stays in the list, unless it has not begun.

        Raises InputError for an entry that is not in the race.
        """
        begun = entry.run is not None
        self.race.remove(entry)
        self._leaving = [*(run for run in self._leaving if run.active), self._listed[entry]]
        run = self._listed[entry]
        self._listed = {other: kept for other, kept in self._listed.items() if other is not entry}
        run.settle()
        if begun:
            self.runs.notify()
        else:
            self.runs.remove(run)
        self._wake()

    def start(self) -> None:
        """Start all entries, and later ones as soon as they are added; if all have ended, run them again.

        They stop at the race's tolerance, if one was set. Does nothing while the race runs.
        """
        self.notice = ""
        if not self.race.alive:
            self._apply_tolerance()
        missing = "there is no entry yet; choose blocks and press Add entry"
        self.controller.complaint = "" if self.race.entries else missing
        self.race.start()
        self._wake()

    def ranking(self) -> Ranking:
        """The order in which the entries reach the tolerance, by the chosen measure."""
        measure, with_setup = str(self.measure.value), bool(self.with_setup.value)
        return rank(self.race.entries, self.tolerance.value, measure, with_setup=with_setup)

    def export(self, kind: str) -> list[Path]:
        """Write a file for each entry that has ended, "csv" or "run", or their plot as "svg", "pdf" or "png".

        Returns the paths. Raises InputError.
        """
        return self.save_bar.save(kind) if kind in PICTURES else export_race(kind, self._entries(), self.folder)

    def close(self) -> None:
        """End all entries and remove all widgets from the page."""
        self.stop()
        self.curves.close()
        self.publisher.close()
        close_all(self.box)

    def _layout(self) -> widgets.Box:
        against = line("wb-buttons", widgets.Label("x-axis"), self.measure, self.with_setup)
        exports = line("wb-buttons", self.save_bar.box, *self._exports.values())
        aim = line("wb-buttons", self.tolerance.box.add_class("wb-aim"), self.again)
        more = widgets.HTML("Add a method").add_class("wb-title")
        best = widgets.HTML("Fastest by tolerance").add_class("wb-title")
        plot = [against, self.convergence, aim]
        tables = [self.winner, self.table, best, self.fastest]
        halves = line("wb-halves", widgets.VBox(plot), widgets.VBox(tables))
        parts = [
            self.offer.box,
            self.status,
            halves,
            more,
            self.form.box,
            line("wb-buttons", self._add),
            exports,
            self.saved,
        ]
        box = widgets.VBox(parts)
        box.add_class("wb-explorer").add_class("wb-race")
        return box

    def _entries(self) -> list[tuple[ListedRun, Curve | None]]:
        return [(run, self.curves.of(run)) for run in self._listed.values()]

    @property
    def _over(self) -> bool:
        """Whether the race has been started and all entries have ended."""
        return self.race.begun and not self.race.alive

    def _change_measure(self) -> None:
        """Show curves and ranking by the measure that is chosen now."""
        self.convergence.axis = str(self.measure.value)
        self.convergence.with_setup = bool(self.with_setup.value)
        self.with_setup.disabled = self.measure.value != "seconds"
        self._wake()

    def _figure(self) -> Figure:
        measure, with_setup = str(self.measure.value), bool(self.with_setup.value)
        return race_figure(self._entries(), measure, self.tolerance.value, with_setup=with_setup)

    @property
    def _rtol(self) -> float:
        """The relative tolerance of the base; 1e-6 if it has none."""
        return self.base.stopping.rtol or 1e-6

    @property
    def _stops_at(self) -> float:
        """The loosest relative residual at which an entry stops; 0 if none stops by the relative residual."""
        rules = [entry.configuration.stopping for entry in self.race.entries if not entry.error]
        return max((rule.rtol for rule in rules if rule.norm == Norm.RESIDUAL), default=0.0)

    def _moved(self, tolerance: float) -> None:
        """Called with each tolerance that is set in this view."""
        self._own = True
        self._mark(tolerance)

    def _dragged(self, tolerance: float | None) -> None:
        """Called with the tolerance to which the line on the plot was dragged; None resets it to that of the base."""
        self.tolerance.set(tolerance or self._rtol)
        self._own = tolerance is not None

    def _mark(self, tolerance: float) -> None:
        self.convergence.mark(tolerance)
        self._wake()

    def _act(self, verb: str, numbers: list[Any], _value: str) -> None:
        """Pause, resume, stop or remove entries by number."""
        for entry in [entry for entry in self.race.entries if entry.number in numbers]:
            match verb:
                case "pause":
                    (self.race.resume if entry.held else self.race.pause)(entry)
                case "stop":
                    self.race.stop(entry)
                case "remove":
                    self.remove(entry)
                case "restyle":
                    self.runs.restyle(self._listed[entry])
        self._wake()

    def _press_start(self) -> None:
        self.controller.attempt(self.start)()

    def _adding(self) -> None:
        self.controller.complain("")
        self.controller.attempt(self.add_from_form, "adding an entry")()

    def _exporting(self, kind: str) -> Callable[[], None]:
        def write(folder: Path) -> list[Path]:
            return export_race(kind, self._entries(), folder)

        def name() -> str:
            return f"race {race_name(self._entries(), kind)}"

        return lambda: self.save_bar.saver.save(write, name, "the export")

    def _wake(self) -> None:
        """Let the publisher update the view at once."""
        self.publisher.wake()

    def _refresh(self) -> None:
        """Update the table, the sentence on the winner and the exports."""
        entries = self.race.entries
        ended_now = sum(entry.ended for entry in entries)
        gone = [run for run in self._leaving if not run.active]
        if ended_now != self._ended or gone:
            self._ended, self._leaving = ended_now, [run for run in self._leaving if run not in gone]
            for run in gone:
                run.settle()
            self.runs.notify()
        self.again.description = f"Run again to {as_text(self.tolerance.value)}"
        self.again.layout.display = None if self._over and finer(self.tolerance.value, self._stops_at) else "none"
        for control in (*self._exports.values(), self.save_bar.press):
            control.disabled = not any(entry.result for entry in entries)
        found = self.ranking()
        finished = {finish.entry: finish for finish in found.finished}
        ordered = [*finished, *(entry for entry in entries if entry not in finished)]
        show_entries(self.table, found, ordered, self._listed)
        text = sentence(found, self._stops_at) if entries else ""
        if found.finished and found.measure == "seconds" and found.with_setup and not self._repeated:
            text += FIRST_TIME
        self.winner.say(text, "good" if found.finished else "plain")
        self.fastest.value = fastest(entries, found.measure, with_setup=found.with_setup)
