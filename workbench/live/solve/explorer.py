"""The explorer: choose a problem and both levels of the preconditioner, run, watch, compare, export."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ipywidgets as widgets
from matplotlib.figure import Figure

from workbench.deflation import Deflation
from workbench.errors import InputError, error_message
from workbench.live.field.field_view import FieldView
from workbench.live.field.pictures import scene
from workbench.live.field.preview import NotYetError, Preview, UnfitError
from workbench.live.field.quantities import COEFFICIENT
from workbench.live.kit.controls import ENDED, button
from workbench.live.kit.export import KINDS, PICTURES, TIPS, export, file_stem, pictures, provenance
from workbench.live.kit.finished_runs import Ended, Failed, run_label, table
from workbench.live.kit.rows import row
from workbench.live.kit.run_handle import RunHandle
from workbench.live.kit.save_bar import SaveBar
from workbench.live.kit.share_bar import ShareBar
from workbench.live.kit.status import StatusLine
from workbench.live.plots.convergence import ConvergenceView, Curve
from workbench.live.plots.timeline import TimelineView
from workbench.live.solve.active_runs import WORKING, Going, beside, present, still_needed
from workbench.live.solve.explorer_text import EMPTY, STOPPING, ending, result_html, sentence
from workbench.live.solve.form import Form
from workbench.live.solve.run_bar import RunBar
from workbench.live.solve.run_progress import Progress
from workbench.live.solve.setup_view import setup_line
from workbench.live.transport.closing import close_all
from workbench.live.transport.publisher import SOON, Again, Publisher
from workbench.live.transport.worker import LatestOnly
from workbench.problems import Problem
from workbench.recording import Record
from workbench.run import Configuration, Run, Session, State, configure
from workbench.run.cancellation import STOPPED_EARLY

SAY_PERIOD = 2.0
"""Seconds between status lines of a run that goes on: more often is too often for those who have them read out."""
RUN_FIRST = "run what the form says; its curve then appears here"
KEPT = 100
"""Runs that have ended which an explorer keeps, with their curves and histories; nobody tells more apart."""
HINT = "Tick “Record kernel timings” and press Run: every kernel then appears here with its time, bytes and iteration."


class Explorer:
    """All of it in one place. Display it in a notebook; the buttons' methods can be called from code as well.

    configuration: what the form shows at first. folder: where exports go, by default exports/ next to the notebook.
    Run while a run goes on queues another: `session` is the one that the buttons are about, which is the one that
    works, else one that is held, else the last. The last `KEPT` runs are kept. Explorers of one kernel share nothing
    but the machine, on which their runs take turns.
    """

    def __init__(self, configuration: Configuration, folder: str | Path | None = None) -> None:
        self.folder = Path(folder) if folder is not None else Path.cwd() / "exports"
        self.publisher = Publisher()
        self.changed: Callable[[], object] = lambda: None
        """Called after every change of the form."""
        self.form = Form(self._form_changed, configuration)
        begin = self._try(self.run), self._toggle_pause, self._try(self.step)
        self.controls = self.status = RunBar(*begin, self.stop, self.stop_all)
        self.trace = self.form.trace
        # The line is where runs stop, which the form says.
        self.convergence = ConvergenceView(publisher=self.publisher, movable=False)
        self.field = FieldView(self.publisher)
        self.timeline = TimelineView(hint=HINT, publisher=self.publisher)
        self.unfolded = widgets.Accordion([self.timeline], titles=["Timeline of the kernels"], selected_index=None)
        self.unfolded.observe(self._turn_page, "selected_index")
        self.result = widgets.HTML()
        """How the last run ended, in a sentence."""
        self.begin = button("Run this problem", RUN_FIRST, self._try(self.run))
        self.table = widgets.HTML(table([]))
        self.setup = widgets.HTML()
        """What the setup of the last run took, and the notes of that run."""
        self.saved = StatusLine()
        self.share = ShareBar(self.form.configuration, self.form.load, self.folder)
        self._exports = {
            kind: button(text, _tip(kind), self._exporting(kind), width="104px") for kind, text in KINDS.items()
        }
        self.save_bar = SaveBar(
            lambda: pictures(self._runs, self._field_of_last(), self.field.plane),
            provenance=lambda: provenance(self._runs),
            about=lambda: file_stem(self._runs[-1]),
            folder=self.folder,
            status=self.saved,
        )
        self._clear = button("Clear", "take away the runs that have ended", self.clear, width="64px")
        self.box = self._layout()
        self._turn_page()
        self._lock = threading.Lock()
        self._going: tuple[Going, ...] = ()
        self._runs: list[Ended] = []
        self._failed: list[Failed] = []
        self._curves: dict[Ended, Curve] = {}
        self._tabled: tuple[Any, ...] = ()
        self._count = self._dropped = 0
        self._timed: Session | None = None
        self._complaint = self._unfit = ""
        self._said = ("", "", 0.0)
        self._drawn: Run | None = None
        self._progress: Progress | None = None
        self._pictured: tuple[Problem, Deflation] | None = None
        self._whole = False
        self._preview = Preview()
        self._painter = LatestOnly("workbench-picture")
        self.publisher.add(self._publish, first=True)
        self._form_changed()

    @property
    def records(self) -> list[Record]:
        """The runs that have ended and were not cleared, oldest first."""
        return [run.record for run in self._runs]

    @property
    def runs(self) -> list[RunHandle]:
        """The present run, and the records of those that have ended, the latest first."""
        shown = present(self._going)
        begun = shown if shown and shown.session.run else None
        found = [RunHandle(begun.session, begun.curve.label)] if begun else []
        ended = [run for run in reversed(self._runs) if not begun or run.number != begun.number]
        return [*found, *(RunHandle(run.record, run.label) for run in ended)]

    @property
    def session(self) -> Session | None:
        """The present run."""
        shown = present(self._going)
        return shown.session if shown else None

    def run(self) -> Session:
        """Run what the form says, after those that go on or are queued. Raises InputError for a wrong value."""
        return self._begin(Session.start)

    def pause(self) -> None:
        """Hold the run and those that are queued behind it."""
        # Were the one that works held first, the next one would begin.
        for going in sorted(self._going, key=lambda going: going.session.state in WORKING):
            going.session.pause()
        self.publisher.wake()

    def resume(self) -> None:
        """Let all that are held go on, one after another."""
        for going in self._going:
            going.session.resume()
        self.publisher.wake()

    def step(self) -> None:
        """Make one iteration of the present run, or begin a new one and hold it at its start."""
        session = self.session
        if session and session.alive:
            session.step()
            self.publisher.wake()
        else:
            self._begin(Session.step)

    def stop(self) -> None:
        """End the present run; what was computed stays, and the next one in the queue begins."""
        if session := self.session:
            session.stop()
        self.publisher.wake()

    def stop_all(self) -> None:
        """End the present run, and take those that are queued out of the queue."""
        for going in self._going:
            going.session.stop()
        self.publisher.wake()

    def clear(self) -> None:
        """Take away the runs that have ended, from the plot and the table."""
        with self._lock:
            self._runs, self._failed, self._curves, self._dropped = [], [], {}, 0
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
        self.stop_all()
        self._painter.close()
        self.publisher.close()
        close_all(self.box)

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return self.box._repr_mimebundle_(**options)

    def _layout(self) -> widgets.Box:
        exports = row("wb-buttons", self.save_bar.box, *self._exports.values(), self._clear)
        self._empty = row("wb-nothing", widgets.HTML(f'<p class="wb-note">{EMPTY}</p>'), self.begin)
        canvases = row("wb-canvases", self.convergence, self.field)
        parts = [self._empty, self.result, canvases, self.setup, self.table, exports, self.saved, self.unfolded, self.share]
        columns = row("wb-cols", self.form.box, widgets.VBox(parts).add_class("wb-stage"))
        box = widgets.VBox([self.controls, columns])
        box.add_class("wb").add_class("wb-explorer").add_class("wb-solving")
        return box

    def _begin(self, start: Callable[[Session], None]) -> Session:
        with self._lock:
            configuration = self.form.configuration()
            self._complaint = self.form.notice = ""
            self._count += 1
            number = self._count
            name = run_label(number, configuration)
            traced = bool(self.trace.value)
            session = Session(configuration, trace=traced, on_end=lambda ended: self._ended(number, curve, ended))
            curve = self.convergence.watch(session, name)
            self._going = (*still_needed(self._going), Going(number, session, curve))
            start(session)
        self.publisher.wake()
        return session

    def _ended(self, number: int, curve: Curve, session: Session) -> None:
        """Runs in the worker thread, so that `records` is complete when `session.wait` returns."""
        result = session.result
        with self._lock:
            self._going = still_needed(self._going)
            if session.error and session.error != STOPPED_EARLY:
                self._failed = [*self._failed, Failed(number, session.configuration, session.error)][-KEPT:]
        if result is not None:
            ended = Ended(number, session.configuration, result.record(), result.reason, curve.style)
            with self._lock:
                self._curves[ended] = curve
                kept = sorted([*self._runs, ended], key=lambda run: run.number)
                self._runs = kept[-KEPT:]
                self._dropped += len(kept) - len(self._runs)
                too_old = [self._curves.pop(run) for run in kept[:-KEPT]]
            for gone in too_old:
                self.convergence.drop(gone)
        self.publisher.wake()

    def _toggle_pause(self) -> None:
        session = self.session
        if session and session.state is State.PAUSED:
            self.resume()
        else:
            self.pause()

    def _turn_page(self, _change: Any = None) -> None:
        """What is folded away is sent nothing."""
        self.timeline.link.hidden = self.unfolded.selected_index is None
        self.publisher.wake()

    def _form_changed(self) -> None:
        self.changed()
        # Whether a wrong value was put right is known at once, whatever the picture takes.
        self._unfit = ""
        for kind in ("problem", "deflation"):
            self.form.blocks[kind].complain("")
        self._complain("")
        self._painter.ask(self._show_preview)

    @property
    def _why_not(self) -> str:
        """Why what the form says cannot be run, as far as is known before it is; empty where it can."""
        return self.form.wrong or self._unfit

    def _show_preview(self) -> None:
        try:
            chosen = self.form.configuration()
        except InputError:
            return
        self._pictured = unfit = None
        try:
            drawn = self._preview.scene(chosen.problem, chosen.deflation)
            self.field.show(drawn)
            self._pictured = chosen.problem, chosen.deflation
            # A file may have changed by the time it is run.
            self._whole = self._preview.whole and not drawn.is_matrix
        except NotYetError as reason:
            self.field.say(chosen.problem.label, str(reason))
        except (InputError, MemoryError) as error:
            unfit = error if isinstance(error, UnfitError) else None
            if unfit is None:
                self._complain(str(error) or "there is not enough memory to draw this problem")
            self.field.say(chosen.problem.label, "")
        self._unfit = str(unfit or "")
        for kind in ("problem", "deflation"):
            self.form.blocks[kind].complain(self._unfit if unfit and unfit.kind == kind else "")
        self.publisher.wake()

    def _show_run(self, run: Run) -> None:
        chosen = run.configuration
        title = chosen.problem.label
        # The picture is there already, and the run needs the processors more than another copy of it.
        if self._whole and self._pictured == (chosen.problem, chosen.deflation):
            return
        self._pictured, self._whole = None, False
        try:
            self.field.show(scene(title, run.setup.system).with_labels(run.setup.labels))
            self._pictured = chosen.problem, chosen.deflation
        except InputError as error:
            self.field.say(title, str(error))

    def _field_of_last(self) -> Figure | None:
        """The field where it is that of the run that ended last, which names the files and stands in them."""
        if not self._runs:
            return None
        last = self._runs[-1].configuration
        if self.field.quantity == COEFFICIENT:
            is_its_own = self._pictured == (last.problem, last.deflation)
        else:
            is_its_own = self._timed is not None and self._timed.configuration is last
        return self.field.figure() if is_its_own else None

    def _try(self, act: Callable[[], object]) -> Callable[[], None]:
        """What a button does: a wrong value is told in the status line."""

        def attempt() -> None:
            try:
                act()
            # No one else would report it to the user.
            except Exception as error:
                self._complain(error_message(error))

        return attempt

    def _exporting(self, kind: str) -> Callable[[], None]:
        """What an export button does."""

        def name() -> str:
            return f"{len(self._runs)} runs until {file_stem(self._runs[-1])}"

        return lambda: self.save_bar.saver.save(lambda folder: export(kind, self._runs, folder), name, "the export")

    def _complain(self, sentence: str) -> None:
        self._complaint = sentence
        self.publisher.wake()

    def _publish(self) -> Again:
        going = self._going
        shown = present(going)
        session = shown.session if shown else None
        state = session.state if session else State.IDLE
        alive = sum(run.session.alive for run in going)
        # First of all: it is what answers a button.
        progress = self._follow(shown)
        self._say(shown, state, beside(going, shown) if shown else "", progress)
        self.controls.show(state, alive, self._why_not)
        runs, failed = self._runs, self._failed
        if self._tabled != (runs, failed):
            self._tabled = runs, failed
            self.table.value = table([*runs, *failed], self._dropped)
            self.setup.value = _setup_of(runs[-1]) if runs else ""
            self.result.value = _result_of(runs[-1]) if runs else ""
            self._empty.layout.display = "none" if runs or failed else ""
            # Each once: a button that is enabled and disabled again can be pressed in between.
            traced = [run for run in runs if run.record.trace]
            for kind, control in self._exports.items():
                control.disabled = not (traced if kind == "trace" else runs)
            self.save_bar.press.disabled = not runs
            self._clear.disabled = not (runs or failed)
        if shown and session is not self._timed and state is not State.QUEUED:
            self._timed = session
            self.timeline.show(shown.session, f"run {shown.curve.label}")
            self.field.follow(shown.session, coefficient=False)
        if session and session.run and session.run is not self._drawn:
            run = self._drawn = session.run
            # Under a key of its own, so that it drops no preview.
            self._painter.ask(lambda: self._show_run(run), "run")
        if any(run.session.ending for run in going):
            # Whoever has pressed Stop is told as soon as it is so.
            return SOON
        if session and session.steady and alive == 1:
            return SAY_PERIOD
        return alive > 0

    def _follow(self, shown: Going | None) -> str:
        """Show how far the present run is; returns it in words."""
        if shown is None:
            return ""
        if self._progress is None or self._progress.session is not shown.session:
            self._progress = Progress(shown.session, shown.curve)
        self.controls.progress = self._progress.read()
        return self._progress.words

    def _say(self, shown: Going | None, state: State, others: str, progress: str) -> None:
        if complaint := self._why_not or self._complaint:
            self.status.say(complaint, "bad", state.value)
            return
        if self.form.notice and state in ENDED:
            self.status.say(self.form.notice, "busy", state.value)
            return
        now = time.monotonic()
        word = STOPPING if shown and shown.session.ending else state.value
        about = f"{shown.number if shown else 0} {word}"
        before, told, when = self._said
        if state is State.RUNNING and (before, told) == (about, others) and now - when < SAY_PERIOD:
            return
        self._said = (about, others, now)
        text, tone = sentence(shown, state, progress)
        self.status.say("; ".join(filter(None, [text, others])), tone, word)


def explore(problem: str | Problem = "two-layer", folder: str | Path | None = None, **choices: Any) -> Explorer:
    """The explorer, its form filled as by `configure`: explore("bubbles-3d", n=64, preconditioner="jacobi").

    problem may also be link text or a saved .cg.json file, which says the whole configuration. folder: where
    exports go, by default exports/ next to the notebook. Raises InputError for unknown names.
    """
    suggested = {"preconditioner": "neumann:2", "deflation": "stripes"} if problem == "two-layer" else {}
    return Explorer(configure(problem, **{**suggested, **choices}), folder)


def _setup_of(run: Ended) -> str:
    record = run.record
    return setup_line(f"run {run.number}", record.summary, record.provenance["notes"])


def _result_of(run: Ended) -> str:
    record = run.record
    words = ending(record.summary, run.reason)
    tone = "good" if run.reason.converged else "plain"
    return result_html(run.number, record.summary, words, tone, record.provenance["notes"])


def _tip(kind: str) -> str:
    return f"save it; {TIPS[kind]}" if kind in TIPS else "save it, a file for each run"
