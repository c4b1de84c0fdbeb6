"""A race to watch: the lanes' convergence live, who is first at a tolerance, and a form for one more lane."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import ipywidgets as widgets
from matplotlib.figure import Figure

from workbench.errors import InputError, error_message
from workbench.live._closing import close_all
from workbench.live._rows import row
from workbench.live._stream import SOON, Again, Publisher
from workbench.live.controls import button
from workbench.live.convergence import ConvergenceView, Curve
from workbench.live.export import PICTURES, provenance
from workbench.live.race_files import KINDS, ended, export_race, race_figure, race_name
from workbench.live.race_form import LaneForm, aim_of, aimed, moved, news, same_system
from workbench.live.race_offer import Offer
from workbench.live.race_player import RacePlayer
from workbench.live.race_row import LaneRow
from workbench.live.race_words import heading, sentence
from workbench.live.save_bar import SaveBar
from workbench.live.status import StatusLine
from workbench.live.tolerance import ToleranceSlider
from workbench.run import Configuration, Norm, Race, RaceEntry, Result, configure
from workbench.run.ranking import MEASURES, Ranking, rank

FIRST_TIME = " The first setup of a method includes loading its kernels; Start again repeats the race without that."
SAY_PERIOD = 0.5
"""Seconds between two looks at the numbers of lanes that run."""


class RaceView:
    """Runs side by side. Display `RaceView(*configurations)` and press Start; the buttons' methods work from code too.

    Without a configuration it is on the two-layer problem, n = 256, and has no lane yet. All lanes solve the first
    configuration's system, since iterations and times on different ones say nothing of the methods; new lanes have the
    blocks that the form says. The line on the plot is the tolerance at which they are compared: drag it. Lanes that
    begin after it was moved also stop there. When all have ended, Start runs them again from the start. Seconds count
    the setup unless "with setup" is unticked. folder: where `export` writes, by default exports/ next to the notebook.
    Raises InputError for a lane on another system.

    Clocks are wall clocks: what others take from the cores, this page's own updates among them, is on the clock of the
    lane whose turn it was. It shows as a flat piece against seconds, and the lane is named below the plot. Times to
    quote come from `Race(...).wait()` on a quiet machine.
    """

    def __init__(self, *configurations: Configuration, folder: str | Path | None = None) -> None:
        self.race = Race()
        self.base = configurations[0] if configurations else configure("two-layer", n=256)
        self._chosen = self.base
        self.folder = Path(folder) if folder is not None else Path.cwd() / "exports"
        self.publisher = Publisher()
        self.convergence = ConvergenceView(publisher=self.publisher)
        self.measure = widgets.ToggleButtons(options=MEASURES, style={"button_width": "90px"})
        self.with_setup = widgets.Checkbox(
            value=True,
            description="with setup",
            tooltip="count each setup, which in a first run loads kernels too; without it only iterations count",
            indent=False,
            layout={"width": "auto"},
        )
        self.player = RacePlayer(self.start, self._toggle_pause, self.stop)
        self.winner, self.saved = StatusLine(), StatusLine()
        self.tolerance = ToleranceSlider(self._rtol, self._moved, self._complain)
        self._repeated = False
        """Whether all lanes have been run here before, so that no setup loads kernels any more."""
        self._own = False
        """Whether the tolerance was set here, so that it follows no other page's."""
        self.form = LaneForm(self.base)
        self.offer = Offer(self.take_over)
        self.table = widgets.VBox()
        self._head = widgets.HTML(heading(), layout={"margin": "0"})
        self._add = button("Add lane", "one more lane, with these blocks", self._adding, style="primary")
        self._exports = {
            kind: button(text, "save it, a file for each lane", self._exporting(kind), width="118px")
            for kind, text in KINDS.items()
        }
        self.save_bar = SaveBar(
            lambda: {"race": self._figure()},
            provenance=lambda: provenance(ended(self._curves())),
            about=lambda: race_name(self._curves(), str(self.measure.value)),
            folder=self.folder,
            status=self.saved,
        )
        self._rows: dict[RaceEntry, LaneRow] = {}
        self._next = 0.0
        for configuration in configurations:
            self.add(configuration)
        self.box = self._layout()
        for control in (self.measure, self.with_setup):
            control.observe(lambda _change: self._measured(), "value")
        self._measured()
        self._mark(self._rtol)
        self.convergence.on_tolerance(self._dragged)
        self.publisher.add(self._publish)

    def add(self, configuration: Configuration) -> RaceEntry:
        """One more lane; it begins at once where the race has been started. The first lane brings the system.

        Raises InputError for a lane on another system than those that are there.
        """
        if not self.race.entries and not same_system(configuration, self.base):
            self._stand_on(configuration)
        if not same_system(configuration, self.base):
            raise InputError(
                f"{configuration.label} is on another system than this race ({self.base.problem.label}), where "
                "iterations and times do not compare; rebase the race, or use a sweep"
            )
        return self._enter(configuration)

    def _enter(self, configuration: Configuration, number: int | None = None) -> RaceEntry:
        lane = self.race.add(configuration, number)
        self._repeated = False
        curve = self.convergence.watch(lane, lane.label)
        self._rows = {**self._rows, lane: LaneRow(lane, curve, self._toggle, self._stopping, self.remove)}
        self._tabulate()
        return lane

    def add_from_form(self) -> RaceEntry:
        """One more lane with the blocks that the form says. Raises InputError with the sentence for a wrong value."""
        return self.add(self.form.configuration(self.base))

    def rebase(self, configuration: Configuration) -> None:
        """Take the race to this configuration's system, start and stopping, and show its blocks in the form.

        Lanes on another system, or with other stopping, cannot be compared with those to come. Where none has begun,
        they stand there anew with their methods; else they stay, and a button does `take_over`. Does nothing for the
        configuration that was given last, so what was set since stays.
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
        """Go where `rebase` was told last. Lanes that do not compare there end and stand there anew, to be started
        again; export what is to be kept before."""
        self.offer.withdraw()
        adopted = self._adopted()
        lanes = self.race.entries if news(self.base, adopted) else ()
        self._stand_on(adopted)
        self.form.load(self._chosen)
        self.player.complaint = ""
        if lanes:
            self._begin_anew(lanes, [moved(lane.configuration, self.base) for lane in lanes])
            self.player.notice = "begins anew here" if len(lanes) == 1 else "begin anew here"
            self.player.notice += ", since a race compares methods on one system and with one stopping rule"
        self._wake()

    def _adopted(self) -> Configuration:
        """What was chosen elsewhere, with the tolerance of this race once that was set here."""
        return aim_of(self.base, self._chosen) if self._own else self._chosen

    def _stand_on(self, configuration: Configuration) -> None:
        """The tolerance follows the stopping rule where nobody has set another."""
        self.base = configuration
        if not self._own:
            self.tolerance.show(self._rtol)
            self._mark(self._rtol)

    def _begin_anew(self, lanes: Sequence[RaceEntry], anew: Sequence[Configuration]) -> None:
        """Replace lanes by new ones of the same numbers, held as they were, in a race that has not been started."""
        held = [lane.held and not lane.ended for lane in lanes]
        for lane in lanes:
            self.remove(lane)
        self.race = Race()
        for lane, configuration, hold in zip(lanes, anew, held, strict=True):
            entered = self._enter(configuration, lane.number)
            if hold:
                self.race.pause(entered)

    def _aim(self) -> None:
        """Make the lanes of a race that is not running stop at the tolerance that is set; ended ones will run again."""
        lanes = self.race.entries
        anew = [aimed(lane.configuration, self.tolerance.value) if self._own else lane.configuration for lane in lanes]
        if self._own:
            self.base = aimed(self.base, self.tolerance.value)
        if any(lane.ended for lane in lanes) or anew != [lane.configuration for lane in lanes]:
            repeated = bool(lanes) and all(lane.result is not None for lane in lanes)
            self._begin_anew(lanes, anew)
            self._repeated = repeated

    def remove(self, lane: RaceEntry) -> None:
        """End a lane and take it away. Raises InputError for one that is not in the race."""
        self.race.remove(lane)
        gone = self._rows[lane]
        self.convergence.drop(gone.curve)
        self._rows = {other: shown for other, shown in self._rows.items() if other is not lane}
        self._tabulate()
        gone.close()

    def start(self) -> None:
        """Let all lanes begin, and those that are added later at once; where all have ended, from the start again.

        They stop at the race's tolerance, if one was set. Does nothing while the race runs.
        """
        self.player.notice = ""
        if not self.race.alive:
            self._aim()
        self.player.complaint = "" if self.race.entries else "there is no lane yet; choose blocks and press Add lane"
        self.race.start()
        self._wake()

    def pause(self) -> None:
        """Hold all lanes."""
        self.race.pause()
        self._wake()

    def resume(self) -> None:
        """Resume all lanes."""
        self.race.resume()
        self._wake()

    def stop(self) -> None:
        """End all lanes; what was computed stays."""
        self.race.stop()
        self._wake()

    def ranking(self) -> Ranking:
        """The order at the tolerance that is set, by the measure that is shown."""
        measure, with_setup = str(self.measure.value), bool(self.with_setup.value)
        return rank(self.race.entries, self.tolerance.value, measure, with_setup=with_setup)

    @property
    def ended_runs(self) -> list[tuple[str, Result]]:
        """The lanes that have ended, by name, the first lane first, as what can be looked into."""
        return [(f"lane {lane.label}", lane.result) for lane in self.race.entries if lane.result is not None]

    def export(self, kind: str) -> list[Path]:
        """Write the lanes that have ended as "csv" or "run", or their picture as "svg", "pdf" or "png".

        Returns the paths. Raises InputError.
        """
        return self.save_bar.save(kind) if kind in PICTURES else export_race(kind, self._curves(), self.folder)

    def close(self) -> None:
        """End all lanes and take everything off the page."""
        self.stop()
        self.publisher.close()
        close_all(self.box)

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return self.box._repr_mimebundle_(**options)

    def _layout(self) -> widgets.Box:
        buttons = (self.player.start, self.player.pause, self.player.stop)
        player = row("wb-buttons", *buttons, widgets.Label("against"), self.measure, self.with_setup)
        exports = row("wb-buttons", self.save_bar.box, *self._exports.values())
        aim = row("wb-buttons", self.tolerance.box.add_class("wb-aim"), self.player.again)
        more = widgets.HTML("One more lane, with").add_class("wb-title")
        views = [self.offer.box, player, self.player.status, self.convergence, aim, self.winner, self.table]
        parts = [*views, more, self.form.box, row("wb-buttons", self._add), exports, self.saved]
        box = widgets.VBox(parts)
        box.add_class("wb-explorer").add_class("wb-race")
        return box

    def _curves(self) -> list[tuple[RaceEntry, Curve]]:
        return [(lane, shown.curve) for lane, shown in self._rows.items()]

    def _tabulate(self) -> None:
        self.table.children = (self._head, *(shown.box for shown in self._rows.values()))
        self._wake()

    def _measured(self) -> None:
        self.convergence.axis = str(self.measure.value)
        self.convergence.with_setup = bool(self.with_setup.value)
        self.with_setup.disabled = self.measure.value != "seconds"
        self._wake()

    def _figure(self) -> Figure:
        measure, with_setup = str(self.measure.value), bool(self.with_setup.value)
        return race_figure(self._curves(), measure, self.tolerance.value, with_setup=with_setup)

    @property
    def _rtol(self) -> float:
        return self.base.stopping.rtol or 1e-6

    @property
    def _stops_at(self) -> float:
        """The loosest relative residual at which a lane stops; 0 where it is not by that they stop."""
        rules = [lane.configuration.stopping for lane in self.race.entries if not lane.error]
        return max((rule.rtol for rule in rules if rule.norm == Norm.RESIDUAL), default=0.0)

    def _moved(self, tolerance: float) -> None:
        self._own = True
        self._mark(tolerance)

    def _dragged(self, tolerance: float | None) -> None:
        """Taken on the plot; None gives the line back to the lanes."""
        self.tolerance.set(tolerance or self._rtol)
        self._own = tolerance is not None

    def _mark(self, tolerance: float) -> None:
        self.convergence.mark(tolerance)
        self._wake()

    def _toggle_pause(self) -> None:
        if self.race.held:
            self.resume()
        else:
            self.pause()

    def _toggle(self, lane: RaceEntry) -> None:
        (self.race.resume if lane.held else self.race.pause)(lane)
        self._wake()

    def _stopping(self, lane: RaceEntry) -> None:
        self.race.stop(lane)
        self._wake()

    def _adding(self) -> None:
        try:
            self.add_from_form()
        # No one else would report it to the user.
        except Exception as error:
            self._complain(error_message(error, "adding a lane"))
        else:
            self._complain("")

    def _exporting(self, kind: str) -> Callable[[], None]:
        def write(folder: Path) -> list[Path]:
            return export_race(kind, self._curves(), folder)

        def name() -> str:
            return f"race {race_name(self._curves(), kind)}"

        return lambda: self.save_bar.saver.save(write, name, "the export")

    def _complain(self, sentence: str) -> None:
        self.player.complaint = sentence
        self._wake()

    def _wake(self) -> None:
        self._next = 0.0
        self.publisher.wake()

    def _publish(self) -> Again:
        # Before anything is shown, so that what is shown last is from after the last change.
        running = self.race.alive and not self.race.held
        now = time.monotonic()
        if (running or self.race.lingering) and now < self._next:
            return self._next - now
        # Stop is answered as soon as the lanes have ended.
        ending = any(lane.stopping and not lane.ended for lane in self.race.entries)
        self._next = now + (0.0 if ending else SAY_PERIOD)
        self.player.show(self.race, self.base.problem.label, self.tolerance.value, self._stops_at)
        for control in (*self._exports.values(), self.save_bar.press):
            control.disabled = not any(lane.result for lane in self.race.entries)
        self._show_ranking()
        return SOON if ending else running or self.race.lingering

    def _show_ranking(self) -> None:
        found = self.ranking()
        finished = {finish.entry: finish for finish in found.finished}
        for lane, shown in self._rows.items():
            shown.show(finished.get(lane), found.measure)
        said = sentence(found, self._stops_at) if self.race.entries else ""
        if found.finished and found.measure == "seconds" and found.with_setup and not self._repeated:
            said += FIRST_TIME
        self.winner.say(said, "good" if found.finished else "plain")
