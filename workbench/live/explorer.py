"""The explorer: choose a problem and both levels of the preconditioner, run, watch, compare, export."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ipywidgets as widgets

from workbench.deflation import Deflation
from workbench.errors import InputError
from workbench.live._place import FORGETS, in_voila
from workbench.live._stream import Publisher
from workbench.live._worker import LatestOnly
from workbench.live.controls import Controls, button
from workbench.live.convergence import ConvergenceView, Curve
from workbench.live.export import KINDS, PICTURES, TIPS, export, file_stem, pictures, provenance
from workbench.live.field import FieldView
from workbench.live.form import Form
from workbench.live.pictures import scene
from workbench.live.preview import NotYetError, Preview
from workbench.live.runs import Ended, relative, run_label, seconds, table
from workbench.live.save_bar import SaveBar
from workbench.live.status import StatusLine
from workbench.live.timeline import TimelineView
from workbench.problems import Problem
from workbench.recording import Record
from workbench.run import Configuration, Run, Session, State, configure

SAY_PERIOD = 2.0
"""Seconds between status lines of a run that goes on: more often is too often for those who have them read out."""
HINT = "Tick “trace” and press Run: every kernel then appears here with its time, bytes and iteration."


class Explorer:
    """All of it in one place. Display it in a notebook; the buttons' methods can be called from code as well.

    configuration: what the form shows at first. folder: where exports go, by default exports/ beside the notebook.
    Nothing is shared with another explorer in the same kernel.
    """

    def __init__(self, configuration: Configuration, folder: str | Path | None = None) -> None:
        self.session: Session | None = None
        self.folder = Path(folder) if folder is not None else Path.cwd() / "exports"
        self.publisher = Publisher()
        self.form = Form(self._form_changed, configuration)
        self.controls = Controls(self._try(self.run), self._toggle_pause, self._try(self.step), self.stop)
        self.trace = widgets.Checkbox(
            value=False,
            description="trace",
            tooltip="note every kernel of the next run for the timeline; costs about a microsecond each",
            indent=False,
            layout={"width": "auto", "margin": "0 0 0 10px"},
        )
        self.status = StatusLine()
        self.convergence = ConvergenceView(publisher=self.publisher)
        self.field = FieldView(self.publisher)
        self.timeline = TimelineView(hint=HINT, publisher=self.publisher)
        self.tabs = widgets.Tab([_row("wb-canvases", self.convergence, self.field), self.timeline], selected_index=0)
        self.tabs.titles = ("Convergence", "Timeline")
        self.tabs.observe(self._turn_page, "selected_index")
        self.table = widgets.HTML(table([]))
        self.saved = StatusLine()
        self._exports = {
            kind: button(text, _tip(kind), self._exporting(kind), width="104px") for kind, text in KINDS.items()
        }
        self.save_bar = SaveBar(
            lambda: pictures(self._runs, self.field.figure()),
            provenance=lambda: provenance(self._runs),
            about=lambda: file_stem(self._runs[-1]),
            folder=self.folder,
            status=self.saved,
        )
        self._clear = button("Clear", "take away the runs that have ended", self.clear, width="64px")
        self.box = self._layout()
        self._turn_page()
        self._lock = threading.Lock()
        self._runs: list[Ended] = []
        self._tabled: list[Ended] | None = None
        self._count = 0
        self._curve: Curve | None = None
        self._complaint = ""
        self._said = ("", 0.0)
        self._drawn: Run | None = None
        self._pictured: tuple[Problem, Deflation] | None = None
        self._preview = Preview()
        self._painter = LatestOnly("workbench-picture")
        self.publisher.add(self._publish)
        self._form_changed()

    @property
    def records(self) -> list[Record]:
        """The runs that have ended and were not cleared, oldest first."""
        return [run.record for run in self._runs]

    def run(self) -> Session:
        """Start a run of what the form says. Raises InputError for a wrong value, and while a run goes on."""
        return self._begin(Session.start)

    def pause(self) -> None:
        """Hold the run."""
        if self.session:
            self.session.pause()
        self.publisher.wake()

    def resume(self) -> None:
        """Let a held run go on."""
        if self.session:
            self.session.resume()
        self.publisher.wake()

    def step(self) -> None:
        """Make one iteration of the present run, or begin a new one and hold it at its start."""
        if self.session and self.session.alive:
            self.session.step()
            self.publisher.wake()
        else:
            self._begin(Session.step)

    def stop(self) -> None:
        """End the run; what was computed stays."""
        if self.session:
            self.session.stop()
        self.publisher.wake()

    def clear(self) -> None:
        """Take away the runs that have ended, from the plot and the table."""
        self._runs = []
        self.convergence.clear()
        self.timeline.clear()
        self.saved.say("")
        self.publisher.wake()

    def export(self, kind: str) -> list[Path]:
        """Write the runs into the folder as "csv", "run" or "trace", or their figures as "svg", "pdf" or "png".

        Returns the paths. Raises InputError.
        """
        return self.save_bar.save(kind) if kind in PICTURES else export(kind, self._runs, self.folder)

    def close(self) -> None:
        """End the run and take everything off the page."""
        self.stop()
        self.publisher.close()
        self.box.close()

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return self.box._repr_mimebundle_(**options)

    def _layout(self) -> widgets.Box:
        player = _row("wb-player", self.controls.box, self.trace)
        exports = _row("wb-buttons", self.save_bar.box, *self._exports.values(), self._clear)
        views = widgets.VBox([player, self.status, self.tabs, self.table, exports, self.saved])
        views.add_class("wb-views")
        box = widgets.VBox([_row("wb-body", self.form.box, views)])
        box.add_class("wb-explorer")
        return box

    def _begin(self, start: Callable[[Session], None]) -> Session:
        with self._lock:
            if self.session is not None and self.session.alive:
                raise InputError("a run is going on; stop it before starting another")
            configuration = self.form.configuration()
            self._complaint = ""
            self._count += 1
            number = self._count
            name = run_label(number, configuration)
            traced = bool(self.trace.value)
            session = Session(configuration, trace=traced, on_end=lambda ended: self._ended(number, curve, ended))
            curve = self.convergence.watch(session, name)
            self.timeline.show(session, f"run {name}")
            self.session, self._curve = session, curve
            start(session)
        self.publisher.wake()
        return session

    def _ended(self, number: int, curve: Curve, session: Session) -> None:
        """Runs in the worker thread, so that `records` is complete when `session.wait` returns."""
        result = session.result
        if result is not None:
            ended = Ended(number, session.configuration, result.record(), result.reason, curve.style)
            self._runs = [*self._runs, ended]
        self.publisher.wake()

    def _toggle_pause(self) -> None:
        if self.session and self.session.state is State.PAUSED:
            self.resume()
        else:
            self.pause()

    def _turn_page(self, _change: Any = None) -> None:
        """What stands behind another tab is sent nothing."""
        self.timeline.link.hidden = self.tabs.selected_index != 1
        self.convergence.link.hidden = self.tabs.selected_index != 0
        self.publisher.wake()

    def _form_changed(self) -> None:
        self._painter.ask(self._show_preview)

    def _show_preview(self) -> None:
        try:
            chosen = self.form.configuration()
        except InputError as error:
            self._complain(str(error))
            return
        self._complain("")
        self._pictured = None
        try:
            drawn = self._preview.scene(chosen.problem, chosen.deflation)
            self.field.show(drawn)
            # A file may have changed by the time it is run.
            if self._preview.whole and not drawn.is_matrix:
                self._pictured = chosen.problem, chosen.deflation
        except NotYetError as reason:
            self.field.say(chosen.problem.label, str(reason))
        except (InputError, MemoryError) as error:
            self._complain(str(error) or "there is not enough memory to draw this problem")
            self.field.say(chosen.problem.label, "")

    def _show_run(self, run: Run) -> None:
        chosen = run.configuration
        title = chosen.problem.label
        # The picture is there already, and the run needs the processors more than another copy of it.
        if self._pictured == (chosen.problem, chosen.deflation):
            return
        self._pictured = None
        try:
            self.field.show(scene(title, run.setting.system).with_labels(run.setting.labels))
        except InputError as error:
            self.field.say(title, str(error))

    def _try(self, act: Callable[[], object]) -> Callable[[], None]:
        """What a button does: a wrong value is told in the status line."""

        def attempt() -> None:
            try:
                act()
            except InputError as error:
                self._complain(str(error))

        return attempt

    def _exporting(self, kind: str) -> Callable[[], None]:
        """What an export button does, in a thread of its own because drawing takes longer than a callback should."""

        def write() -> None:
            try:
                paths = self.export(kind)
            except InputError as error:
                self.saved.say(str(error), "bad")
            else:
                shown = ", ".join(path.name for path in paths)
                self.saved.say(f"written to {self.folder}: {shown}", "good")

        return lambda: threading.Thread(target=write, name="workbench-export", daemon=True).start()

    def _complain(self, sentence: str) -> None:
        self._complaint = sentence
        self.publisher.wake()

    def _publish(self) -> bool:
        session = self.session
        state = session.state if session else State.IDLE
        self.controls.show(state)
        runs = self._runs
        if runs is not self._tabled:
            self._tabled = runs
            self.table.value = table(runs)
            for control in (*self._exports.values(), self.save_bar.press, self._clear):
                control.disabled = not runs
            self._exports["trace"].disabled = not any(run.record.trace for run in runs)
        if session and session.run and session.run is not self._drawn:
            run = self._drawn = session.run
            self._painter.ask(lambda: self._show_run(run))
        self._say(session, state)
        return session is not None and session.alive

    def _say(self, session: Session | None, state: State) -> None:
        if self._complaint:
            self.status.say(self._complaint, "bad", state.value)
            return
        now = time.monotonic()
        before, when = self._said
        if state is State.RUNNING and before == state and now - when < SAY_PERIOD:
            return
        self._said = (state.value, now)
        self.status.say(*self._sentence(session, state), state.value)

    def _sentence(self, session: Session | None, state: State) -> tuple[str, str]:
        """What the status line says, and its tone."""
        if session is None or self._curve is None:
            return "Choose a problem and its blocks, then press Run." + FORGETS * in_voila(), "plain"
        name = f"run {self._count}"
        if state is State.SETUP:
            return f"{name}: setting up", "busy"
        if state is State.FAILED:
            return session.error, "bad"
        if state is State.DONE and session.result is not None:
            result = session.result
            took = f"setup {seconds(result.setup_seconds)} s, iterating {seconds(result.iteration_seconds)} s"
            true = f"true relative residual {relative(result.true_relative_residual)}"
            parts = [f"{name} {result.summary['reason']}", true, took, *result.provenance["notes"]]
            return "; ".join(parts), "good" if result.converged else "plain"
        last = self._curve.last
        if last is None or session.run is None:
            return f"{name}: {state.value}", "busy"
        spent = f"{seconds(session.run.iteration_seconds)} s"
        return f"{name}: {state.value}, iteration {last[0]:,}, relative residual {relative(last[1])}, {spent}", "busy"


def explore(problem: str | Problem = "two-layer", folder: str | Path | None = None, **choices: Any) -> Explorer:
    """The explorer, its form filled as by `configure`: explore("bubbles-3d", n=64, preconditioner="jacobi").

    folder: where exports go, by default exports/ beside the notebook. Raises InputError for unknown names.
    """
    suggested = {"preconditioner": "neumann:2", "deflation": "stripes"} if problem == "two-layer" else {}
    return Explorer(configure(problem, **{**suggested, **choices}), folder)


def _tip(kind: str) -> str:
    where = "write it into the folder exports/"
    return f"{where}; {TIPS[kind]}" if kind in TIPS else where


def _row(name: str, *children: widgets.Widget) -> widgets.HBox:
    row = widgets.HBox(children)
    row.add_class(name)
    return row
