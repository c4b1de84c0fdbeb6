"""The explorer: choose a problem and both levels of the preconditioner, run, watch, compare, export."""

from __future__ import annotations

import dataclasses
import itertools
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ipywidgets as widgets
from matplotlib.figure import Figure

from workbench.errors import InputError
from workbench.live.field.field_panel import FieldPanel
from workbench.live.field.pictures import COEFFICIENT
from workbench.live.plots.convergence import ConvergenceView, ListedCurves
from workbench.live.plots.method_view import MethodView
from workbench.live.plots.timeline import TimelineView
from workbench.live.solve.controller import Controller, PausableView
from workbench.live.solve.explorer_bars import BothBar, ExportBar, Outcome
from workbench.live.solve.explorer_text import EMPTY, sentence
from workbench.live.solve.form import Form
from workbench.live.solve.problem_picture import ProblemPicture
from workbench.live.solve.run_bar import Progress
from workbench.live.transport.publisher import Publisher
from workbench.live.ui.controls import button, column, folds, markup, row
from workbench.live.ui.export import pictures
from workbench.live.ui.frontend import FORGETS, in_voila
from workbench.live.ui.page_link import asked_for
from workbench.live.ui.run_handle import AnyRun, RunHandle, RunSource
from workbench.live.ui.run_list import SOLVE, ListedRun, RunList, labels
from workbench.live.ui.run_table import RunTable
from workbench.live.ui.save_bar import Picture
from workbench.live.ui.share_bar import ShareBar
from workbench.problems import Problem
from workbench.records import Record
from workbench.records.film import Film
from workbench.registry import find
from workbench.run import BothDevices, Configuration, Quantity, RaceEntry, Session, State, configure, on_both
from workbench.run.results.filming import Camera
from workbench.words.names import problem_name

HINT = "Tick “Record kernel timings” and press Run; every kernel then appears here."
_GROUPS = itertools.count(1)


class Explorer(PausableView):
    """A form, the bar of its runs, their convergence, the field and a table. Display it in a notebook.

    configuration: what the form shows at first. folder: where exports go, by default exports/ next to the notebook.
    runs: the list of the page that its runs are added to, by default a list of its own; the plot shows the runs of this
    view on the problem of the last one, and those that are pinned or chosen. shares: it has a bar that copies, saves
    and opens problems. Run while a run is active queues another. The methods of the buttons can be called
    from code. Explorers of one kernel share the machine alone, which they use one run at a time.

    Examples:
        >>> from workbench.live import Explorer
        >>> from workbench.run import configure
        >>> view = Explorer(configure("two-layer", n=16))
        >>> view.run().wait().converged
        True
        >>> view.close()
    """

    def __init__(
        self,
        configuration: Configuration,
        folder: str | Path | None = None,
        runs: RunList | None = None,
        *,
        shares: bool = True,
    ) -> None:
        self.folder = Path(folder) if folder is not None else Path.cwd() / "exports"
        self.publisher = Publisher()
        self.group = f"solve {next(_GROUPS)}"
        """The name that plot and field have in common, see `StreamView`."""
        self.runs = runs or RunList()
        self.changed: Callable[[], object] = lambda: None
        """Called after every change of the form."""
        self.forgets = in_voila()
        """Set where a page that is loaded again has lost its runs."""
        self.form = Form(configuration, changed=self._form_changed)
        self.controller = Controller(
            self.publisher,
            self.run,
            self._sentence,
            refresh=self._refresh,
            why_not=lambda: self.form.complaint,
            shown_elsewhere=lambda session: session is not None and self._shown_run is session,
            correction=lambda: self.form.correction,
            correct=self.form.correct,
            step=self.step,
            name=lambda session: str(run.number) if (run := self._run_of(session)) else "",
            single=False,
        )
        self.controller.notice = lambda: self.form.notice
        self.controls = self.status = self.controller.bar
        self.trace = self.form.settings["trace"]
        """The tick that records kernels of the next run."""
        # The line shows where the runs stop, which is set in the form.
        self.convergence = ConvergenceView(publisher=self.publisher, movable=False, group=self.group)
        self.curves = ListedCurves(self.convergence, self.runs, self._shows)
        self.panel = FieldPanel(self.publisher, group=self.group)
        self.field = self.panel.field
        self.picture = ProblemPicture(self.form, self.panel, self.controller.complain)
        self.method = MethodView(publisher=self.publisher)
        self.timeline = TimelineView(hint=HINT, publisher=self.publisher)
        self._hidden = False
        # Its sentences are those of the controller.
        self.both = BothBar(lambda: self.controller.attempt(self.run_on_both)())
        self.unfolded = folds(("Timeline of the kernels", column("", self.both.box, self.timeline)))
        self.unfolded.observe(self._turn_page, "selected_index")
        self.outcome = Outcome(self.controller.attempt(self.run_plain))
        self.result = self.outcome.result
        self.table = RunTable(self.runs, self.publisher)
        self.share = ShareBar(self.form.configuration, self.form.load, self.folder) if shares else None
        self._clear = button("Clear", "remove the runs that have ended from the list", self.clear, width="64px")
        self.exports = ExportBar(
            lambda: self._exported, self._pictures, lambda: self.field.plane, self.folder, self._clear
        )
        self.box = self._layout()
        self._turn_page()
        self._lock = threading.Lock()
        self._reported: object = None
        self._shown_run: AnyRun | None = None
        """The run that the result is of."""
        self._timed: Session | None = None
        self.followed: RunSource | None = None
        """The run of the field."""
        self._picked: tuple[int, ...] = ()
        self._progress: Progress | None = None
        self.runs.on_change(self.publisher.wake)
        self.controller.serve()
        self._form_changed()

    @property
    def records(self) -> list[Record]:
        """The runs of this view that have ended and are in the list, oldest first."""
        return [run.record for run in self._ended if run.record is not None]

    @property
    def session(self) -> Session | None:
        """The present run, see `Controller.present`."""
        return self.controller.present

    def run(self) -> Session:
        """Run the configuration of the form, after active and queued runs. Raises InputError for a wrong value."""
        return self._begin(Session.start)

    def run_plain(self) -> Session:
        """Run the last run again with plain CG. Raises InputError where its configuration is not known."""
        last = self._ended[-1].handle.configuration()
        self.form.load(dataclasses.replace(last, solver=find("solver", "cg")))
        return self.run()

    def run_on_both(self) -> BothDevices:
        """Run the form's configuration on the cores and on an accelerator, with kernel timings of both on one time
        axis.

        Raises InputError as `run`, and as `workbench.run.on_both`.
        """
        both = on_both(self.form.configuration(), filmed=True)
        with self._lock:
            self.both.keep(both)
            self._enter(*both.runs)
            both.start()
        self.runs.choose(run.number for run in self.runs.runs if run.source in both.runs)
        self.publisher.wake()
        return both

    def step(self) -> None:
        """Make one iteration of the present run, or start a new one and pause it at its start."""
        session = self.session
        if session and session.alive:
            session.step()
            self.publisher.wake()
        else:
            self._begin(Session.step)

    def stop_all(self) -> None:
        """End the present run, and take the others out of the queue."""
        self.controller.stop_all()

    def hide(self, hidden: bool) -> None:
        """Send nothing while another view is in front."""
        self._hidden = hidden
        self._turn_page()

    def clear(self) -> None:
        """Remove the runs of this view that have ended from the list."""
        self.runs.remove(*(run for run in self.runs.of(SOLVE) if not run.active))
        self.timeline.clear()
        self.exports.status.say("")

    def export(self, kind: str) -> list[Path]:
        """Write the chosen runs, or all of this view where none is chosen, into the folder as "csv", "run" or "trace",
        or their figures as "svg", "pdf" or "png". Returns the paths. Raises InputError."""
        return self.exports.save(kind)

    def close(self) -> None:
        """End the runs and take everything off the page."""
        self.stop_all()
        self.picture.close()
        self.curves.close()
        self.table.close()
        self.runs.forget(self.publisher.wake)
        self.publisher.close()
        super().close()
        # Whoever keeps the view, such as IPython's history of outputs, keeps no vectors.
        for run in self.runs.of(SOLVE):
            run.settle()
        self.panel.close()
        self.method.close()
        self.both.close()
        self.exports.close()
        self.controller.jobs = ()
        self.followed = self._timed = self._shown_run = self._progress = None

    def _shows(self, run: ListedRun) -> bool:
        """True for runs of this view on the problem of the last one, and for any that is pinned or chosen."""
        if run.pinned or run in self.runs.chosen:
            return True
        return run.origin == SOLVE and problem_name(run.parts) == problem_name(self.runs.of(SOLVE)[-1].parts)

    def _layout(self) -> widgets.Box:
        self._empty = row("wb-nothing", markup(f'<p class="wb-note">{EMPTY}</p>'))
        # Before the first run there is nothing to list, and nothing to save.
        self._listed = column("wb-listed", self.table.box, self.exports.box, self.exports.status)
        canvases = row("wb-canvases", self.convergence, self.panel.box)
        parts = [
            self._empty,
            self.outcome.box,
            canvases,
            self.outcome.others,
            self.method.box,
            self.outcome.setup,
            self._listed,
            self.unfolded,
            *([self.share] if self.share else []),
        ]
        columns = row("wb-cols", self.form.box, column("wb-stage", *parts))
        return column("wb wb-explorer wb-solving", self.controls, columns)

    def _begin(self, start: Callable[[Session], None]) -> Session:
        with self._lock:
            session = Session(self.form.configuration(), trace=bool(self.trace.value), camera=Camera(Film()))
            self._enter(session)
            start(session)
        self.publisher.wake()
        return session

    def _enter(self, *sessions: Session) -> None:
        """Take runs of the form's configuration into the list, before they start."""
        self.form.notice, self.picture.edited = "", False
        for run in self._ended:
            run.settle()
        for session in sessions:
            self.runs.add(session, SOLVE)
        # When all are in the list, which has their names.
        for session in sessions:
            self.controller.add(session)

    @property
    def _ended(self) -> list[ListedRun]:
        return [run for run in self.runs.of(SOLVE) if not run.active]

    @property
    def _exported(self) -> list[ListedRun]:
        """The runs to export: the chosen ones that have a result, or all of this view."""
        return [run for run in self.runs.chosen or self._ended if run.record is not None]

    def _run_of(self, session: Session | None) -> ListedRun | None:
        return next((run for run in self.runs.runs if session is not None and run.source is session), None)

    def _turn_page(self, _change: object = None) -> None:
        """Send nothing to views that are folded away or out of sight."""
        self.convergence.link.hidden = self._hidden
        self.panel.hide(self._hidden)
        self.method.hidden = self._hidden
        self.timeline.link.hidden = self._hidden or self.unfolded.selected_index is None
        self.publisher.wake()

    def _form_changed(self) -> None:
        self.changed()
        self.picture.form_changed()

    def _pictures(self) -> dict[str, Picture]:
        """Pictures of the exported runs, with field and pictures of the method if they are those of the last."""
        found = pictures(self._exported, self._field_of_last(), self.field.plane)
        if self.both.with_other(self._exported[-1].source):
            found |= self.timeline.scenes()
        return {**found, **(self.method.scenes if self.method.shows(self._exported[-1].handle) else {})}

    def _field_of_last(self) -> Figure | None:
        """The field if it is that of the last exported run, which names the files."""
        exported = self._exported
        if not exported:
            return None
        try:
            last = exported[-1].handle.configuration()
        except InputError:
            return None
        if self.field.quantity == COEFFICIENT:
            is_its_own = self.picture.is_of(last)
        else:
            followed = self.followed
            is_its_own = followed is not None and RunHandle(followed).configuration() == last
        return self.field.figure() if is_its_own else None

    def _refresh(self) -> None:
        """Bring results, exports, field and timeline up to date."""
        ended, listed, exported = self._ended, self.runs.runs, self._exported
        # A run that was chosen while it ran is exported once it has a result.
        lingering = [run.number for run in ended if isinstance(run.source, Session) and run.source.lingering]
        reported = [run.number for run in ended], [run.number for run in exported], len(listed), lingering
        if self._reported != reported:
            self._reported = reported
            last = ended[-1] if ended else None
            self.outcome.show(last)
            self._shown_run = last.source if last else None
            self._empty.layout.display = "none" if listed else ""
            self._listed.layout.display = "" if listed else "none"
            self.exports.enable()
            self._clear.disabled = not ended
        absent = [run.number for run in self.runs.of(SOLVE) if not run.hidden and not self._shows(run)]
        self.outcome.tell_absent(absent)
        picked = [run for run in self.runs.chosen if run.handle.history is not None]
        if self._picked != (numbers := tuple(run.number for run in picked)):
            self._picked = numbers
            source = picked[-1].handle.source if picked else self._timed
            if source is not None and not isinstance(source, RaceEntry):
                self._follow(source)
        session = self.session
        if session and session is not self._timed and session.state is not State.QUEUED:
            if self._timed is None and self.field.quantity == COEFFICIENT:
                # The first run is what one now looks at; whoever turns back to the coefficient keeps it.
                self.field.quantity = Quantity.RESIDUAL.value
            self._show_lanes(session)
            self._timed = session
            self._follow(session)
        if session and session.run:
            self.picture.follow(session.run)

    def _show_lanes(self, session: Session) -> None:
        """Show the kernels of a run on the timeline; of one on both devices with those of the other."""
        both = self.both.with_other(session)
        if self._timed in both:
            return
        listed = [run for run in map(self._run_of, both or (session,)) if run is not None]
        names = labels(listed) if both else [f"run {run.label}" for run in listed]
        self.timeline.show(both or session, names if len(names) > 1 else "".join(names))

    def _follow(self, run: RunSource) -> None:
        """Show a run in the field: the latest of those that were started or chosen in the list."""
        self.followed = run
        self.panel.follow(run, coefficient=False)
        self.method.follow(run)

    def _sentence(self, session: Session | None, state: State) -> tuple[str, str]:
        """The state of the present run in words and its tone; the bar gets its progress."""
        run = self._run_of(session)
        if session is None:
            said, tone = sentence(None, 0, None, state)
            return said + FORGETS * self.forgets, tone
        curve = self.curves.of(run)
        if self._progress is None or self._progress.session is not session:
            self._progress = Progress(session, curve)
        self.controls.progress = self._progress.read()
        return sentence(session, run.number if run else 0, curve, state, self._progress.words)


def explore(problem: str | Problem = "two-layer", folder: str | Path | None = None, **choices: Any) -> Explorer:
    """The explorer, its form filled as by `configure`: explore("bubbles-3d", n=64, preconditioner="jacobi").

    problem may also be a share link or a saved .cg.json file, which says the whole configuration. folder: where
    exports go, by default exports/ next to the notebook. On a served page, a link in its address comes first. Raises
    InputError for unknown names.

    Examples:
        >>> from workbench.live import explore
        >>> view = explore("two-layer", n=16, solver="pipecg")
        >>> view.close()
    """
    suggested = {"preconditioner": "neumann:2", "deflation": "stripes"} if problem == "two-layer" else {}
    configuration, refused = asked_for(lambda: configure(problem, **{**suggested, **choices}))
    made = Explorer(configuration, folder)
    if refused and made.share:
        made.share.say(refused, "bad")
    return made
