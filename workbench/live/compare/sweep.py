"""The live view of a parameter sweep: its parameters, progress, a table to sort, and plots over the choices."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import ipywidgets as widgets

from workbench.errors import CLUSTERS, InputError
from workbench.live.compare.sweep_choices import (
    WORKERS,
    Choices,
    Workers,
    base_of,
    fixed,
    has_form,
    hindered,
    points,
    ruled_out,
    suggestion,
)
from workbench.live.compare.sweep_plot import SweepPlot
from workbench.live.compare.sweep_text import (
    LOWER,
    answer,
    columns,
    counted,
    left_out,
    low,
    marks,
    remaining,
    shortfall,
)
from workbench.live.solve.controller import ControlledView, Controller
from workbench.live.solve.form import Form
from workbench.live.transport.publisher import Publisher
from workbench.live.transport.worker import LatestOnly
from workbench.live.ui.controls import button, column, folds, row
from workbench.live.ui.declared_form import DeclaredForm
from workbench.live.ui.export import PICTURES
from workbench.live.ui.file_names import make_folder, slug
from workbench.live.ui.run_list import SWEEP, ListedRun, RunList
from workbench.live.ui.save_bar import SaveBar
from workbench.live.ui.sort_table import SortTable
from workbench.live.ui.status import StatusLine
from workbench.problems import Problem
from workbench.run import MACHINE, Configuration, Result, State, Stopping, Sweep, sweep
from workbench.run.choices.conflicts import Conflict
from workbench.run.jobs.run_queue import QueueSlot
from workbench.run.jobs.sweeping import Row, combinations, to_csv, to_json
from workbench.run.jobs.thread_job import ThreadJob
from workbench.settings import BLOCKS
from workbench.words import numbers
from workbench.words.names import PROBLEM, method_name, problem_name, sentence_case

SHOW_PERIOD = 0.5
"""Seconds between two updates of table and map of an active sweep."""


class SweepView(ControlledView):
    """A sweep as in `workbench.run.sweep`: SweepView("two-layer", {"n": [64, 128], "deflation": ["none", "stripes"]}).

    Display it, choose parameters and fixed settings, and press Run. The first argument may be a configuration, which
    holds the fixed settings; without `over` it begins with a suggestion. `rows` are those that are done, `result`
    is the sweep once it has ended, over what was chosen when it began; `error` is the sentence when it failed. Each run
    uses the machine in the order of the run queue. folder: where `export` writes, by default exports/ next to the
    notebook. runs: the list of the page that each result is added to, hidden on plots, by default a list of its own.
    Raises InputError as `sweep` does, before anything runs.

    Examples:
        >>> from workbench.live import SweepView
        >>> view = SweepView("two-layer", {"n": [8, 16]})
        >>> view.wait().converged
        True
        >>> view.close()
    """

    def __init__(
        self,
        problem: str | Problem | Configuration | None = None,
        over: Mapping[str, Sequence[Any]] | None = None,
        *,
        stopping: Stopping | None = None,
        folder: str | Path | None = None,
        runs: RunList | None = None,
        **choices: Any,
    ) -> None:
        self.listed = runs or RunList()
        self.base = base_of(problem, stopping, choices)
        chosen = suggestion(self.base) if over is None else self.base.problem.present_lists(over)
        if not isinstance(problem, Configuration):
            # The base does not show names that are both varied and fixed.
            combinations(self.base.problem, chosen, stopping=stopping, **choices)
        self.over, self.runs = dict(chosen), len(points(self.base, chosen))
        self._chosen = self.base
        self.rows: list[Row] = []
        self._results: dict[int, ListedRun] = {}
        """Runs in the list, by the place of their row; a run that failed has none."""
        self.result: Sweep | None = None
        self.error = ""
        self.folder = Path(folder) if folder is not None else Path.cwd() / "exports"
        self._job: ThreadJob | None = None
        self._checker = LatestOnly("workbench-check")
        self._complaint = self._noted = ""
        self._hindered = (0, "")
        """The number of runs that break a rule, and which ones as a sentence."""
        self._title = self._name
        self._begun = self._next = 0.0
        self.publisher = Publisher()
        self.controller = Controller(
            self.publisher,
            self.run,
            lambda _job, _state: self._words(),
            refresh=self._enable,
            pauses=False,
            about="run every combination",
            period=SHOW_PERIOD,
        )
        self.status = self.controller.bar
        self.plan, self.best, self.saved = (StatusLine() for _ in range(3))
        self.choices = Choices(self.base.problem, self.over, self._changed, self._against)
        self.form = Form(self.base, changed=self._form_changed, alone=False) if has_form(self.base) else None
        self._of = self.runs
        self.table = SortTable(empty="Runs that are done are listed here.", lower=LOWER)
        self.map = SweepPlot(self._mark, self._picked)
        self.map.begin(self.over, self.base.problem.name)
        self.exports = [
            button(text, "save the rows of all runs", lambda kind=kind: self._exporting(kind), width="132px")
            for kind, text in (("csv", "Table (CSV)"), ("json", "Table (JSON)"))
        ]
        self.save_bar = SaveBar(
            lambda: {f"sweep {self.map.form.view}": self.map.figure()},
            provenance=lambda: self._ended().provenance,
            about=self._stem,
            folder=self.folder,
            status=self.saved,
        )
        forms = [self.form.box.add_class("wb-sweepform")] if self.form else []
        tell = lambda _: self._changed()  # noqa: E731
        self.workers = DeclaredForm(Workers(), WORKERS, about="Workers of the sweep", changed=tell, wrong=tell)
        self.workers.box.add_class("wb-workers")
        # Visitors of a page on a server may not name a scheduler.
        offered = [self.workers.box] if os.environ.get(CLUSTERS) != "none" else []
        asked = column("wb-asked", self.choices.box, *offered)
        self.asked = folds(("Parameters", asked), *(("Fixed settings", form) for form in forms), shown=0)
        """Choices that vary and fixed settings; folded once a sweep begins."""
        self.box = self._layout()
        self._describe()
        self._changed()
        self.controller.serve()

    def run(self) -> None:
        """Start from the first combination; returns at once. Does nothing while the sweep is active."""
        if self._job is not None and self._job.working:
            return
        self.error = ""
        self._job = job = ThreadJob(lambda: self._work(job), "workbench-sweep", QueueSlot(MACHINE), on_end=self._end)
        self.controller.add(job)
        job.start()
        self.publisher.wake()

    def rebase(self, configuration: Configuration) -> None:
        """Take the fixed settings from this configuration, from the next sweep on; the parameters stay as typed.

        Choices that its problem does not have are taken away until there is one that has them, and the status line
        names them. Does nothing for the configuration that was given last, so what was set since stays.
        """
        if configuration == self._chosen:
            return
        self._chosen = self.base = configuration
        before, gone = self.choices.problem.name, self.choices.rebase(configuration.problem)
        if self.form and has_form(configuration):
            self.form.load(configuration)
            # Loading reports changes, and what it reads back has the form's precision.
            self.base = configuration
        self._note(
            f"fixed settings are now {configuration.problem.label}, {configuration.label}{left_out(gone, before)}"
        )
        self._changed()

    def wait(self, timeout: float | None = None) -> Sweep:
        """Start unless it has been, wait for the end, and return the sweep. Interrupting the wait stops it.

        Raises TimeoutError when it takes longer than `timeout` seconds, InputError where the choices cannot be run and
        with the sentence of a sweep that failed.
        """
        if self._job is None:
            self.run()
        job = self._job
        assert job is not None
        try:
            job.join(timeout)
        except KeyboardInterrupt:
            self.stop()
            job.join()
        if job.working:
            raise TimeoutError(f"the sweep is still active after {timeout} s; stop() ends it")
        if self.result is None:
            raise InputError(self.error)
        return self.result

    def _picked(self, place: int) -> None:
        """Choose the run of a row in the list of runs, and name its choices."""
        if run := self._results.get(place):
            self.listed.choose([run.number])
        row = self.rows[place]
        self.best.say(
            f"Run {place + 1}: {', '.join(self.map.runs.chosen_text(name, row[name]) for name in self.map.over)}."
        )

    def export(self, kind: str) -> Path:
        """Write "csv" or "json" with all rows, or the plot as a picture. Raises InputError before the end."""
        if kind in PICTURES:
            return self.save_bar.save(kind)[0]
        return self._write(kind, self.folder)

    def _write(self, kind: str, folder: Path) -> Path:
        result = self._ended()
        make_folder(folder)
        return (to_json if kind == "json" else to_csv)(result, folder / f"{slug(self._stem())}.{kind}")

    def close(self) -> None:
        """End the sweep and take everything off the page."""
        self.stop()
        self._checker.close()
        self.map.close()
        self.publisher.close()
        super().close()

    @property
    def _name(self) -> str:
        return sentence_case(self.base.problem.words)

    def _layout(self) -> widgets.Box:
        listed = column("", self.table, row("wb-buttons", self.save_bar.box, *self.exports), self.saved)
        halves = row("wb-halves", self.map.box, listed)
        best = self.best.add_class("wb-answer")
        return column("wb-explorer wb-race wb-sweep", self.status, self.asked, self.plan, best, halves)

    def _form_changed(self) -> None:
        assert self.form is not None
        try:
            self.base = self.form.configuration()
        except InputError as error:
            self._complain(str(error))
            return
        if self.base.problem.name != self.choices.problem.name:
            before, gone = self.choices.problem.name, self.choices.rebase(self.base.problem)
            self._note(f"the problem is now {self.base.problem.label}{left_out(gone, before)}")
        self._changed()

    def _note(self, sentence: str) -> None:
        """Show a sentence in the bar until the next run."""
        self._noted = sentence
        self.publisher.wake()

    def _changed(self) -> None:
        self._checker.ask(self._check)

    def _check(self) -> None:
        """Validate every combination before any is run."""
        try:
            over = self.choices.over()
            planned = points(self.base, over)
            _ = self.workers.state
        except InputError as error:
            self._complain(str(error))
            return
        self._complaint, self.over, self.runs = "", over, len(planned)
        self._hindered = hindered(planned)
        if self._hindered[0] == self.runs:
            self._complain(f"no run is possible: {self._hindered[1]}")
        else:
            self._describe()

    def _against(self, name: str, values: Sequence[Any]) -> dict[Any, list[Conflict]]:
        """Conflicts of further values of a choice, by value; empty while the other choices cannot be read."""
        try:
            return ruled_out(self.base, self.choices.over(without=name), name, values)
        except InputError:
            return {}

    def _complain(self, sentence: str) -> None:
        self._complaint = sentence
        self.plan.say(sentence, "bad")

    def _describe(self) -> None:
        """Show the number of runs, and their fixed settings."""
        broken, why = self._hindered
        cannot = f"; {broken} of them cannot run: {why}" if broken else ""
        self.plan.say(counted(self.over, self.base.problem.name) + cannot, "busy" if broken else "plain")
        self.publisher.wake()
        if self.form is None:
            return
        self.form.vary(self.over)
        fixed_kinds = [kind for kind, field in self.form.fields().items() if kind in BLOCKS and not field.disabled]
        same = {kind: name for kind, name in self.base.parts.items() if kind in fixed_kinds or kind in PROBLEM}
        named = ", ".join(filter(None, (problem_name(same), method_name(same))))
        self.asked.titles = ("Parameters", f"Fixed settings: {named}")

    def _ended(self) -> Sweep:
        if self.result is None:
            raise InputError("the sweep has not ended; wait, or press Stop")
        return self.result

    def _stem(self) -> str:
        return f"sweep {self._title} {self._ended().provenance['started']}"

    def _work(self, job: ThreadJob) -> None:
        # What was typed last must have been read.
        self._checker.wait(60)
        if self._complaint:
            raise InputError(self._complaint)
        self.rows, self._results, self.result, self._noted = [], {}, None, ""
        over, self._title = self.over, self._name
        self._begun, self._next = time.monotonic(), 0.0
        self._of, self.asked.selected_index = self.runs, None
        self.map.begin(over, self.base.problem.name)
        self.best.say("")
        problem, same = fixed(self.base, over)
        asked = {"progress": self._progress, "on_result": self._keep, "cancelled": lambda: job.stopping}
        self.result = sweep(problem, over, slot=job.slot, workers=self.workers.present.workers, **asked, **same)
        self._show()

    def _end(self, job: ThreadJob) -> None:
        self.error = job.error
        self.publisher.wake()

    def _words(self) -> tuple[str, str]:
        """The state of the sweep in words, and its tone."""
        job, done = self._job, f"{len(self.rows)} of {self._of} runs done"
        if job is None or (self._noted and not job.alive):
            ready = f"{self._name}: {numbers.counted(self.runs, 'run')}; press Run"
            return f"{self._noted}; {ready}" if self._noted else ready, "plain"
        if job.lingering:
            background = "the active run cannot be interrupted and ends in the background"
            return f"{self._title}: stopped by the user, {done}; {background}", "plain"
        if job.state is State.FAILED:
            never_ran = self.error == self._complaint
            return self.error if never_ran else f"{self._title}: {self.error}; {done}", "bad"
        if self.result is not None and not job.alive:
            stopped = "stopped by the user, " if self.result.cancelled else ""
            said = f"{self._title}: {stopped}{done}{shortfall(self.rows)}"
            changed = f"; {self.runs} runs are chosen now" if self.over != self.result.over else ""
            return said + changed, "good" if self.result.converged else "plain"
        elapsed, of = time.monotonic() - self._begun, self._of
        left = f"; {remaining(elapsed, len(self.rows), of)}" if 0 < len(self.rows) < of else ""
        return f"{self._title}: running, {done}{left}", "busy"

    def _keep(self, configuration: Configuration, result: Result) -> None:
        kept = self.listed.add(result.record(), SWEEP, hidden=True)
        self._results[len(self.rows)] = kept

    def _progress(self, done: int, of: int, row: Row) -> None:
        self.rows = [*self.rows, row]
        # Short runs must not wait for pictures of each of them.
        now = time.monotonic()
        if (self._job and self._job.stopping) or now < self._next:
            return
        self.publisher.wake()
        self._show()
        self._next = time.monotonic() + SHOW_PERIOD

    def _show(self) -> None:
        self._mark()
        self.map.show(self.rows)

    def _mark(self) -> None:
        rows, over = self.rows, self.map.over
        if not rows:
            return
        found = marks(rows, over, self.map.value)
        heads, cells = columns(rows, over, self.map.owner)
        self.table.low = low(heads)
        self.table.show(heads, cells, found)
        self.best.say(answer(rows, over, self.map.value, self.map.runs.say, self.map.owner), "good")

    def _enable(self) -> None:
        for control in (*self.exports, self.save_bar.press):
            control.disabled = self.result is None
        active, done = self._job is not None and self._job.alive, len(self.rows)
        self.status.progress = {"word": "done", "iterations": done, "left": self._of - done} if active else {}
        # The table shows the runs that were made.
        listed = self.rows and not self._complaint and self.over == self.map.over
        self.plan.layout.display = "none" if listed else None

    def _exporting(self, kind: str) -> None:
        self.save_bar.saver.save(lambda folder: [self._write(kind, folder)], self._stem, "the export")
