"""A race to watch: the lanes' convergence live, who is first at a tolerance, and a form for one more lane."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import ipywidgets as widgets

from workbench.errors import InputError, sentence_of
from workbench.live._closing import close_all
from workbench.live._rows import row
from workbench.live._stream import SOON, Again, Publisher
from workbench.live.controls import button
from workbench.live.convergence import ConvergenceView, Curve
from workbench.live.export import PICTURES, provenance
from workbench.live.race_files import KINDS, ended, export_race, race_figure, race_name
from workbench.live.race_form import LaneForm, moved, news, same_system
from workbench.live.race_offer import Offer
from workbench.live.race_row import LaneRow
from workbench.live.race_words import heading, sentence
from workbench.live.save_bar import SaveBar
from workbench.live.status import StatusLine
from workbench.live.tolerance import ToleranceSlider
from workbench.run import Configuration, Lane, Race, State, configure
from workbench.run.standings import MEASURES, Standings, standings

SAY_PERIOD = 0.5
"""Seconds between two looks at the numbers of lanes that run."""


class RaceView:
    """Runs side by side. Display `RaceView(*configurations)` and press Start; the buttons' methods work from code too.

    Without a configuration it is on the two-layer problem, n = 256, and has no lane yet. All lanes solve the first
    configuration's system, since iterations and times on different ones say nothing of the methods; new lanes have the
    blocks that the form says. The line on the plot is the tolerance at which they are compared: drag it. folder: where
    exports go, by default exports/ beside the notebook. Raises InputError for a lane on another system.

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
        self.status, self.winner, self.saved = StatusLine(), StatusLine(), StatusLine()
        self.tolerance = ToleranceSlider(self._rtol, self._marked, self._complain)
        self.form = LaneForm(self.base)
        self.offer = Offer(self.take_over)
        self.table = widgets.VBox()
        self._head = widgets.HTML(heading(), layout={"margin": "0"})
        self._start = button("Start", "let all lanes begin", self.start, style="primary")
        self._pause = button("Pause", "hold all lanes; Resume lets them go on", self._toggle_pause)
        self._stop = button("Stop", "end all lanes; what was computed stays", self.stop, style="danger")
        self._add = button("Add lane", "one more lane, with these blocks", self._adding, style="primary")
        self._exports = {
            kind: button(text, "write it into the folder exports/", self._exporting(kind), width="118px")
            for kind, text in KINDS.items()
        }
        self.save_bar = SaveBar(
            lambda: {"race": race_figure(self._curves(), str(self.measure.value), self.tolerance.value)},
            provenance=lambda: provenance(ended(self._curves())),
            about=lambda: race_name(self._curves(), str(self.measure.value)),
            folder=self.folder,
            status=self.saved,
        )
        self._rows: dict[Lane, LaneRow] = {}
        self._next = 0.0
        self._complaint = self._notice = ""
        for configuration in configurations:
            self.add(configuration)
        self.box = self._layout()
        self.measure.observe(lambda change: self._measured(change["new"]), "value")
        self._marked(self.tolerance.value)
        self.convergence.on_tolerance(lambda value: self.tolerance.set(value or self._rtol))
        self.publisher.add(self._publish)

    def add(self, configuration: Configuration) -> Lane:
        """One more lane; it begins at once where the race has been started. The first lane brings the system.

        Raises InputError for a lane on another system than those that are there.
        """
        if not self.race.lanes and not same_system(configuration, self.base):
            self._stand_on(configuration)
        if not same_system(configuration, self.base):
            raise InputError(
                f"{configuration.label} is on another system than this race ({self.base.problem.label}), where "
                "iterations and times do not compare; rebase the race, or use a sweep"
            )
        lane = self.race.add(configuration)
        curve = self.convergence.watch(lane, lane.label)
        self._rows = {**self._rows, lane: LaneRow(lane, curve, self._toggle, self._stopping, self.remove)}
        self._tabulate()
        return lane

    def add_from_form(self) -> Lane:
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
        found = news(self.base, configuration) if self._begun() else []
        if found:
            self.offer.make(configuration.problem.label, found)
        else:
            self.take_over()

    def take_over(self) -> None:
        """Go where `rebase` was told last. Lanes that do not compare there end and stand there anew, to be started
        again; export what is to be kept before."""
        self.offer.withdraw()
        lanes = self.race.lanes if news(self.base, self._chosen) else ()
        self._stand_on(self._chosen)
        self.form.load(self._chosen)
        self._complaint = ""
        if lanes:
            self._begin_anew(lanes)
        self._wake()

    def _begun(self) -> bool:
        return self.race.alive or any(lane.state is not State.IDLE for lane in self.race.lanes)

    def _stand_on(self, configuration: Configuration) -> None:
        """The tolerance follows the stopping rule where nobody has set another."""
        untouched = self.tolerance.value == self._rtol
        self.base = configuration
        if untouched:
            self.tolerance.set(self._rtol)

    def _begin_anew(self, lanes: Sequence[Lane]) -> None:
        anew = [moved(lane.configuration, self.base) for lane in lanes]
        for lane in lanes:
            self.remove(lane)
        self.race = Race()
        for configuration in anew:
            self.add(configuration)
        self._notice = "begins anew here" if len(lanes) == 1 else "begin anew here"
        self._notice += ", since a race compares methods on one system and with one stopping rule"

    def remove(self, lane: Lane) -> None:
        """End a lane and take it away. Raises InputError for one that is not in the race."""
        self.race.remove(lane)
        gone = self._rows[lane]
        self.convergence.drop(gone.curve)
        self._rows = {other: shown for other, shown in self._rows.items() if other is not lane}
        self._tabulate()
        gone.close()

    def start(self) -> None:
        """Let all lanes begin, and those that are added later at once."""
        self._notice = ""
        self._complaint = "" if self.race.lanes else "there is no lane yet; choose blocks and press Add lane"
        self.race.start()
        self._wake()

    def pause(self) -> None:
        """Hold all lanes."""
        self.race.pause()
        self._wake()

    def resume(self) -> None:
        """Let all lanes go on."""
        self.race.resume()
        self._wake()

    def stop(self) -> None:
        """End all lanes; what was computed stays."""
        self.race.stop()
        self._wake()

    def standings(self) -> Standings:
        """The order at the tolerance that is set, by the measure that is shown."""
        return standings(self.race.lanes, self.tolerance.value, str(self.measure.value))

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
        player = row("wb-buttons", self._start, self._pause, self._stop, widgets.Label("against"), self.measure)
        exports = row("wb-buttons", self.save_bar.box, *self._exports.values())
        aim = self.tolerance.box.add_class("wb-buttons")
        more = widgets.HTML("One more lane, with").add_class("wb-title")
        views = [self.offer.box, player, self.status, self.convergence, aim, self.winner, self.table]
        parts = [*views, more, self.form.box, row("wb-buttons", self._add), exports, self.saved]
        box = widgets.VBox(parts)
        box.add_class("wb-explorer").add_class("wb-race")
        return box

    def _curves(self) -> list[tuple[Lane, Curve]]:
        return [(lane, shown.curve) for lane, shown in self._rows.items()]

    def _tabulate(self) -> None:
        self.table.children = (self._head, *(shown.box for shown in self._rows.values()))
        self._wake()

    def _measured(self, measure: str) -> None:
        self.convergence.axis = measure
        self._wake()

    @property
    def _rtol(self) -> float:
        return self.base.stopping.rtol or 1e-6

    def _marked(self, tolerance: float) -> None:
        self.convergence.mark(tolerance)
        self._wake()

    def _toggle_pause(self) -> None:
        if self._all_held():
            self.resume()
        else:
            self.pause()

    def _all_held(self) -> bool:
        going = [lane for lane in self.race.lanes if not lane.ended]
        return bool(going) and all(lane.held for lane in going)

    def _toggle(self, lane: Lane) -> None:
        (self.race.resume if lane.held else self.race.pause)(lane)
        self._wake()

    def _stopping(self, lane: Lane) -> None:
        self.race.stop(lane)
        self._wake()

    def _adding(self) -> None:
        try:
            self.add_from_form()
        # Nobody else would tell the user.
        except Exception as error:
            self._complain(sentence_of(error, "adding a lane"))
        else:
            self._complain("")

    def _exporting(self, kind: str) -> Callable[[], None]:
        """In a thread of its own, because drawing takes longer than a callback should."""

        def write() -> None:
            try:
                paths = self.export(kind)
            # Nobody else would tell the user.
            except Exception as error:
                self.saved.say(sentence_of(error, "the export"), "bad")
            else:
                self.saved.say(f"written to {self.folder}: {', '.join(path.name for path in paths)}", "good")

        return lambda: threading.Thread(target=write, name="workbench-export", daemon=True).start()

    def _complain(self, sentence: str) -> None:
        self._complaint = sentence
        self._wake()

    def _wake(self) -> None:
        self._next = 0.0
        self.publisher.wake()

    def _publish(self) -> Again:
        # Before anything is shown, so that the last look comes after the last change.
        going = self.race.alive and not self._all_held()
        now = time.monotonic()
        if (going or self.race.lingering) and now < self._next:
            return self._next - now
        # Whoever has pressed Stop is told as soon as it is so.
        ending = any(lane.stopping and not lane.ended for lane in self.race.lanes)
        self._next = now + (0.0 if ending else SAY_PERIOD)
        # First of all: it is what answers a button.
        self.status.say(*self._said(going))
        self._enable()
        found = self.standings()
        finished = {finish.lane: finish for finish in found.finished}
        for lane, shown in self._rows.items():
            shown.show(finished.get(lane), found.measure)
        self.winner.say(sentence(found) if self.race.lanes else "", "good" if found.finished else "plain")
        return SOON if ending else going or self.race.lingering

    def _enable(self) -> None:
        lanes = self.race.lanes
        waiting = any(lane.state is State.IDLE for lane in lanes) and not self.race.alive
        self._start.disabled = not waiting
        self._pause.disabled = not self.race.alive
        self._pause.description = "Resume" if self._all_held() else "Pause"
        self._stop.disabled = not self.race.alive
        for control in (*self._exports.values(), self.save_bar.press):
            control.disabled = not any(lane.result for lane in lanes)

    def _said(self, going: bool) -> tuple[str, str, str]:
        lanes = self.race.lanes
        if self._complaint:
            return self._complaint, "bad", "running" if going else "idle"
        over = sum(lane.ended for lane in lanes)
        about = f"{self.base.problem.label}, {len(lanes)} lane{'s' * (len(lanes) != 1)}"
        if going:
            if ahead := self.race.ahead:
                return f"{about}: queued behind {ahead}", "busy", "queued"
            return f"{about}: running, {over} ended", "busy", "running"
        if self.race.lingering:
            return f"{about}: stopped; what was under way ends in the background", "plain", "done"
        if lanes and over == len(lanes):
            return f"{about}: all have ended", "good", "done"
        if self.race.alive:
            return f"{about}: held; press Resume", "plain", "paused"
        if self._notice:
            return f"{about} {self._notice}; press Start", "plain", "idle"
        return f"{about}: press Start" if lanes else f"{about}; choose blocks and press Add lane", "plain", "idle"
