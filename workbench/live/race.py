"""A race to watch: the lanes' convergence live, who is first at a tolerance, and a form for one more lane."""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ipywidgets as widgets

from workbench.errors import InputError
from workbench.figures import curve_style
from workbench.live._stream import Publisher
from workbench.live.controls import button
from workbench.live.convergence import ConvergenceView, Curve
from workbench.live.export import PICTURES, provenance
from workbench.live.form import BlockFields
from workbench.live.race_files import KINDS, ended, export_race, race_figure, race_name
from workbench.live.race_words import heading, row, sentence
from workbench.live.save_bar import SaveBar
from workbench.live.status import StatusLine
from workbench.live.tolerance import ToleranceSlider
from workbench.run import Configuration, Lane, Race, State, configure
from workbench.run.standings import MEASURES, Standings, standings

ADDED = ("solver", "preconditioner", "deflation")
"""The kinds of block that the form offers; the rest of a new lane is as in the first."""
SAY_PERIOD = 0.5
"""Seconds between two looks at the numbers of lanes that run."""


class RaceView:
    """Runs side by side. Display `RaceView(*configurations)` and press Start; the buttons' methods work from code too.

    Without a configuration it is on the two-layer problem, n = 256, and has no lane yet. New lanes solve the first
    configuration's problem with the blocks that the form says. folder: where exports go, by default exports/ beside the
    notebook.

    Clocks are wall clocks: what others take from the cores, this page's own updates among them, is on the clock of the
    lane whose turn it was. It shows as a flat piece against seconds, and the lane is named below the plot. Times to
    quote come from `Race(...).wait()` on a quiet machine.
    """

    def __init__(self, *configurations: Configuration, folder: str | Path | None = None) -> None:
        self.race = Race()
        self.base = configurations[0] if configurations else configure("two-layer", n=256)
        self.folder = Path(folder) if folder is not None else Path.cwd() / "exports"
        self.publisher = Publisher()
        self.convergence = ConvergenceView(publisher=self.publisher)
        self.measure = widgets.ToggleButtons(options=MEASURES, style={"button_width": "90px"})
        self.status, self.winner, self.saved = StatusLine(), StatusLine(), StatusLine()
        self.tolerance = ToleranceSlider(self.base.stopping.rtol or 1e-6, self._marked, self._complain)
        self.fields = {kind: BlockFields(kind, lambda: None, getattr(self.base, kind).name) for kind in ADDED}
        for kind, fields in self.fields.items():
            fields.load(getattr(self.base, kind))
        self.table = widgets.VBox()
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
        self._rows: dict[Lane, _Row] = {}
        self._next = 0.0
        self._complaint = ""
        for configuration in configurations:
            self.add(configuration)
        self.box = self._layout()
        self.measure.observe(lambda change: self._measured(change["new"]), "value")
        self._marked(self.tolerance.value)
        self.publisher.add(self._publish)

    def add(self, configuration: Configuration) -> Lane:
        """One more lane; it begins at once where the race has been started."""
        lane = self.race.add(configuration)
        curve = self.convergence.watch(lane, lane.label)
        self._rows = {**self._rows, lane: _Row(lane, curve, self._toggle, self._stopping, self.remove)}
        self._tabulate()
        return lane

    def add_from_form(self) -> Lane:
        """One more lane with the blocks that the form says. Raises InputError with the sentence for a wrong value."""
        chosen: dict[str, Any] = {kind: fields.block() for kind, fields in self.fields.items()}
        return self.add(dataclasses.replace(self.base, **chosen))

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
        self.box.close()

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return self.box._repr_mimebundle_(**options)

    def _layout(self) -> widgets.Box:
        player = _row("wb-buttons", self._start, self._pause, self._stop, widgets.Label("against"), self.measure)
        adding = _row("wb-adding", *(fields.box for fields in self.fields.values()), self._add)
        exports = _row("wb-buttons", self.save_bar.box, *self._exports.values())
        aim = _row("wb-buttons", self.tolerance.slider, self.tolerance.number)
        more = widgets.HTML("One more lane, with").add_class("wb-title")
        views = [player, self.status, self.convergence, aim, self.winner, self.table]
        parts = [*views, more, adding, exports, self.saved]
        box = widgets.VBox(parts)
        box.add_class("wb-explorer").add_class("wb-race")
        return box

    def _curves(self) -> list[tuple[Lane, Curve]]:
        return [(lane, shown.curve) for lane, shown in self._rows.items()]

    def _tabulate(self) -> None:
        head = widgets.HTML(heading(), layout={"margin": "0"})
        self.table.children = (head, *(shown.box for shown in self._rows.values()))
        self._wake()

    def _measured(self, measure: str) -> None:
        self.convergence.axis = measure
        self._wake()

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
        except InputError as error:
            self._complain(str(error))
        else:
            self._complain("")

    def _exporting(self, kind: str) -> Callable[[], None]:
        """In a thread of its own, because drawing takes longer than a callback should."""

        def write() -> None:
            try:
                paths = self.export(kind)
            except InputError as error:
                self.saved.say(str(error), "bad")
            else:
                self.saved.say(f"written to {self.folder}: {', '.join(path.name for path in paths)}", "good")

        return lambda: threading.Thread(target=write, name="workbench-export", daemon=True).start()

    def _complain(self, sentence: str) -> None:
        self._complaint = sentence
        self._wake()

    def _wake(self) -> None:
        self._next = 0.0
        self.publisher.wake()

    def _publish(self) -> bool:
        # Before anything is shown, so that the last look comes after the last change.
        going = self.race.alive and not self._all_held()
        now = time.monotonic()
        if going and now < self._next:
            return True
        self._next = now + SAY_PERIOD
        self._enable()
        found = self.standings()
        finished = {finish.lane: finish for finish in found.finished}
        for lane, shown in self._rows.items():
            shown.show(finished.get(lane), found.measure)
        self.winner.say(sentence(found) if self.race.lanes else "", "good" if found.finished else "plain")
        self.status.say(*self._said(going))
        return going

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
            return f"{about}: running, {over} ended", "busy", "running"
        if lanes and over == len(lanes):
            return f"{about}: all have ended", "good", "done"
        if self.race.alive:
            return f"{about}: held; press Resume", "plain", "paused"
        return f"{about}: press Start" if lanes else f"{about}; choose blocks and press Add lane", "plain", "idle"


class _Row:
    """A lane's numbers and buttons."""

    def __init__(self, lane: Lane, curve: Curve, toggle: Any, stop: Any, remove: Any) -> None:
        self.lane, self.curve = lane, curve
        self.text = widgets.HTML()
        self.pause = button("Pause", f"hold lane {lane.number}, or let it go on", lambda: toggle(lane), width="68px")
        self.stop = button(
            "Stop", f"end lane {lane.number}; what it has computed stays", lambda: stop(lane), width="60px"
        )
        self.remove = button("Remove", f"take lane {lane.number} away", lambda: remove(lane), width="76px")
        self.box = _row("wb-lane", self.text, self.pause, self.stop, self.remove)

    def show(self, finish: Any, measure: str) -> None:
        self.text.value = row(self.lane, curve_style(self.curve.style), finish, measure)
        self.pause.disabled = self.stop.disabled = self.lane.ended
        self.pause.description = "Resume" if self.lane.held else "Pause"

    def close(self) -> None:
        for control in (*self.box.children, self.box):
            control.close()


def _row(name: str, *children: widgets.Widget) -> widgets.HBox:
    made = widgets.HBox(children)
    made.add_class(name)
    return made
