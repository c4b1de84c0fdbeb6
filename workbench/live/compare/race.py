"""The live view of a race: convergence of its entries, the ranking at a tolerance, and a form that adds an entry.

On the page, in messages and here, an entry of a race (`RaceEntry`) is called a lane.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import ipywidgets as widgets
from matplotlib.figure import Figure

from workbench.errors import InputError, error_message
from workbench.live.compare.race_controls import RacePlayer
from workbench.live.compare.race_files import KINDS, ended, export_race, race_figure, race_name
from workbench.live.compare.race_form import LaneForm, aim_of, aimed, moved, news, same_system
from workbench.live.compare.race_offer import Offer
from workbench.live.compare.race_row import LaneRow
from workbench.live.compare.race_text import heading, sentence
from workbench.live.compare.tolerance_slider import ToleranceSlider
from workbench.live.kit.controls import button
from workbench.live.kit.export import PICTURES, provenance
from workbench.live.kit.rows import row
from workbench.live.kit.run_handle import RunHandle
from workbench.live.kit.save_bar import SaveBar
from workbench.live.kit.status import StatusLine
from workbench.live.plots.convergence import ConvergenceView, Curve
from workbench.live.transport.closing import close_all
from workbench.live.transport.publisher import SOON, Again, Publisher
from workbench.run import Configuration, Norm, Race, RaceEntry, configure
from workbench.run.ranking import MEASURES, Ranking, rank

FIRST_TIME = " The first setup of a method includes loading its kernels; Start again repeats the race without that."
SAY_PERIOD = 0.5
"""Seconds between two updates of the numbers of running lanes."""


class RaceView:
    """A race on the page. Display `RaceView(*configurations)` and press Start; the buttons' methods work from code too.

    Without a configuration its problem is two-layer, n = 256, and it has no lane yet. All lanes solve the system of the
    first configuration, since iterations and times on different systems do not compare methods; new lanes have the
    blocks that are chosen in the form. Lanes are compared at the tolerance of the line on the plot, which can be
    dragged; lanes that begin after it was moved also stop there. When all have ended, Start runs them again from the
    start. Seconds count the setup unless "with setup" is unticked. folder: where `export` writes, by default exports/
    next to the notebook. Raises InputError for a lane on another system.

    Times are wall-clock times: what other programs and the updates of this page take from the cores counts for the lane
    whose time slice it was. It shows as a flat piece against seconds, and the lane is named below the plot. Times to
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
        """Whether all lanes have run before, so that no setup loads kernels any more."""
        self._own = False
        """Whether the tolerance was set in this view; it then no longer follows that of the base."""
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
            control.observe(lambda _change: self._change_measure(), "value")
        self._change_measure()
        self._mark(self._rtol)
        self.convergence.on_tolerance(self._dragged)
        self.publisher.add(self._publish)

    def add(self, configuration: Configuration) -> RaceEntry:
        """Add a lane, which starts at once if the race has been started. The first lane determines the system.

        Raises InputError for a lane on another system than those that are there.
        """
        if not self.race.entries and not same_system(configuration, self.base):
            self._set_base(configuration)
        if not same_system(configuration, self.base):
            raise InputError(
                f"{configuration.label} is on another system than this race ({self.base.problem.label}), where "
                "iterations and times do not compare; rebase the race, or use a sweep"
            )
        return self._enter(configuration)

    def _enter(self, configuration: Configuration, number: int | None = None) -> RaceEntry:
        """Add a lane with its curve and its row of the table. number: by default the next one."""
        lane = self.race.add(configuration, number)
        self._repeated = False
        curve = self.convergence.watch(lane, lane.label)
        self._rows = {**self._rows, lane: LaneRow(lane, curve, self._toggle, self._stopping, self.remove)}
        self._tabulate()
        return lane

    def add_from_form(self) -> RaceEntry:
        """Add a lane with the blocks of the form. Raises InputError with the sentence for a wrong value."""
        return self.add(self.form.configuration(self.base))

    def rebase(self, configuration: Configuration) -> None:
        """Change to this configuration's system, start and stopping, and show its blocks in the form.

        Lanes on another system, or with other stopping, cannot be compared with later ones. If no lane has begun, all
        are replaced at once, with the same methods; otherwise they stay, and a button offers `take_over`. Does nothing
        for the same configuration as last time, so that changes in this view since then stay.
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
        """Make the change of the last `rebase`. Lanes that cannot be compared then end, and are replaced by new ones
        with the same methods, not started yet; their results are lost unless exported before."""
        self.offer.withdraw()
        adopted = self._adopted()
        lanes = self.race.entries if news(self.base, adopted) else ()
        self._set_base(adopted)
        self.form.load(self._chosen)
        self.player.complaint = ""
        if lanes:
            self._replace(lanes, [moved(lane.configuration, self.base) for lane in lanes])
            self.player.notice = "begins anew here" if len(lanes) == 1 else "begin anew here"
            self.player.notice += ", since a race compares methods on one system and with one stopping rule"
        self._wake()

    def _adopted(self) -> Configuration:
        """The configuration of the last `rebase`, with the tolerance of this race if that was set in this view."""
        return aim_of(self.base, self._chosen) if self._own else self._chosen

    def _set_base(self, configuration: Configuration) -> None:
        """Set the configuration with which lanes share system, start and stopping. The tolerance becomes that of its
        stopping rule, unless it was set in this view."""
        self.base = configuration
        if not self._own:
            self.tolerance.show(self._rtol)
            self._mark(self._rtol)

    def _replace(self, lanes: Sequence[RaceEntry], configurations: Sequence[Configuration]) -> None:
        """Replace lanes by new ones of the same numbers, held as they were, in a race that has not been started."""
        held = [lane.held and not lane.ended for lane in lanes]
        for lane in lanes:
            self.remove(lane)
        self.race = Race()
        for lane, configuration, hold in zip(lanes, configurations, held, strict=True):
            entered = self._enter(configuration, lane.number)
            if hold:
                self.race.pause(entered)

    def _apply_tolerance(self) -> None:
        """Before a start: replace the lanes if some have ended or are to stop at another tolerance."""
        lanes = self.race.entries
        new = [aimed(lane.configuration, self.tolerance.value) if self._own else lane.configuration for lane in lanes]
        if self._own:
            self.base = aimed(self.base, self.tolerance.value)
        if any(lane.ended for lane in lanes) or new != [lane.configuration for lane in lanes]:
            repeated = bool(lanes) and all(lane.result is not None for lane in lanes)
            self._replace(lanes, new)
            self._repeated = repeated

    def remove(self, lane: RaceEntry) -> None:
        """End a lane and remove it from race, plot and table. Raises InputError for one that is not in the race."""
        self.race.remove(lane)
        gone = self._rows[lane]
        self.convergence.drop(gone.curve)
        self._rows = {other: shown for other, shown in self._rows.items() if other is not lane}
        self._tabulate()
        gone.close()

    def start(self) -> None:
        """Start all lanes, and later ones as soon as they are added; if all have ended, run them again from the start.

        They stop at the race's tolerance, if one was set. Does nothing while the race runs.
        """
        self.player.notice = ""
        if not self.race.alive:
            self._apply_tolerance()
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
        """The order in which the lanes reach the tolerance, by the chosen measure."""
        measure, with_setup = str(self.measure.value), bool(self.with_setup.value)
        return rank(self.race.entries, self.tolerance.value, measure, with_setup=with_setup)

    @property
    def ended_runs(self) -> list[RunHandle]:
        """The lanes that have ended without failing, in order."""
        return [RunHandle(lane.result, f"lane {lane.label}") for lane in self.race.entries if lane.result is not None]

    def export(self, kind: str) -> list[Path]:
        """Write a file for each lane that has ended, "csv" or "run", or their plot as "svg", "pdf" or "png".

        Returns the paths. Raises InputError.
        """
        return self.save_bar.save(kind) if kind in PICTURES else export_race(kind, self._curves(), self.folder)

    def close(self) -> None:
        """End all lanes and remove all widgets from the page."""
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

    def _change_measure(self) -> None:
        """Show curves and ranking by the measure that is chosen now."""
        self.convergence.axis = str(self.measure.value)
        self.convergence.with_setup = bool(self.with_setup.value)
        self.with_setup.disabled = self.measure.value != "seconds"
        self._wake()

    def _figure(self) -> Figure:
        measure, with_setup = str(self.measure.value), bool(self.with_setup.value)
        return race_figure(self._curves(), measure, self.tolerance.value, with_setup=with_setup)

    @property
    def _rtol(self) -> float:
        """The relative tolerance of the base; 1e-6 if it has none."""
        return self.base.stopping.rtol or 1e-6

    @property
    def _stops_at(self) -> float:
        """The loosest relative residual at which a lane stops; 0 if none stops by the relative residual."""
        rules = [lane.configuration.stopping for lane in self.race.entries if not lane.error]
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
        """Show a sentence on a wrong value; "" removes it."""
        self.player.complaint = sentence
        self._wake()

    def _wake(self) -> None:
        """Let the publisher update the view at once."""
        self._next = 0.0
        self.publisher.wake()

    def _publish(self) -> Again:
        """Update the page; returns when to call it again, see `Again`."""
        # Read before anything is shown: the last update then shows the final state.
        running = self.race.alive and not self.race.held
        now = time.monotonic()
        if (running or self.race.lingering) and now < self._next:
            return self._next - now
        # The page shows at once that the lanes have ended after Stop.
        ending = any(lane.stopping and not lane.ended for lane in self.race.entries)
        self._next = now + (0.0 if ending else SAY_PERIOD)
        self.player.show(self.race, self.base.problem.label, self.tolerance.value, self._stops_at)
        for control in (*self._exports.values(), self.save_bar.press):
            control.disabled = not any(lane.result for lane in self.race.entries)
        self._show_ranking()
        return SOON if ending else running or self.race.lingering

    def _show_ranking(self) -> None:
        """Update the rows of the table and the sentence on the winner."""
        found = self.ranking()
        finished = {finish.entry: finish for finish in found.finished}
        for lane, shown in self._rows.items():
            shown.show(finished.get(lane), found.measure)
        text = sentence(found, self._stops_at) if self.race.entries else ""
        if found.finished and found.measure == "seconds" and found.with_setup and not self._repeated:
            text += FIRST_TIME
        self.winner.say(text, "good" if found.finished else "plain")
