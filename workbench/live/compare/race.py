"""The live view of a race: convergence of its entries, the ranking at a tolerance, and a form that adds an entry."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import ipywidgets as widgets

from workbench.errors import InputError
from workbench.live.compare.race_adding import EntryAdding
from workbench.live.compare.race_entries import KINDS, RaceEntries, ended, export_race, race_name
from workbench.live.compare.race_form import (
    ToleranceField,
    aim_of,
    aimed,
    differences,
    method_of,
    moved,
    same_system,
)
from workbench.live.compare.race_text import (
    belonging,
    compilation,
    entry_table,
    fastest,
    progress,
    show_entries,
)
from workbench.live.compare.race_verdict import finer, verdict
from workbench.live.plots.convergence import ConvergenceView, ListedCurves
from workbench.live.solve.controller import Controller, PausableView
from workbench.live.transport.publisher import Publisher
from workbench.live.ui.controls import button, row
from workbench.live.ui.export import PICTURES, provenance
from workbench.live.ui.run_list import RACE, ListedRun, RunList
from workbench.live.ui.save_bar import SaveBar
from workbench.live.ui.status import StatusLine
from workbench.plots.scenes.scene import Scene
from workbench.run import Configuration, Norm, Race, RaceEntry, configure
from workbench.run.choices.conflicts import conflicts
from workbench.run.jobs.ranking import MEASURES, Ranking, rank
from workbench.run.jobs.repeats import BUDGET
from workbench.words.numbers import rounded

EMPTY = "Press Start. A curve for each entry appears here."
START = "start"
"""The item of an address that starts the race."""
PERIOD = 0.5
"""Seconds between two updates of the numbers of active entries."""


class RaceView(PausableView):
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
        self.base = configurations[0] if configurations else configure("two-layer", n=256)
        """The problem and settings that all entries have."""
        self._chosen = self.base
        """The configuration chosen elsewhere last, which the next start solves."""
        self._opening = opening
        self._opened: list[Configuration] = []
        """The entries that the view has chosen itself."""
        self.folder = Path(folder) if folder is not None else Path.cwd() / "exports"
        self.publisher = Publisher()
        self.runs = runs or RunList()
        self.entries = RaceEntries(self.runs, origin, lambda job: self.controller.add(job), budget)
        self.convergence = ConvergenceView(publisher=self.publisher, nothing=EMPTY)
        shown = lambda run: run in self.entries.listed.values()  # noqa: E731
        self.curves = ListedCurves(self.convergence, self.runs, shown)
        self.measure = widgets.ToggleButtons(options=MEASURES)
        self.with_setup = widgets.Checkbox(
            value=True,
            description="with setup",
            tooltip="count each setup, which in a first run loads kernels too; without it only iterations count",
            indent=False,
            layout={"width": "auto"},
        )
        self.controller = Controller(
            self.publisher,
            self.start,
            lambda _job, _state: progress(
                self.race, self.entries.repeats, self._next.problem.label, moved=bool(self._differences)
            ),
            refresh=self._refresh,
            starting=lambda: "Start again" if self.entries.over and not self._differences else "Start",
            about="run all entries from the start",
            period=PERIOD,
        )
        self.controller.add(self.race)
        self.status = self.controller.bar
        self.winner, self.note, self.saved = StatusLine(), StatusLine(), StatusLine()
        self.tolerance = ToleranceField(self._rtol, self.convergence.mark, self.controller.complain)
        self.again = button(
            "", "run all entries from the start, to this tolerance", self.controller.attempt(self.start), width="auto"
        )
        self.adding = EntryAdding(self.controller, self._adopted, self.add_method)
        self.belongs = widgets.HTML()
        """The problem of the results, where another one is chosen by now."""
        self.table = entry_table(self._act)
        self.fastest = widgets.HTML()
        self.exports = {
            kind: button(text, "save it, a file for each entry", self._exporting(kind), width="118px")
            for kind, text in KINDS.items()
        }
        self.save_bar = SaveBar(
            self._pictures,
            provenance=lambda: provenance(ended(self._listed)),
            about=lambda: race_name(self._listed, str(self.measure.value)),
            folder=self.folder,
            status=self.saved,
        )
        self._opened = list(opening(self.base)) if opening else []
        for configuration in self._opened or configurations:
            self.add(configuration)
        self._fold()
        self.box = self._layout()
        for control in (self.measure, self.with_setup):
            control.observe(lambda _change: self._change_measure(), "value")
        self._change_measure()
        self.convergence.mark(self._rtol)
        # The line on the plot was dragged; None: it was reset.
        self.convergence.on_tolerance(lambda at: self.tolerance.set(at) if at else self.tolerance.reset(self._rtol))
        self.controller.serve()

    @property
    def race(self) -> Race:
        """The race of the present entries."""
        return self.entries.race

    def add(self, configuration: Configuration) -> RaceEntry:
        """Add an entry, which starts at once if the race has been started. The first one determines the system.

        Raises InputError for an entry on another system than those that are there.
        """
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

    def show(self, configurations: Sequence[Configuration]) -> None:
        """Replace the entries by these, on the system of the first one.

        Raises InputError for configurations on different systems; the entries then stay.
        """
        if any(not same_system(one, configurations[0]) for one in configurations):
            raise InputError("entries of a race solve one system; use a sweep for several problems")
        self.tolerance.own = False
        self._set_base(configurations[0])
        self._chosen, self._opened = self.base, []
        self.entries.replace(self.race.entries, configurations)
        self._fold()
        self.publisher.wake()

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

    def _adopted(self) -> Configuration:
        """The configuration chosen elsewhere last, with the tolerance of this race if that was set in this view."""
        return aim_of(self.base, self._chosen) if self.tolerance.own else self._chosen

    def _set_base(self, configuration: Configuration) -> None:
        """Set the configuration with which entries share system, start and stopping. The tolerance becomes that of its
        stopping rule, unless it was set in this view."""
        self.base = configuration
        self.adding.form.settle()
        if not self.tolerance.own:
            self.tolerance.reset(self._rtol)

    def _renew(self) -> None:
        """Before a start: replace the entries if some have ended or are to stop at another tolerance."""
        new = [entry.configuration for entry in self.race.entries]
        if self.tolerance.own:
            self.base, *new = (aimed(configuration, self.tolerance.value) for configuration in (self.base, *new))
        self.entries.renew(new)

    def remove(self, entry: RaceEntry) -> None:
        """End an entry and take it out of the race. Its run stays in the list if its setup is done.

        Raises InputError for an entry that is not in the race.
        """
        self.entries.remove(entry)
        self.publisher.wake()

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
        plot = self.convergence
        samples = self.entries.samples
        return rank(self.race.entries, self.tolerance.value, plot.axis, with_setup=plot.with_setup, samples=samples)

    def export(self, kind: str) -> list[Path]:
        """Write a file for each entry that has ended, "csv" or "run", or their plot as "svg", "pdf" or "png".

        Returns the paths. Raises InputError.
        """
        return self.save_bar.save(kind) if kind in PICTURES else export_race(kind, self._listed, self.folder)

    def close(self) -> None:
        """End all entries and remove all widgets from the page."""
        self.stop()
        self.curves.close()
        self.publisher.close()
        # After that, since a tick of the publisher would begin them again.
        self.entries.end_repeats()
        super().close()

    def _layout(self) -> widgets.Box:
        aim = row("wb-aim", self.tolerance.box)
        against = row("wb-buttons", widgets.Label("x-axis"), self.measure, self.with_setup, aim, self.again)
        exports = row("wb-buttons", self.save_bar.box, *self.exports.values())
        best = widgets.HTML("Fastest by tolerance").add_class("wb-title")
        plot = [against, self.convergence]
        tables = [self.winner.add_class("wb-answer"), self.table, self.note, best, self.fastest]
        halves = row("wb-halves", widgets.VBox(plot), widgets.VBox(tables))
        parts = [
            self.status,
            self.belongs,
            halves,
            self.adding.chips,
            self.adding.box,
            exports,
            self.saved,
        ]
        box = widgets.VBox(parts)
        box.add_class("wb-explorer").add_class("wb-race")
        return box

    @property
    def _listed(self) -> list[ListedRun]:
        """The runs of the entries that have begun."""
        return list(self.entries.listed.values())

    def _fold(self) -> None:
        self.adding.fold(folded=len(self.race.entries) > 1)

    def _pictures(self) -> dict[str, Scene]:
        """The plot of the entries that have ended."""
        ended(self._listed)
        return {"race": self.convergence.scene()}

    def _change_measure(self) -> None:
        """Show curves and ranking by the measure that is chosen now."""
        self.convergence.axis = str(self.measure.value)
        self.convergence.with_setup = bool(self.with_setup.value)
        self.with_setup.disabled = self.measure.value != "seconds"
        self.publisher.wake()

    @property
    def _rtol(self) -> float:
        """The relative tolerance of the base; 1e-6 if it has none."""
        return self.base.stopping.rtol or 1e-6

    @property
    def _stops_at(self) -> float:
        """The loosest relative residual at which an entry stops; 0 if none stops by the relative residual."""
        rules = [entry.configuration.stopping for entry in self.race.entries if not entry.error]
        return max((rule.rtol for rule in rules if rule.norm == Norm.RESIDUAL), default=0.0)

    def _act(self, verb: str, numbers: list[int], _value: str) -> None:
        self.entries.act(verb, numbers)
        self.publisher.wake()

    def _exporting(self, kind: str) -> Callable[[], None]:
        def write(folder: Path) -> list[Path]:
            return export_race(kind, self._listed, folder)

        def name() -> str:
            return f"race {race_name(self._listed, kind)}"

        return lambda: self.save_bar.saver.save(write, name, "the export")

    def _refresh(self) -> None:
        """Update the table, the sentence on the winner and the exports."""
        self.entries.update()
        if self.measure.value == "seconds":
            self.entries.repeat(self.publisher.wake)
        entries = self.race.entries
        self.again.description = f"Run again to {rounded(self.tolerance.value)}"
        missed = self.entries.over and finer(self.tolerance.value, self._stops_at)
        self.again.layout.display = None if missed and not self._differences else "none"
        self.belongs.value = belonging(self.base, self._adopted(), self.race.alive) if self.race.begun else ""
        self.belongs.layout.display = None if self.belongs.value else "none"
        self.adding.offer_variations([entry.configuration for entry in entries])
        for control in (*self.exports.values(), self.save_bar.press):
            control.disabled = not any(entry.result for entry in entries)
        found = self.ranking()
        finished = {finish.entry: finish for finish in found.finished}
        ordered = [*finished, *(entry for entry in entries if entry not in finished)]
        show_entries(self.table, found, ordered, self.entries.listed)
        said = verdict(found, self.base.problem, self._stops_at, entries=entries) if self.race.begun else ""
        self.winner.say(said, "good" if found.finished else "plain", quote=said if found.finished else "")
        self.note.say(compilation(entries))
        self.fastest.value = fastest(entries, found.measure, self.entries.samples, with_setup=found.with_setup)
